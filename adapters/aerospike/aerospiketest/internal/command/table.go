package command

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/exp"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A Func carries out one operation on the working copy of a record's bins and
// appends its answer, if any.
type Func func(r *Run, op *wire.Op) wire.Code

// Traits of operations.
const (
	Reads   = 1 << iota // allowed in a message that only reads
	Writes              // needs a message that writes
	Changes             // changes what is there, so it doesn't go with replace
	Exists              // needs a record that exists
)

// An Entry is an operation of the table. An entry without a function is an
// operation that does not exist.
type Entry struct {
	Traits uint8
	Do     Func
}

// A Table maps operation codes to what they do.
type Table [256]Entry

// NewTable returns the operations that are implemented.
func NewTable() *Table {
	x := expressions{exp.NewCache(modules())}
	return &Table{
		wire.OpRead:       {Reads, doRead},
		wire.OpWrite:      {Writes, doWrite},
		wire.OpIncr:       {Writes | Changes, doIncr},
		wire.OpAppend:     {Writes | Changes, doAppend},
		wire.OpPrepend:    {Writes | Changes, doPrepend},
		wire.OpTouch:      {Writes | Changes | Exists, doTouch},
		wire.OpDeleteAll:  {Writes | Changes, doDeleteAll},
		wire.OpCDTRead:    {Reads, doCDTRead},
		wire.OpCDTModify:  {Writes | Changes, doCDTModify},
		wire.OpBitsRead:   {Reads, doBitsRead},
		wire.OpBitsModify: {Writes | Changes, doBitsModify},
		wire.OpHLLRead:    {Reads, doHLLRead},
		wire.OpHLLModify:  {Writes | Changes, doHLLModify},
		wire.OpExpRead:    {Reads, x.read},
		wire.OpExpModify:  {Writes, x.modify},
	}
}
