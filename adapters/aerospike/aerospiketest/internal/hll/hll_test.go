package hll_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/hll"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// call packs a code and its arguments.
func call(args ...any) []byte {
	b := msgpack.AppendListLen(nil, len(args))
	for _, a := range args {
		b = appendArg(b, a)
	}
	return b
}

func appendArg(b []byte, a any) []byte {
	switch v := a.(type) {
	case int:
		return msgpack.AppendInt(b, int64(v))
	case string:
		return msgpack.AppendBytes(b, wire.ParticleString, []byte(v))
	case store.Value:
		return msgpack.AppendBytes(b, v.Type, v.Data)
	case []string:
		b = msgpack.AppendListLen(b, len(v))
		for _, s := range v {
			b = appendArg(b, s)
		}
	case []store.Value:
		b = msgpack.AppendListLen(b, len(v))
		for _, s := range v {
			b = appendArg(b, s)
		}
	case []byte:
		return append(b, v...)
	}
	return b
}

// names are those that the recordings of the real server have.
func names(from, to int) []string {
	l := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		l = append(l, fmt.Sprintf("v%d", i))
	}
	return l
}

func modify(t *testing.T, v store.Value, args ...any) (next store.Value, answer any) {
	t.Helper()
	next, a, code := hll.Modify(v, call(args...))
	require.Equal(t, wire.OK, code)
	require.True(t, hll.Valid(next.Data))
	return next, number(a)
}

func read(t *testing.T, v store.Value, args ...any) any {
	t.Helper()
	a, code := hll.Read(v, call(args...))
	require.Equal(t, wire.OK, code)
	return number(a)
}

func number(v store.Value) any {
	switch v.Type {
	case wire.ParticleNull:
		return nil
	case wire.ParticleInteger:
		return int(binary.BigEndian.Uint64(v.Data))
	case wire.ParticleFloat:
		return math.Float64frombits(binary.BigEndian.Uint64(v.Data))
	}
	return v
}

func sketchOf(t *testing.T, index, minhash int, elements []string) store.Value {
	v, _ := modify(t, store.Value{}, 1, elements, index, minhash, 0)
	return v
}

func TestSketchesHaveTheBytesOfARealServer(t *testing.T) {
	for n, want := range map[int]string{
		1:  "0004000000000000000000001000000000000000000000",
		2:  "0004000000000000000000001000000000000000002000",
		3:  "0004000000000000000000001000000080000000002000",
		10: "0004000000000000000000001001081083000080002000",
	} {
		v := sketchOf(t, 4, 0, names(0, n))
		require.Equal(t, want, hex.EncodeToString(v.Data))
		require.Equal(t, n, read(t, v, 50))
	}
}

func TestAdd(t *testing.T) {
	v, n := modify(t, store.Value{}, 1, names(0, 10), 4, -1, 0)
	require.Equal(t, 8, n) // the others changed nothing
	again, n := modify(t, v, 1, names(0, 10), -1, -1, 0)
	require.Equal(t, 0, n)
	require.Equal(t, v, again)
	require.Equal(t, 1, read(t, v, 56, names(0, 10)))
	require.Equal(t, 0, read(t, sketchOf(t, 12, 8, names(0, 10)), 56, []string{"v0", "other"}))
	require.Equal(t, store.Value{Type: wire.ParticleList, Data: []byte{0x92, 4, 0}}, read(t, v, 55))
	// An element is the same however it is packed.
	long, _ := modify(t, store.Value{}, 1, []byte{0x91, 0xcf, 0, 0, 0, 0, 0, 0, 0, 5}, 4, 0, 0)
	short, _ := modify(t, store.Value{}, 1, []byte{0x91, 5}, 4, 0, 0)
	require.Equal(t, short, long)
}

func TestEstimatesAreNear(t *testing.T) {
	for _, shape := range [][2]int{{8, 0}, {12, 0}, {14, 0}, {10, 8}, {10, 51}} {
		a, b := sketchOf(t, shape[0], shape[1], names(0, 3000)), sketchOf(t, shape[0], shape[1], names(1000, 5000))
		within := 4 * 1.04 / math.Sqrt(float64(int(1)<<shape[0])) // four standard errors
		require.InEpsilon(t, 3000, read(t, a, 50), within, "%v", shape)
		require.InEpsilon(t, 5000, read(t, a, 52, b), within, "%v", shape)
		require.InDelta(t, 2000, read(t, a, 53, b), 5000*within, "%v", shape)
		require.InDelta(t, 0.4, read(t, a, 54, []store.Value{b}), 2*within, "%v", shape)
	}
}

func TestUnionAndFold(t *testing.T) {
	a, b := sketchOf(t, 10, 0, names(0, 50)), sketchOf(t, 8, 0, names(50, 90))
	_, _, code := hll.Modify(a, call(2, []store.Value{b}, 0))
	require.Equal(t, wire.OpNotApplicable, code) // it would lose registers
	u, _ := modify(t, a, 2, []store.Value{b}, 8)
	require.Equal(t, sketchOf(t, 8, 0, names(0, 90)), u)
	require.Equal(t, u, read(t, a, 51, b))
	u, _ = modify(t, store.Value{}, 2, []store.Value{a, b}, 0)
	require.Equal(t, sketchOf(t, 8, 0, names(0, 90)), u)
	folded, _ := modify(t, a, 4, 6)
	require.Equal(t, sketchOf(t, 6, 0, names(0, 50)), folded)
	same, _ := modify(t, a, 4, 10)
	require.Equal(t, a, same)
	// Minhash bits that differ are lost.
	m := sketchOf(t, 10, 8, names(0, 50))
	require.Equal(t, a, read(t, m, 51, a))
	require.Equal(t, m, read(t, m, 51, m))
}

func TestRefreshCountsIntoTheCache(t *testing.T) {
	v := sketchOf(t, 10, 0, names(0, 100))
	next, n := modify(t, v, 3)
	require.Equal(t, read(t, v, 50), n)
	require.EqualValues(t, n, binary.LittleEndian.Uint64(next.Data[3:]))
	_, code := hll.Read(store.Value{Type: wire.ParticleHLL, Data: next.Data[:20]}, call(50))
	require.Equal(t, wire.ServerError, code)
}

func TestSimilarityOfEmptySketches(t *testing.T) {
	some := sketchOf(t, 8, 8, names(0, 5))
	none, _ := modify(t, store.Value{}, 0, 8, 8, 0)
	require.Zero(t, read(t, some, 54, none))
	require.True(t, math.IsNaN(read(t, none, 54, none).(float64)))
	require.Zero(t, read(t, none, 53, none))
	three := []store.Value{some, some, none}
	require.Zero(t, read(t, some, 53, three))
	require.InDelta(t, 1, read(t, some, 54, []store.Value{some, some, some}), 0)
}

func TestErrors(t *testing.T) {
	none, plain, minhash := store.Value{}, sketchOf(t, 8, 0, names(0, 3)), sketchOf(t, 8, 8, names(0, 3))
	text := store.Value{Type: wire.ParticleString, Data: []byte("a")}
	for _, c := range []struct {
		name string
		on   store.Value
		args []any
		want wire.Code
	}{
		{"unknown", none, []any{9}, wire.ParameterError},
		{"a read", plain, []any{50}, wire.ParameterError},
		{"index bits", none, []any{0, 3, 0, 0}, wire.ParameterError},
		{"minhash bits", none, []any{0, 4, 3, 0}, wire.ParameterError},
		{"both bits", none, []any{0, 16, 49, 0}, wire.ParameterError},
		{"flags", none, []any{0, 4, 0, 16}, wire.ParameterError},
		{"update only to add", none, []any{1, names(0, 1), 4, 0, 2}, wire.ParameterError},
		{"no elements", none, []any{1, []string{}, 4, 0, 0}, wire.ParameterError},
		{"a list as an element", none, []any{1, []byte{0x91, 0x90}, 4, 0, 0}, wire.ParameterError},
		{"no sketch", none, []any{2, []store.Value{text}, 0}, wire.ParameterError},
		{"no bits", none, []any{0, -1, -1, 0}, wire.OpNotApplicable},
		{"nothing to refresh", none, []any{3}, wire.BinNotFound},
		{"nothing to fold", none, []any{4, 4}, wire.BinNotFound},
		{"fold to more", plain, []any{4, 9}, wire.OpNotApplicable},
		{"fold of a minhash", minhash, []any{4, 4}, wire.OpNotApplicable},
		{"too many bits with the old ones", sketchOf(t, 16, 0, names(0, 1)), []any{0, -1, 49, 0}, wire.OpNotApplicable},
		{"create only", plain, []any{0, 4, 0, 1}, wire.BinExists},
		{"create only without failing", plain, []any{0, 4, 0, 5}, wire.OK},
		{"update only", none, []any{0, 4, 0, 2}, wire.BinNotFound},
		{"update only without failing", none, []any{0, 4, 0, 6}, wire.OK},
		{"of another type", text, []any{0, 4, 0, 0}, wire.BinTypeError},
		{"broken", store.Value{Type: wire.ParticleHLL, Data: plain.Data[:50]}, []any{3}, wire.ServerError},
	} {
		got, _, code := hll.Modify(c.on, call(c.args...))
		require.Equal(t, c.want, code, c.name)
		require.Equal(t, c.on, got, c.name)
	}
	for _, c := range []struct {
		name string
		on   store.Value
		args []any
		want wire.Code
	}{
		{"a write", plain, []any{3}, wire.ParameterError},
		{"too many without minhash", plain, []any{53, []store.Value{plain, plain, plain}}, wire.ParameterError},
		{"the first without minhash", plain, []any{53, []store.Value{minhash, minhash, minhash}}, wire.OpNotApplicable},
		{"of another type", text, []any{50}, wire.BinTypeError},
		{"nothing", none, []any{50}, wire.BinNotFound},
	} {
		_, code := hll.Read(c.on, call(c.args...))
		require.Equal(t, c.want, code, c.name)
	}
}

// FuzzHLL makes calls of any bytes on sketches of any bytes: none may panic, and
// what is written is a sketch.
func FuzzHLL(f *testing.F) {
	v, _, _ := hll.Modify(store.Value{}, call(1, names(0, 20), 4, 8, 0))
	w, _, _ := hll.Modify(store.Value{}, call(1, names(10, 30), 5, 0, 0))
	for _, c := range [][]byte{call(0, 4, 4, 0), call(1, names(0, 3), 4, 0, 0), call(2, []store.Value{w}, 8), call(3), call(4, 4), call(50), call(51, w), call(53, []store.Value{v, w}), call(54, []store.Value{v}), call(55), call(56, names(0, 2))} {
		f.Add(v.Data, c)
		f.Add(w.Data, c)
	}
	f.Fuzz(func(t *testing.T, b, args []byte) {
		for _, on := range []store.Value{{Type: wire.ParticleHLL, Data: b}, {}} {
			got, _, code := hll.Modify(on, args)
			if code == wire.OK && got.Type == wire.ParticleHLL && !hll.Valid(got.Data) {
				t.Fatalf("%x made %x", args, got.Data)
			}
			hll.Read(on, args)
		}
	})
}
