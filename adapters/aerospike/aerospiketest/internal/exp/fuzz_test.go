package exp_test

import (
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/bits"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/cdt"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/exp"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/hll"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

func modules() exp.Modules {
	return exp.Modules{
		CDT: exp.Module{Read: cdt.Read, Modify: cdt.Modify}, HLL: exp.Module{Read: hll.Read, Modify: hll.Modify},
		Bits: exp.Module{Read: bits.Read, Modify: func(v store.Value, call []byte) (store.Value, store.Value, wire.Code) {
			next, c := bits.Modify(v, call)
			return next, store.Value{}, c
		}},
		Normalize: cdt.Normalize,
	}
}

// FuzzExpression compiles and evaluates expressions of any bytes: none may panic,
// and a value that is known is of the type that was compiled, but for calls on
// nil.
func FuzzExpression(f *testing.F) {
	i := as.ExpIntBin("i")
	for _, x := range []*as.Expression{
		as.ExpAnd(as.ExpEq(i, as.ExpNumAdd(one, two)), as.ExpNot(as.ExpBinExists("x"))),
		as.ExpCond(as.ExpGreater(as.ExpFloatBin("f"), half), as.ExpNumDiv(i, two), as.ExpUnknown()),
		as.ExpLet(as.ExpDef("a", as.ExpListBin("l")), as.ExpListAppendItems(as.DefaultListPolicy(), as.ExpVar("a"), as.ExpVar("a"))),
		as.ExpRegexCompare("^[[:alpha:]]{1,3}(b|c)*", 3, as.ExpStringBin("s")),
		as.ExpMapPut(as.DefaultMapPolicy(), one, i, as.ExpMapBin("m"), as.CtxMapKey(as.NewValue(1))),
		as.ExpBitSetInt(as.DefaultBitPolicy(), one, as.ExpIntVal(9), i, as.ExpBlobBin("b")),
		as.ExpHLLGetCount(as.ExpHLLAdd(as.DefaultHLLPolicy(), as.ExpListBin("l"), as.ExpHLLBin("h"))),
		as.ExpGeoCompare(as.ExpGeoBin("g"), as.ExpGeoVal(`{"type":"AeroCircle","coordinates":[[1,2],9]}`)),
		as.ExpIntLScan(as.ExpIntLShift(i, as.ExpDigestModulo(3)), as.ExpKeyExists()),
		as.ExpEq(as.ExpKey(as.ExpTypeSTRING), as.ExpSetName()),
		as.ExpMapVal(as.MapValue{"a": 1}),
	} {
		f.Add(pack(f, x))
	}
	r := sample()
	h, _, _ := hll.Modify(store.Value{}, []byte{0x93, 0, 4, 4})
	r["h"] = h
	compiler := exp.Compiler{Modules: modules()}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, ok := compiler.Compile(b)
		if !ok {
			return
		}
		e.Match(r)
		if v, ok := e.Value(r); ok && e.Type() == exp.Bool && v.Type != wire.ParticleBool {
			t.Fatalf("%x is %v", b, v)
		}
		e.Value(record{})
	})
}
