package exp_test

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/exp"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// record is a record of some bins.
type record map[string]store.Value

func (r record) Bin(name []byte) (store.Value, bool) { v, ok := r[string(name)]; return v, ok }
func (record) Key() []byte                           { return []byte("\x03user") }
func (record) Set() string                           { return "s" }
func (record) Digest() *store.Digest                 { return &store.Digest{16: 7} }
func (record) LastUpdate() int64                     { return 1e18 }
func (record) SinceUpdate() int64                    { return 5 }
func (record) VoidTime() int64                       { return -1 }
func (record) TTL() int64                            { return -1 }
func (record) Size() int64                           { return 100 }

func integer(n int64) store.Value {
	return store.Value{Type: wire.ParticleInteger, Data: binary.BigEndian.AppendUint64(nil, uint64(n))}
}

func float(f float64) store.Value {
	return store.Value{Type: wire.ParticleFloat, Data: binary.BigEndian.AppendUint64(nil, math.Float64bits(f))}
}

func text(s string) store.Value { return store.Value{Type: wire.ParticleString, Data: []byte(s)} }

func boolean(v bool) store.Value {
	if v {
		return store.Value{Type: wire.ParticleBool, Data: []byte{1}}
	}
	return store.Value{Type: wire.ParticleBool, Data: []byte{0}}
}

func sample() record {
	return record{
		"i": integer(7), "f": float(2.5), "s": text("abc"), "t": boolean(true), "b": {Type: wire.ParticleBlob, Data: []byte{1, 2}},
		"l": {Type: wire.ParticleList, Data: []byte{0x92, 1, 2}}, "m": {Type: wire.ParticleMap, Data: []byte{0x82, 0xc7, 0, 1, 0xc0, 1, 2}},
		"g": {Type: wire.ParticleGeoJSON, Data: []byte("\x00\x00\x00" + `{"type":"Point","coordinates":[1,2]}`)},
	}
}

func pack(t testing.TB, x *as.Expression) []byte {
	t.Helper()
	s, err := x.Base64()
	require.True(t, err == nil, "%v", err)
	b, e := base64.StdEncoding.DecodeString(s)
	require.NoError(t, e)
	return b
}

// doubler is a module that answers with its value twice over, and keeps calls.
type doubler struct{ calls [][]byte }

func (d *doubler) read(v store.Value, call []byte) (store.Value, wire.Code) {
	d.calls = append(d.calls, call)
	return store.Value{Type: v.Type, Data: append(append([]byte{}, v.Data...), v.Data...)}, wire.OK
}

func (d *doubler) modify(v store.Value, call []byte) (store.Value, store.Value, wire.Code) {
	next, c := d.read(v, call)
	return next, store.Value{}, c
}

func (d *doubler) compiler() *exp.Compiler {
	m := exp.Module{Read: d.read, Modify: d.modify}
	return &exp.Compiler{Modules: exp.Modules{CDT: m, Bits: m, HLL: m}}
}

// eval returns the value of an expression, or nil if it is unknown.
func eval(t *testing.T, x *as.Expression) *store.Value {
	t.Helper()
	e, ok := new(doubler).compiler().Compile(pack(t, x))
	require.True(t, ok)
	v, ok := e.Value(sample())
	if !ok {
		return nil
	}
	return &v
}

var (
	yes, no, missing = as.ExpBoolVal(true), as.ExpBoolVal(false), as.ExpBoolBin("none")
	one, two         = as.ExpIntVal(1), as.ExpIntVal(2)
	half             = as.ExpFloatVal(0.5)
)

func TestLogicHasThreeValues(t *testing.T) {
	const u = exp.Unknown
	for _, c := range []struct {
		name string
		x    *as.Expression
		want exp.Truth
	}{
		{"and", as.ExpAnd(yes, yes), exp.True},
		{"and false", as.ExpAnd(yes, no), exp.False},
		{"and unknown", as.ExpAnd(yes, missing), u},
		{"and false after unknown", as.ExpAnd(missing, no), exp.False},
		{"and true after unknown", as.ExpAnd(missing, yes), u},
		{"or", as.ExpOr(no, no), exp.False},
		{"or true after unknown", as.ExpOr(missing, yes), exp.True},
		{"or unknown", as.ExpOr(no, missing), u},
		{"not", as.ExpNot(no), exp.True},
		{"not unknown", as.ExpNot(missing), u},
		{"exclusive", as.ExpExclusive(yes, no, no), exp.True},
		{"exclusive twice", as.ExpExclusive(yes, yes, missing), exp.False},
		{"exclusive unknown", as.ExpExclusive(yes, missing), u},
		{"unknown", as.ExpUnknown(), u},
		{"compare unknown", as.ExpEq(as.ExpIntBin("none"), one), u},
		{"of another type", as.ExpEq(as.ExpIntBin("s"), one), u},
		{"exists", as.ExpBinExists("i"), exp.True},
		{"exists not", as.ExpBinExists("none"), exp.False},
		{"not a boolean", one, exp.False},
	} {
		e, ok := new(exp.Compiler).Compile(pack(t, c.x))
		require.True(t, ok, c.name)
		require.Equal(t, c.want, e.Match(sample()), c.name)
	}
}

func TestValues(t *testing.T) {
	lowest, highest := as.ExpIntVal(math.MinInt64), as.ExpIntVal(math.MaxInt64)
	list := as.ExpListVal(as.NewValue(1), as.NewValue(3))
	v := func(v store.Value) *store.Value { return &v }
	for _, c := range []struct {
		name string
		x    *as.Expression
		want *store.Value
	}{
		{"add", as.ExpNumAdd(one, two, as.ExpIntBin("i")), v(integer(10))},
		{"add wraps", as.ExpNumAdd(highest, one), v(integer(math.MinInt64))},
		{"sub of one", as.ExpNumSub(two), v(integer(-2))},
		{"sub of floats", as.ExpNumSub(as.ExpFloatBin("f"), half), v(float(2))},
		{"mul", as.ExpNumMul(two, two, two), v(integer(8))},
		{"div", as.ExpNumDiv(as.ExpIntVal(-7), two), v(integer(-3))},
		{"div of one", as.ExpNumDiv(two), v(integer(0))},
		{"div of the smallest by -1", as.ExpNumDiv(lowest, as.ExpIntVal(-1)), v(integer(math.MinInt64))},
		{"div by zero", as.ExpNumDiv(one, as.ExpIntVal(0)), nil},
		{"div of floats by zero", as.ExpNumDiv(half, as.ExpFloatVal(0)), v(float(math.Inf(1)))},
		{"mod", as.ExpNumMod(as.ExpIntVal(-7), as.ExpIntVal(3)), v(integer(-1))},
		{"mod of the smallest by -1", as.ExpNumMod(lowest, as.ExpIntVal(-1)), v(integer(0))},
		{"mod by zero", as.ExpNumMod(one, as.ExpIntVal(0)), nil},
		{"pow", as.ExpNumPow(as.ExpFloatVal(2), as.ExpFloatVal(10)), v(float(1024))},
		{"log", as.ExpNumLog(as.ExpFloatVal(8), as.ExpFloatVal(2)), v(float(3))},
		{"abs", as.ExpNumAbs(as.ExpIntVal(-3)), v(integer(3))},
		{"abs of the smallest", as.ExpNumAbs(lowest), v(integer(math.MinInt64))},
		{"floor", as.ExpNumFloor(as.ExpFloatVal(-2.5)), v(float(-3))},
		{"ceil", as.ExpNumCeil(as.ExpFloatVal(-2.5)), v(float(-2))},
		{"to int", as.ExpToInt(as.ExpFloatVal(-2.9)), v(integer(-2))},
		{"to int of too much", as.ExpToInt(as.ExpFloatVal(1e300)), v(integer(math.MinInt64))},
		{"to float", as.ExpToFloat(two), v(float(2))},
		{"min", as.ExpMin(two, one), v(integer(1))},
		{"max", as.ExpMax(half, as.ExpFloatBin("f")), v(float(2.5))},
		{"int and", as.ExpIntAnd(as.ExpIntVal(6), as.ExpIntVal(3)), v(integer(2))},
		{"int or", as.ExpIntOr(as.ExpIntVal(6), one), v(integer(7))},
		{"int xor", as.ExpIntXor(as.ExpIntVal(6), as.ExpIntVal(3)), v(integer(5))},
		{"int not", as.ExpIntNot(one), v(integer(-2))},
		{"lshift by 65", as.ExpIntLShift(one, as.ExpIntVal(65)), v(integer(2))},
		{"rshift", as.ExpIntRShift(as.ExpIntVal(-8), one), v(integer(math.MaxInt64 - 3))},
		{"arshift", as.ExpIntARShift(as.ExpIntVal(-8), one), v(integer(-4))},
		{"count", as.ExpIntCount(as.ExpIntVal(-1)), v(integer(64))},
		{"lscan", as.ExpIntLScan(one, yes), v(integer(63))},
		{"lscan of none", as.ExpIntLScan(as.ExpIntVal(0), yes), v(integer(-1))},
		{"rscan", as.ExpIntRScan(one, no), v(integer(62))},
		{"cond", as.ExpCond(no, one, yes, two, as.ExpUnknown()), v(integer(2))},
		{"cond default", as.ExpCond(no, one, two), v(integer(2))},
		{"cond unknown", as.ExpCond(no, one, as.ExpUnknown()), nil},
		{"cond of an unknown condition", as.ExpCond(missing, one, two), nil},
		{"let", as.ExpLet(as.ExpDef("a", two), as.ExpDef("b", as.ExpNumMul(as.ExpVar("a"), as.ExpVar("a"))), as.ExpNumAdd(as.ExpVar("a"), as.ExpVar("b"))), v(integer(6))},
		{"let within let", as.ExpLet(as.ExpDef("a", as.ExpLet(as.ExpDef("x", one), as.ExpVar("x"))), as.ExpLet(as.ExpDef("x", two), as.ExpNumAdd(as.ExpVar("x"), as.ExpVar("a")))), v(integer(3))},
		{"let of an unknown that isn't used", as.ExpLet(as.ExpDef("a", as.ExpIntBin("none")), two), v(integer(2))},
		{"nil", as.ExpNilValue(), &store.Value{}},
		{"string", as.ExpStringBin("s"), v(text("abc"))},
		{"list", as.ExpListBin("l"), v(sample()["l"])},
		{"geo", as.ExpGeoVal(`{"type":"Point","coordinates":[1,2]}`), v(sample()["g"])},
		{"geo bin", as.ExpGeoBin("g"), v(sample()["g"])},
		{"geo in a circle", as.ExpGeoCompare(as.ExpGeoBin("g"), as.ExpGeoVal(`{"type":"AeroCircle","coordinates":[[1,2.1],20000]}`)), v(boolean(true))},
		{"compare lists", as.ExpLess(as.ExpListBin("l"), list), v(boolean(true))},
		{"compare an ordered map", as.ExpEq(as.ExpMapBin("m"), as.ExpMapBin("m")), v(boolean(true))},
		{"compare an unordered map", as.ExpEq(as.ExpMapBin("m"), as.ExpMapVal(as.MapValue{1: 2})), nil},
		{"compare with an empty map", as.ExpEq(as.ExpMapBin("m"), as.ExpMapVal(as.MapValue{})), v(boolean(false))},
		{"compare blobs", as.ExpGreaterEq(as.ExpBlobBin("b"), as.ExpBlobVal([]byte{1})), v(boolean(true))},
		{"compare booleans", as.ExpGreater(yes, no), v(boolean(true))},
		{"compare nils", as.ExpLessEq(as.ExpNilValue(), as.ExpNilValue()), v(boolean(true))},
		{"no number is equal to itself", as.ExpEq(as.ExpNumLog(as.ExpFloatVal(-1), half), as.ExpFloatBin("f")), v(boolean(false))},
		{"bin type", as.ExpBinType("m"), v(integer(19))},
		{"bin type of none", as.ExpBinType("none"), v(integer(0))},
		{"key", as.ExpKey(as.ExpTypeSTRING), v(text("user"))},
		{"key of another type", as.ExpKey(as.ExpTypeINT), nil},
		{"key exists", as.ExpKeyExists(), v(boolean(true))},
		{"set name", as.ExpSetName(), v(text("s"))},
		{"digest modulo", as.ExpDigestModulo(4), v(integer(3))},
		{"last update", as.ExpLastUpdate(), v(integer(1e18))},
		{"since update", as.ExpSinceUpdate(), v(integer(5))},
		{"void time", as.ExpVoidTime(), v(integer(-1))},
		{"ttl", as.ExpTTL(), v(integer(-1))},
		{"tombstone", as.ExpIsTombstone(), v(boolean(false))},
		{"record size", as.ExpRecordSize(), v(integer(100))},
	} {
		require.Equal(t, c.want, eval(t, c.x), c.name)
	}
}

func TestWhatDoesNotCompile(t *testing.T) {
	deep := as.ExpIntBin("i")
	for range 300 {
		deep = as.ExpNumAbs(deep)
	}
	for name, x := range map[string]*as.Expression{
		"mixed numbers":         as.ExpNumAdd(one, half),
		"a string to add":       as.ExpNumAdd(one, as.ExpStringVal("a")),
		"pow of integers":       as.ExpNumPow(one, two),
		"mod of floats":         as.ExpNumMod(half, half),
		"floor of an integer":   as.ExpNumFloor(one),
		"and of one":            as.ExpAnd(yes),
		"and of integers":       as.ExpAnd(one, two),
		"compare types":         as.ExpEq(one, as.ExpStringVal("1")),
		"compare sketches":      as.ExpEq(as.ExpHLLBin("h"), as.ExpHLLBin("h")),
		"cond of two types":     as.ExpCond(yes, one, half),
		"cond without default":  as.ExpCond(yes, one),
		"cond of an integer":    as.ExpCond(one, one, two),
		"undefined variable":    as.ExpVar("a"),
		"variable of itself":    as.ExpLet(as.ExpDef("a", as.ExpVar("a")), one),
		"variable twice":        as.ExpLet(as.ExpDef("a", one), as.ExpDef("a", two), one),
		"variable out of scope": as.ExpNumAdd(as.ExpLet(as.ExpDef("a", one), one), as.ExpVar("a")),
		"variable with a dash":  as.ExpLet(as.ExpDef("a-b", one), one),
		"modulo of zero":        as.ExpDigestModulo(0),
		"bin name too long":     as.ExpIntBin("sixteen-bytes-xx"),
		"key of a float":        as.ExpKey(as.ExpTypeFLOAT),
		"wildcard":              as.ExpWildCardValue(),
		"infinity":              as.ExpInfinityValue(),
		"bad regex":             as.ExpRegexCompare("(", as.ExpRegexFlagEXTENDED, as.ExpStringBin("s")),
		"regex of an integer":   as.ExpRegexCompare("a", 0, one),
		"bad geo":               as.ExpGeoVal("nonsense"),
		"list size of a blob":   as.ExpListSize(as.ExpBlobBin("b")),
		"too deep":              deep,
	} {
		_, ok := new(doubler).compiler().Compile(pack(t, x))
		require.False(t, ok, name)
	}
	good := pack(t, as.ExpEq(as.ExpIntBin("i"), one))
	for n := range len(good) {
		_, ok := new(doubler).compiler().Compile(good[:n])
		require.False(t, ok, "cut at %d", n)
	}
	for _, s := range []string{"\x90", "\x91\xc3", "\x91\x2a", "\x91\x80", "\x92\x7e\x01", "\x91\xff", "\x94\x7f\x02\x00\x91", "\xa0", "\xa1\x07"} {
		_, ok := new(doubler).compiler().Compile([]byte(s))
		require.False(t, ok, "%x", s)
	}
	_, ok := new(doubler).compiler().Compile(append(good, 1))
	require.False(t, ok, "more than one")
}

func TestCallsAreMadeWithEvaluatedArguments(t *testing.T) {
	d := new(doubler)
	x := as.ExpListSet(as.DefaultListPolicy(), as.ExpIntBin("i"), as.ExpStringBin("s"), as.ExpListBin("l"), as.CtxListIndex(3))
	e, ok := d.compiler().Compile(pack(t, x))
	require.True(t, ok)
	_, ok = e.Value(sample())
	require.True(t, ok)
	require.Equal(t, [][]byte{[]byte("\x93\xcc\xff\x92\x10\x03\x94\x09\x07\xa4\x03abc\x00")}, d.calls)
	// What is unknown is not called with.
	e, ok = d.compiler().Compile(pack(t, as.ExpListSet(as.DefaultListPolicy(), as.ExpIntBin("none"), one, as.ExpListBin("l"))))
	require.True(t, ok)
	_, ok = e.Value(sample())
	require.False(t, ok)
	require.Len(t, d.calls, 1)
	// A result of another type than was said is unknown.
	require.Nil(t, eval(t, as.ExpListSize(as.ExpListBin("l"))))
}

func TestWorkIsBounded(t *testing.T) {
	// Every definition has twice the elements of the one before.
	defs := []*as.Expression{as.ExpDef("v0", as.ExpListBin("l"))}
	for i := 1; i < 60; i++ {
		from := as.ExpVar("v" + strings.Repeat("x", i-1))
		if i == 1 {
			from = as.ExpVar("v0")
		}
		defs = append(defs, as.ExpDef("v"+strings.Repeat("x", i), as.ExpListAppendItems(as.DefaultListPolicy(), from, from)))
	}
	last := as.ExpVar("v" + strings.Repeat("x", 59))
	require.Nil(t, eval(t, as.ExpLet(append(defs, last)...)))
}

func TestCache(t *testing.T) {
	c := exp.NewCache(exp.Modules{})
	b := pack(t, as.ExpEq(as.ExpIntBin("i"), as.ExpIntVal(7)))
	e := c.Get(b)
	require.Same(t, e, c.Get(append([]byte{}, b...)))
	clear(b) // the cache has its own copy
	require.Equal(t, exp.True, e.Match(sample()))
	require.Nil(t, c.Get([]byte{0x90}))
	require.Nil(t, c.Get([]byte{0x90}))
	for i := range 200 {
		require.NotNil(t, c.Get(pack(t, as.ExpIntVal(int64(i)))))
	}
	long := pack(t, as.ExpStringVal(strings.Repeat("a", 5000)))
	require.NotSame(t, c.Get(long), c.Get(long))
}
