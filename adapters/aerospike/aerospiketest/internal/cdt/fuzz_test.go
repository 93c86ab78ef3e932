package cdt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/cdt"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// FuzzCall runs any operation on any value: what comes out is always whole, and
// what went in isn't touched.
func FuzzCall(f *testing.F) {
	for _, x := range []struct {
		value any
		op    []byte
	}{
		{l{3, 1, 2}, op(26, 7, -2, 2)},
		{l{3, l{1, "a"}}, at(l{0x10, 1}, 1, 5, 1, 13)},
		{flagged{1, l{1, 2, 2}}, op(23, 7, l{2, wildcard{}})},
		{m{"a", 1, "b", m{}}, at(l{0xa2, "b", 0x90, 2}, 67, 1, 2.5)},
		{flagged{3, m{"a", 1, "b", 2}}, op(103, 8|0x10000, "a", infinity{})},
		{m{1, 2}, op(68, m{3, 4}, 0, 13)},
		{l{1, 1.5}, op(12, 1, 2)},
	} {
		v := bin(x.value)
		f.Add(v.Type, v.Data, x.op)
	}
	f.Fuzz(func(t *testing.T, particle byte, data, op []byte) {
		v := store.Value{Type: particle, Data: data}
		before, asked := string(data), string(op)
		_, _ = cdt.Read(v, op)
		changed, answer, code := cdt.Modify(v, op)
		require.Equal(t, before, string(data))
		require.Equal(t, asked, string(op))
		if code != wire.OK {
			return
		}
		for _, v := range []store.Value{changed, answer} {
			switch v.Type {
			case wire.ParticleList:
				require.True(t, msgpack.List(v.Data) || string(v.Data) == before, "%x", v.Data)
			case wire.ParticleMap:
				require.True(t, msgpack.Map(v.Data) || string(v.Data) == before, "%x", v.Data)
			}
		}
	})
}
