package command

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/exp"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Flags of expression operations. Reads have only the last.
const (
	expCreateOnly = 1 << iota
	expUpdateOnly
	expAllowDelete
	expPolicyNoFail
	expEvalNoFail

	expWriteFlags = 1<<iota - 1
)

// An expressions carries out the operations that evaluate expressions.
type expressions struct{ cache *exp.Cache }

// NewFilter returns the filter of a server.
func NewFilter(clock *store.Clock) Filter {
	cache := exp.NewCache(modules())
	return func(expr []byte, r *store.Record) wire.Code {
		e := cache.Get(expr)
		switch {
		case e == nil || e.Type() != exp.Bool:
			return wire.ParameterError
		case r == nil, e.Match(&subject{clock: clock, rec: r, bins: r.Bins, set: r.Set, digest: r.Digest}) == exp.True:
			return wire.OK
		}
		return wire.FilteredOut
	}
}

// parse reads an operation: a list of an expression and flags, which may be left
// out.
func (x expressions) parse(b []byte, allowed int64) (e *exp.Expr, flags int64, ok bool) {
	n, b, ok := msgpack.ListLen(b)
	if !ok || n == 0 || n > 2 {
		return nil, 0, false
	}
	expr, b, ok := msgpack.Value(b)
	if !ok {
		return nil, 0, false
	}
	flags, _, _ = msgpack.Int(b)
	if flags&^allowed != 0 {
		return nil, 0, false
	}
	e = x.cache.Get(expr)
	return e, flags, e != nil
}

func (x expressions) read(r *Run, op *wire.Op) wire.Code {
	e, flags, ok := x.parse(op.Data, expEvalNoFail)
	if !ok {
		return wire.ParameterError
	}
	v, ok := e.Value(r.subject())
	if !ok {
		if flags&expEvalNoFail == 0 {
			return wire.OpNotApplicable
		}
		v = store.Value{}
	}
	r.Result(op, v)
	return wire.OK
}

// canModify reports whether the expression and the flags of a write can be.
func (x expressions) canModify(op *wire.Op) bool {
	_, _, ok := x.parse(op.Data, expWriteFlags)
	return ok
}

func (x expressions) modify(r *Run, op *wire.Op) wire.Code {
	e, flags, ok := x.parse(op.Data, expWriteFlags)
	if !ok {
		return wire.ParameterError
	}
	live := r.Find(op.Name) >= 0
	var c wire.Code
	switch {
	case live && flags&expCreateOnly != 0:
		c = wire.BinExists
	case !live && flags&expUpdateOnly != 0:
		c = wire.BinNotFound
	default:
		return x.write(r, op, e, flags)
	}
	if flags&expPolicyNoFail == 0 {
		return c
	}
	r.Nothing(op)
	return wire.OK
}

// write gives a bin the value of an expression. A nil removes the bin, where that
// is allowed; where it isn't it is passed over if there are any flags at all, as
// on the real server, and an error else.
func (x expressions) write(r *Run, op *wire.Op, e *exp.Expr, flags int64) wire.Code {
	v, ok := e.Value(r.subject())
	switch {
	case !ok:
		if flags&expEvalNoFail == 0 {
			return wire.OpNotApplicable
		}
	case v.Type != wire.ParticleNull:
		r.Set(op.Name, v)
	case flags&expAllowDelete != 0:
		r.Drop(op.Name)
	case flags == 0 && r.Find(op.Name) >= 0:
		return wire.OpNotApplicable
	}
	r.Nothing(op)
	return wire.OK
}
