package command_test

import (
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/command"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/lua"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/sindex"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// fuzzed returns an executor that has everything: records, an index and functions.
func fuzzed(t testing.TB) (*command.Executor, *store.Namespace) {
	clock := new(store.Clock)
	ns := store.NewNamespace("test", clock, 0, 1<<20)
	cat := &command.Catalog{
		Clock: clock, Namespaces: []*store.Namespace{ns}, Table: command.NewTable(), Filter: command.NewFilter(clock),
		Indexes: new(sindex.Registry), Functions: udf.NewRegistry(lua.Compiler(func(string, string) {})),
	}
	require.NoError(t, cat.Indexes.Add(sindex.Index{Namespace: "test", Name: "i", Definition: sindex.Definition{Bin: "a", Type: sindex.Numeric, Collection: sindex.Default}}))
	require.NoError(t, cat.Functions.Put("m.lua", `function f(r, x) r.a = x if not aerospike:create(r) then aerospike:update(r) end return r.a end
		function s(s, x) return s : map(function(r) return r.a end) end`))
	e := command.NewExecutor(cat)
	_, c := e.Single(message(0, wire.Info2Write, wire.Op{Code: wire.OpWrite, Particle: wire.ParticleInteger, Name: []byte("a"), Data: integer(1)}), nil, 0)
	require.Equal(t, wire.OK, c)
	return e, ns
}

// content stands for all that is stored, in whatever order, but for what may expire
// meanwhile.
func content(ns *store.Namespace) (sum uint64) {
	ns.Each(func(r *store.Record) bool {
		if r.Expires != 0 {
			return true
		}
		h := fnv.New64a()
		_, _ = h.Write(append(append(r.Digest[:], r.Set...), r.Key...)) // never fails
		for _, b := range r.Bins {
			_, _ = h.Write(append([]byte(b.Name+"="), b.Data...))
		}
		sum += h.Sum64()
		return true
	})
	return sum
}

// querySeeds are scans, queries and calls of functions, by all ways. ns is the field of the
// namespace.
func querySeeds(ns []byte) [][]byte {
	pids, places := wire.AppendField(nil, wire.FieldPIDArray, []byte{7, 7}), wire.AppendField(nil, wire.FieldDigestArray, digest)
	limits := append([]byte{1, 1, 'a', 1, 0, 0, 0, 8}, integer(0)...)
	limits = wire.AppendField(nil, wire.FieldIndexRange, append(append(limits, 0, 0, 0, 8), integer(9)...))
	bins := wire.AppendField(nil, wire.FieldQueryBins, []byte{1, 1, 'a'})
	call := func(name string, op ...byte) []byte {
		b := wire.AppendField(nil, wire.FieldUDFPackage, []byte("m"))
		b = wire.AppendField(b, wire.FieldUDFFunction, []byte(name))
		b = wire.AppendField(b, wire.FieldUDFArgs, []byte{0x91, 5})
		if len(op) > 0 {
			b = wire.AppendField(b, wire.FieldUDFOp, op)
		}
		return b
	}
	body := func(info1, info2, info3 byte, fields int, parts ...[]byte) []byte {
		b := wire.AppendHeader(nil, wire.Header{Info3: info3, Fields: fields})
		b[1], b[2] = info1, info2
		for _, p := range append([][]byte{ns}, parts...) {
			b = append(b, p...)
		}
		return b
	}
	return [][]byte{
		body(1, 0, 4, 3, pids, bins),
		body(1, 0, 4, 3, pids, limits),
		body(1, 0, 4, 4, places, limits, wire.AppendField(nil, wire.FieldBValArray, make([]byte, 8))),
		body(0, 1, 0, 5, wire.AppendField(nil, wire.FieldDigest, digest), call("f")),
		body(1, 0, 0, 6, limits, call("s", wire.UDFAggregate)),
		body(1, 0, 0, 6, wire.AppendField(nil, wire.FieldTaskID, integer(9)), call("f", wire.UDFBackground)),
	}
}
