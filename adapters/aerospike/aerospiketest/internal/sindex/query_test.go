package sindex_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/sindex"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// rangeField is an index range of values of a particle type.
func rangeField(bin string, particle byte, begin, end []byte) []byte {
	b := append(append([]byte{1, byte(len(bin))}, bin...), particle)
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(begin))), begin...)
	return append(binary.BigEndian.AppendUint32(b, uint32(len(end))), end...)
}

func number(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func parse(t *testing.T, m *wire.Message) *sindex.Query {
	t.Helper()
	q, c := sindex.Parse(m)
	require.Equal(t, wire.OK, c)
	return q
}

func bin(particle byte, data []byte) []store.Bin {
	return []store.Bin{{Name: "a", Value: store.Value{Type: particle, Data: data}}}
}

func TestQueryFollowsContexts(t *testing.T) {
	// [[3, 1, 2], {"y": 7, "x": 9}, "s"], where text has its particle type first
	list := bin(wire.ParticleList, []byte{0x93, 0x93, 3, 1, 2, 0x82, 0xa2, 3, 'y', 7, 0xa2, 3, 'x', 9, 0xa2, 3, 's'})
	x := []byte{0xa2, 3, 'x'}
	step := func(s ...byte) []byte { return append([]byte{0x90 | byte(len(s))}, s...) }
	for name, c := range map[string]struct {
		ctx  []byte
		want int64
	}{
		"index, index":          {step(0x10, 0, 0x10, 1), 1},
		"index, last":           {step(0x10, 0, 0x10, 0xff), 2},
		"index, rank":           {step(0x10, 0, 0x11, 2), 3},
		"index, value":          {step(0x10, 0, 0x13, 2), 2},
		"index, key":            {append([]byte{0x94, 0x10, 1, 0x22}, x...), 9},
		"index, first key":      {step(0x10, 1, 0x20, 0), 9},
		"index, last of values": {step(0x10, 1, 0x21, 0xff), 9},
		"index, map value":      {step(0x10, 1, 0x23, 7), 7},
	} {
		require.True(t, sindex.ValidContext(c.ctx), name)
		q := parse(t, &wire.Message{IndexContext: c.ctx, IndexRange: rangeField("a", wire.ParticleInteger, number(c.want), number(c.want))})
		v, ok := q.Match(&store.Record{Bins: list})
		require.True(t, ok, name)
		require.Equal(t, c.want, v, name)
		require.Equal(t, 1, q.Entries(list), name)
	}
	for name, ctx := range map[string][]byte{"too far": step(0x10, 9), "before the first": step(0x10, 0xd0, 0x9c), "no map": step(0x10, 0, 0x20, 0), "no list": step(0x10, 1, 0x10, 0), "no such value": step(0x13, 1)} {
		q := sindex.Definition{Bin: "a", Type: sindex.Numeric, Collection: sindex.Default, Context: string(ctx)}
		require.Zero(t, q.Entries(list), name)
	}
	for _, ctx := range [][]byte{nil, {}, {0x90}, step(0x10), step(0x50, 0), step(0x99, 0), {0x92, 0x10, 0xa1, 'x'}, {0x92, 0x10}, {0x92, 0x10, 0, 0}} {
		require.False(t, sindex.ValidContext(ctx), "%x", ctx)
	}
}

func TestQueryFindsByTheLowestValue(t *testing.T) {
	list := bin(wire.ParticleList, []byte{0x95, 5, 3, 0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 9, 0xcb, 0x40, 0x10, 0, 0, 0, 0, 0, 0}) // the third is above any int64, the last a float
	q := parse(t, &wire.Message{IndexType: []byte{1}, IndexRange: rangeField("a", wire.ParticleInteger, number(-1), number(8))})
	v, ok := q.Match(&store.Record{Bins: list})
	require.True(t, ok)
	require.EqualValues(t, 3, v)
	for _, bins := range [][]store.Bin{nil, bin(wire.ParticleInteger, number(3)), bin(wire.ParticleMap, []byte{0x81, 3, 3}), bin(wire.ParticleList, []byte{0x92, 1})} {
		_, ok = q.Match(&store.Record{Bins: bins})
		require.False(t, ok)
	}
}

func TestQueryMessagesThatAreNone(t *testing.T) {
	good := rangeField("a", wire.ParticleInteger, number(1), number(2))
	for n := range good {
		_, c := sindex.Parse(&wire.Message{IndexRange: good[:n]})
		require.Equal(t, wire.ParameterError, c, n)
	}
	for name, m := range map[string]*wire.Message{
		"two ranges":     {IndexRange: append([]byte{2}, good[1:]...)},
		"no bin":         {IndexRange: rangeField("", wire.ParticleInteger, number(1), number(2))},
		"bin and name":   {IndexRange: good, IndexName: []byte("x")},
		"long name":      {IndexRange: rangeField("0123456789abcdef", wire.ParticleInteger, number(1), number(2))},
		"float":          {IndexRange: rangeField("a", wire.ParticleFloat, number(1), number(2))},
		"upside down":    {IndexRange: rangeField("a", wire.ParticleInteger, number(2), number(1))},
		"short number":   {IndexRange: rangeField("a", wire.ParticleInteger, number(2)[:4], number(1))},
		"long text":      {IndexRange: rangeField("a", wire.ParticleString, make([]byte, 2048), nil)},
		"no type":        {IndexRange: good, IndexType: []byte{}},
		"unknown type":   {IndexRange: good, IndexType: []byte{4}},
		"broken context": {IndexRange: good, IndexContext: []byte{0x92, 0x10}},
	} {
		_, c := sindex.Parse(m)
		require.Equal(t, wire.ParameterError, c, name)
	}
	q := parse(t, &wire.Message{IndexName: []byte("x"), IndexRange: rangeField("", wire.ParticleString, []byte("v"), nil)})
	require.Equal(t, "x", q.Name)
	require.False(t, q.Use(sindex.Index{Definition: sindex.Definition{Bin: "a", Type: sindex.Numeric}}))
	require.True(t, q.Use(sindex.Index{Definition: sindex.Definition{Bin: "a", Type: sindex.String, Collection: sindex.Default}}))
	_, ok := q.Match(&store.Record{Bins: bin(wire.ParticleString, []byte("v"))})
	require.True(t, ok)
}

func FuzzQuery(f *testing.F) {
	f.Add(rangeField("a", wire.ParticleInteger, number(1), number(5)), []byte{0x92, 0x10, 0}, []byte{0x91, 0x93, 3, 1, 2}, byte(1), byte(wire.ParticleList))
	f.Add(rangeField("a", wire.ParticleString, []byte("x"), nil), []byte{0x92, 0x22, 0xa2, 3, 'x'}, []byte{0x81, 0xa2, 3, 'x', 0x81, 1, 2}, byte(2), byte(wire.ParticleMap))
	f.Fuzz(func(t *testing.T, r, ctx, data []byte, col, particle byte) {
		m := &wire.Message{IndexRange: r, IndexType: []byte{col}}
		if len(ctx) > 0 {
			m.IndexContext = ctx
		}
		q, c := sindex.Parse(m)
		if c != wire.OK {
			return
		}
		if _, ok := q.Match(&store.Record{Bins: bin(particle, data)}); ok && q.Entries(bin(particle, data)) == 0 {
			t.Fatal("found by an index that has no entry for it")
		}
	})
}
