package command

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A Run is the state of the operations of one command. Operations work on a
// copy of the bins, so that a failing one leaves the record as it was.
type Run struct {
	Bins []store.Bin // the working copy

	clock  *store.Clock
	done   <-chan struct{} // closed when there is nobody to be answered
	msg    *wire.Message
	rec    *store.Record // as it was; nil if it isn't there
	writes bool          // the command may write

	all   bool // answer every operation
	whole bool // answer reads with the whole record
	bare  bool // answer no bins
	ops   int  // answers so far
	out   []byte

	grown int // bytes that bins were given since their size was looked at, and that size
}

// maxAnswer is after how many bytes of answers, and maxGrown of bins, no more operation
// is carried out. Both are well above the largest record of a real server.
const (
	maxAnswer = 32 << 20
	maxGrown  = 32 << 20
)

// do carries out an operation. Reading a large bin many times over would make
// an answer that no frame can hold, or go on for minutes after the server was closed;
// and a few bytes are enough to fill a list up with megabytes.
func (r *Run) do(f Func, op *wire.Op) wire.Code {
	if r.grown > maxGrown {
		r.grown = store.Size(r.Bins)
	}
	if len(r.out) > maxAnswer || r.grown > maxGrown || isClosed(r.done) {
		return wire.RecordTooBig
	}
	return f(r, op)
}

// Find returns the place of a bin, or -1.
func (r *Run) Find(name []byte) int { return store.Find(r.Bins, name) }

// Set gives a bin a value.
func (r *Run) Set(name []byte, v store.Value) {
	r.grown += len(v.Data)
	if i := r.Find(name); i >= 0 {
		r.Bins[i].Value = v
		return
	}
	r.Bins = append(r.Bins, store.Bin{Name: string(name), Value: v})
}

// Drop removes a bin, if it is there.
func (r *Run) Drop(name []byte) {
	if i := r.Find(name); i >= 0 {
		r.Bins = append(r.Bins[:i], r.Bins[i+1:]...)
	}
}

// Answer appends the answer of a read, or of a write that has a result.
func (r *Run) Answer(op *wire.Op, v store.Value) {
	r.ops++
	r.out = wire.AppendOp(r.out, op.Code, v.Type, op.Name, v.Data)
}

// Result appends the answer of a read that may have come to nothing. Next to a
// write it is answered even then.
func (r *Run) Result(op *wire.Op, v store.Value) {
	if v.Type == wire.ParticleNull && !r.writes {
		r.Nothing(op)
		return
	}
	r.Answer(op, v)
}

// Nothing appends the answer of an operation without a result, which is sent
// only when every operation is to be answered.
func (r *Run) Nothing(op *wire.Op) {
	if r.all {
		r.ops++
		r.out = wire.AppendOp(r.out, op.Code, wire.ParticleNull, op.Name, nil)
	}
}

// answerAll appends every bin.
func (r *Run) answerAll(bins []store.Bin) {
	for i := range bins {
		r.ops++
		r.out = appendBin(r.out, &bins[i])
	}
}

func appendBin(b []byte, bin *store.Bin) []byte {
	return wire.AppendOp(b, wire.OpRead, bin.Type, bin.Name, bin.Data)
}
