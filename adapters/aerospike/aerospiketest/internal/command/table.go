package command

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
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

// NewTable returns the operations that are implemented, and refusals of those
// that are known but are not.
func NewTable() *Table {
	return &Table{
		wire.OpRead:       {Reads, doRead},
		wire.OpWrite:      {Writes, doWrite},
		wire.OpIncr:       {Writes | Changes, doIncr},
		wire.OpAppend:     {Writes | Changes, doAppend},
		wire.OpPrepend:    {Writes | Changes, doPrepend},
		wire.OpTouch:      {Writes | Changes | Exists, doTouch},
		wire.OpDeleteAll:  {Writes | Changes, doDeleteAll},
		wire.OpCDTRead:    {Reads, refuseCDT},
		wire.OpCDTModify:  {Writes | Changes, refuseCDT},
		wire.OpBitsRead:   {Reads, refuse},
		wire.OpBitsModify: {Writes | Changes, refuse},
		wire.OpHLLRead:    {Reads, refuse},
		wire.OpHLLModify:  {Writes | Changes, refuse},
		wire.OpExpRead:    {Reads, refuse},
		wire.OpExpModify:  {Writes, refuse},
	}
}

// refuse answers an operation that is not implemented: as malformed if it is,
// else as unsupported.
func refuse(_ *Run, op *wire.Op) wire.Code {
	if !msgpack.Valid(op.Data) {
		return wire.ParameterError
	}
	return wire.Unsupported
}

// refuseCDT is refuse for list and map operations: two bytes of code and a
// list of arguments, or a list that starts with a context.
func refuseCDT(_ *Run, op *wire.Op) wire.Code {
	const codes = 128 // all that are known are below
	d := op.Data
	if msgpack.List(d) || len(d) >= 2 && d[0] == 0 && d[1] < codes && (len(d) == 2 || msgpack.List(d[2:])) {
		return wire.Unsupported
	}
	return wire.ParameterError
}

// RefuseFilter is the filter of a server without expressions.
func RefuseFilter(expr []byte, _ *store.Record) wire.Code {
	if !msgpack.Valid(expr) {
		return wire.ParameterError
	}
	return wire.Unsupported
}
