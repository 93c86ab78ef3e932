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
	Check  func(op *wire.Op) bool // says before there is a record whether it can be done; nil is yes
}

// A Table maps operation codes to what they do.
type Table [256]Entry

// NewTable returns the operations that are implemented.
func NewTable() *Table {
	x := expressions{exp.NewCache(modules())}
	return &Table{
		wire.OpRead:       {Traits: Reads, Do: doRead},
		wire.OpWrite:      {Traits: Writes, Do: doWrite},
		wire.OpIncr:       {Traits: Writes | Changes, Do: doIncr},
		wire.OpAppend:     {Traits: Writes | Changes, Do: doAppend},
		wire.OpPrepend:    {Traits: Writes | Changes, Do: doPrepend},
		wire.OpTouch:      {Traits: Writes | Changes | Exists, Do: doTouch},
		wire.OpDeleteAll:  {Traits: Writes | Changes, Do: doDeleteAll},
		wire.OpCDTRead:    {Traits: Reads, Do: doCDTRead},
		wire.OpCDTModify:  {Traits: Writes | Changes, Do: doCDTModify},
		wire.OpBitsRead:   {Traits: Reads, Do: doBitsRead},
		wire.OpBitsModify: {Traits: Writes | Changes, Do: doBitsModify},
		wire.OpHLLRead:    {Traits: Reads, Do: doHLLRead},
		wire.OpHLLModify:  {Traits: Writes | Changes, Do: doHLLModify},
		wire.OpExpRead:    {Traits: Reads, Do: x.read},
		wire.OpExpModify:  {Traits: Writes, Do: x.modify, Check: x.canModify},
	}
}
