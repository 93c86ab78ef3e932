package aerospiketest_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

const module = `
function add(rec, name, n)
  rec[name] = (rec[name] or 0) + n
  if aerospike:exists(rec) then aerospike:update(rec) else aerospike:create(rec) end
  return rec[name]
end
function half(rec) rec.a = 1 aerospike:update(rec) rec.a = 2 error('too late') end
function keep(rec, ttl) rec.n = 1 record.set_ttl(rec, ttl) aerospike:create(rec) return record.key(rec) end
function forever(rec) while true do end end
function say(rec) info('from %s', record.setname(rec)) end
function total(s, bin)
  return s : map(function(r) return r[bin] or 0 end) : reduce(function(a, b) return a + b end)
end
function broken(s) return s : map(function(r) error('no luck') end) end
`

// register registers a module by the driver.
func register(t testing.TB, c *as.Client, file, source string) {
	t.Helper()
	task, err := c.RegisterUDF(writePolicy(), []byte(source), file, as.LUA)
	require.NoError(t, asError(err))
	require.NoError(t, asError(<-task.OnComplete()))
}

func TestUDFOfARecord(t *testing.T) {
	lines := make(chan string, 1)
	s, c := start(t, aerospiketest.Config{UDFLog: func(level, text string) { lines <- level + " " + text }})
	register(t, c, "m.lua", module)
	k := key(t, 1)
	v, err := c.Execute(writePolicy(), k, "m", "add", as.NewValue("a"), as.NewValue(5))
	require.NoError(t, asError(err))
	require.Equal(t, 5, v)
	v, err = c.Execute(writePolicy(), k, "m", "add", as.NewValue("a"), as.NewValue(0.5))
	require.NoError(t, asError(err))
	require.InDelta(t, 5.5, v, 0)
	_, err = c.Execute(writePolicy(), k, "m", "half")
	require.Equal(t, types.UDF_BAD_RESPONSE, codeOf(err))
	require.ErrorContains(t, err, "udf/m.lua:7: too late")
	r, err := c.Get(readPolicy(), k)
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"a": 5.5}, r.Bins, "what was updated is undone")
	require.EqualValues(t, 2, r.Generation)
	_, err = c.Execute(writePolicy(), k, "m", "forever")
	require.Equal(t, types.UDF_BAD_RESPONSE, codeOf(err))
	_, err = c.Execute(writePolicy(), k, "m", "say")
	require.NoError(t, asError(err))
	require.Equal(t, "info from s", <-lines)

	p := writePolicy()
	p.SendKey = true
	v, err = c.Execute(p, key(t, "new"), "m", "keep", as.NewValue(100))
	require.NoError(t, asError(err))
	require.Equal(t, "new", v)
	s.Advance(90 * time.Second)
	ok, err := c.Exists(readPolicy(), key(t, "new"))
	require.NoError(t, asError(err))
	require.True(t, ok)
	s.Advance(20 * time.Second)
	ok, err = c.Exists(readPolicy(), key(t, "new"))
	require.NoError(t, asError(err))
	require.False(t, ok)
}

func TestUDFModulesAreListedAndRemoved(t *testing.T) {
	s, c := start(t)
	require.Error(t, s.RegisterLua("m.lua", "function ("))
	require.NoError(t, s.RegisterLua("m.lua", module))
	l, err := c.ListUDF(readPolicy())
	require.NoError(t, asError(err))
	require.Len(t, l, 1)
	require.Equal(t, "m.lua", l[0].Filename)
	require.Len(t, l[0].Hash, 40)
	_, err = c.RegisterUDF(writePolicy(), []byte("x\ny z"), "bad.lua", as.LUA)
	require.ErrorContains(t, err, "compile_error")
	require.ErrorContains(t, err, "Line: 2")
	task, err := c.RemoveUDF(writePolicy(), "m.lua")
	require.NoError(t, asError(err))
	require.NoError(t, asError(<-task.OnComplete()))
	_, err = c.Execute(writePolicy(), key(t, 1), "m", "add")
	require.Equal(t, types.UDF_BAD_RESPONSE, codeOf(err))
}

func TestUDFInBatchAndBackground(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 3})
	warm(t, c, 4)
	require.NoError(t, s.RegisterLua("m.lua", module))
	var keys []*as.Key
	for i := range 30 {
		keys = append(keys, key(t, i))
		put(t, c, keys[i], as.NewBin("a", i))
	}
	l, err := c.BatchExecute(batchPolicy(), nil, keys, "m", "add", as.NewValue("a"), as.NewValue(100))
	require.NoError(t, asError(err))
	for i, r := range l {
		require.Equal(t, as.BinMap{"SUCCESS": 100 + i}, r.Record.Bins)
	}
	gate := s.Hold(aerospiketest.Match{Kinds: aerospiketest.KindJob})
	st := as.NewStatement("test", "s")
	_, err = c.ExecuteUDF(queryPolicy(), st, "m", "add", as.NewValue("a"), as.NewValue(1000))
	require.NoError(t, asError(err))
	require.NoError(t, gate.Wait(soon(t), 3))
	r, err := c.Get(readPolicy(), keys[5])
	require.NoError(t, asError(err))
	require.Equal(t, 105, r.Bins["a"])
	gate.Release()
	// A function in Go tells when it was there; reading waits for the record's lock.
	visited := make(chan [20]byte, len(keys))
	require.NoError(t, s.RegisterFunc("go", "mark", func(r *aerospiketest.UDFRecord, args []any) (any, error) {
		defer func() { visited <- r.Digest() }()
		if err := r.Set("b", args[0]); err != nil {
			return nil, err
		}
		return nil, r.Update()
	}))
	_, err = c.ExecuteUDF(queryPolicy(), as.NewStatement("test", "s"), "go", "mark", as.NewValue(1))
	require.NoError(t, asError(err))
	seen := make(map[[20]byte]bool)
	for range keys {
		seen[<-visited] = true
	}
	require.Len(t, seen, len(keys))
	r, err = c.Get(readPolicy(), keys[5])
	require.NoError(t, asError(err))
	require.Equal(t, 1, r.Bins["b"])
}

func TestUDFAggregation(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 3})
	dir := t.TempDir() + "/"
	as.SetLuaPath(dir)
	require.NoError(t, os.WriteFile(dir+"m.lua", []byte(module), 0o600))
	require.NoError(t, s.RegisterLua("m.lua", module))
	for i := range 100 {
		put(t, c, key(t, i), as.NewBin("a", i), as.NewBin("id", i))
	}
	put(t, c, keyIn(t, "other", 1), as.NewBin("a", 1_000_000))
	index(t, c, "i_id", "id", as.NUMERIC, as.ICT_DEFAULT)
	sum := func(p *as.QueryPolicy, st *as.Statement, function string) (any, as.Error) {
		rs, err := c.QueryAggregate(p, st, "m", function, as.NewValue("a"))
		require.NoError(t, asError(err))
		var v any
		for r := range rs.Results() {
			if r.Err != nil {
				err = r.Err
				continue
			}
			v = r.Record.Bins["SUCCESS"]
		}
		return v, err
	}
	v, err := sum(queryPolicy(), as.NewStatement("test", "s"), "total")
	require.NoError(t, asError(err))
	require.EqualValues(t, 4950, v)
	v, err = sum(queryPolicy(), statement(as.NewRangeFilter("id", 10, 12)), "total")
	require.NoError(t, asError(err))
	require.EqualValues(t, 33, v)
	put(t, c, keyIn(t, "empty", 1), as.NewBin("a", 1))
	_, err = c.Delete(writePolicy(), keyIn(t, "empty", 1))
	require.NoError(t, asError(err))
	v, err = sum(queryPolicy(), as.NewStatement("test", "empty"), "total")
	require.NoError(t, asError(err))
	require.Nil(t, v)
	_, err = sum(queryPolicy(), as.NewStatement("test", "s"), "broken")
	require.ErrorContains(t, err, "no luck")
	_, err = sum(queryPolicy(), statement(as.NewRangeFilter("none", 1, 2)), "total")
	require.Equal(t, types.INDEX_NOTFOUND, codeOf(err))
}

func TestFunctionsInGo(t *testing.T) {
	s, c := start(t)
	require.Error(t, s.RegisterFunc("", "f", nil))
	seen := make(chan []any, 1)
	require.NoError(t, s.RegisterFunc("go", "visit", func(r *aerospiketest.UDFRecord, args []any) (any, error) {
		seen <- args
		if len(args) == 0 {
			return r.Key(), r.Remove()
		}
		if !r.Exists() {
			r.SetTTL(time.Hour)
			if err := r.Set("list", []any{1, "x", map[string]int{"k": 2}}); err != nil {
				return nil, err
			}
			return "created", r.Create()
		}
		if err := r.Set("bad", make(chan int)); err == nil {
			panic("a channel was stored")
		}
		l, _ := r.Get("list").([]any)
		if err := r.Set("list", append(l, args...)); err != nil {
			return nil, err
		}
		return map[string]any{"bins": r.Bins(), "set": r.SetName(), "gen": r.Generation(), "ttl": r.TTL() > 0, "ns": r.Namespace(), "first": r.Digest()[0] == 0}, r.Update()
	}))
	k := key(t, 1)
	args := []as.Value{as.NewValue(7), as.NewValue(1.5), as.NewValue([]byte{1}), as.NewValue(true), as.NewValue(nil), as.NewValue(map[any]any{"a": 1})}
	v, err := c.Execute(writePolicy(), k, "go", "visit", args...)
	require.NoError(t, asError(err))
	require.Equal(t, "created", v)
	require.Equal(t, []any{int64(7), 1.5, []byte{1}, true, nil, map[any]any{"a": int64(1)}}, <-seen)
	v, err = c.Execute(writePolicy(), k, "go", "visit", as.NewValue("y"))
	require.NoError(t, asError(err))
	<-seen
	require.Equal(t, "s", v.(map[any]any)["set"])
	require.Equal(t, true, v.(map[any]any)["ttl"])
	r, err := c.Get(readPolicy(), k)
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"list": []any{1, "x", map[any]any{"k": 2}, "y"}}, r.Bins)
	_, err = c.Execute(writePolicy(), k, "go", "visit")
	require.NoError(t, asError(err))
	<-seen
	_, err = c.Execute(writePolicy(), k, "go", "visit")
	<-seen
	require.Equal(t, types.UDF_BAD_RESPONSE, codeOf(err))
	require.ErrorContains(t, err, aerospiketest.ErrNoRecord.Error())
	require.NoError(t, s.RegisterFunc("go", "visit", func(*aerospiketest.UDFRecord, []any) (any, error) { panic(fmt.Sprint("o", "h")) }))
	_, err = c.Execute(writePolicy(), k, "go", "visit")
	require.ErrorContains(t, err, "go.visit panicked: oh")
	require.NoError(t, s.RegisterFunc("go", "visit", nil))
	_, err = c.Execute(writePolicy(), k, "go", "visit")
	require.Equal(t, types.UDF_BAD_RESPONSE, codeOf(err))
}
