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

// What a real server does by its source, where nothing was recorded.

func TestReadTouchCountsAsAnUpdateAndComesAfterTheAnswer(t *testing.T) {
	s, c := start(t)
	k := key(t, 1)
	p := writePolicy()
	p.Expiration = 1000
	require.NoError(t, asError(c.PutBins(p, k, as.NewBin("x", 1))))
	touching, filtered := readPolicy(), readPolicy()
	touching.ReadTouchTTLPercent, filtered.ReadTouchTTLPercent = 80, 80
	filtered.FilterExpression = as.ExpEq(as.ExpIntBin("x"), as.ExpIntVal(2))
	left := func() uint32 {
		r, err := c.GetHeader(readPolicy(), k)
		require.NoError(t, asError(err))
		return r.Expiration
	}
	s.Advance(300 * time.Second)
	r, err := c.Get(touching, k)
	require.NoError(t, asError(err))
	require.InDelta(t, 700, r.Expiration, 3, "as it was before the touch")
	require.InDelta(t, 1000, left(), 3)
	require.EqualValues(t, 1, r.Generation)
	fresh := readPolicy()
	fresh.FilterExpression = as.ExpLess(as.ExpSinceUpdate(), as.ExpIntVal(100_000))
	_, err = c.Get(fresh, k)
	require.NoError(t, asError(err), "the touch was an update")
	s.Advance(300 * time.Second)
	_, err = c.Get(filtered, k)
	require.Equal(t, types.FILTERED_OUT, codeOf(err))
	require.InDelta(t, 1000, left(), 3, "touched before it was filtered")

	// What counts is the time that was left at the last update, not what it was set to then.
	s.Advance(500 * time.Second)
	keep := writePolicy()
	keep.Expiration = as.TTLDontUpdate
	require.NoError(t, asError(c.PutBins(keep, k, as.NewBin("x", 1))))
	_, err = c.Get(touching, k)
	require.NoError(t, asError(err))
	require.InDelta(t, 500, left(), 3)
	s.Advance(200 * time.Second)
	_, err = c.Get(touching, k)
	require.NoError(t, asError(err))
	require.InDelta(t, 500, left(), 3)
}

func TestReadTouchOfAnImpossiblePercentageIsAnError(t *testing.T) {
	_, c := start(t)
	mortal, eternal := key(t, 1), key(t, 2)
	p := writePolicy()
	p.Expiration = 1000
	require.NoError(t, asError(c.PutBins(p, mortal, as.NewBin("x", 1))))
	put(t, c, eternal, as.NewBin("x", 1))
	for percent, want := range map[int32]types.ResultCode{101: types.PARAMETER_ERROR, -2: types.PARAMETER_ERROR, -1: types.OK, 0: types.OK, 100: types.OK} {
		rp, bp := readPolicy(), as.NewBatchReadPolicy()
		rp.ReadTouchTTLPercent, bp.ReadTouchTTLPercent = percent, percent
		_, err := c.Get(rp, mortal)
		require.Equal(t, want, codeOf(err), percent)
		_, err = c.Get(rp, eternal)
		require.NoError(t, asError(err), percent)
		record := as.NewBatchRead(bp, mortal, []string{"x"})
		_ = c.BatchOperate(batchPolicy(), []as.BatchRecordIfc{record}) // its code is the record's
		require.Equal(t, want, record.ResultCode, percent)
	}
}

func TestRecordIsOfTheSetAndKeyThatItWasWrittenWith(t *testing.T) {
	s, c := start(t)
	require.NoError(t, s.RegisterFunc("go", "nothing", func(*aerospiketest.UDFRecord, []any) (any, error) { return nil, nil }))
	k := key(t, 1)
	other := func(set string, v any) *as.Key {
		o, err := as.NewKeyWithDigest("test", set, v, k.Digest())
		require.NoError(t, asError(err))
		return o
	}
	send := writePolicy()
	send.SendKey = true
	require.NoError(t, asError(c.PutBins(send, k, as.NewBin("x", 1))))
	for name, x := range map[string]struct {
		key            *as.Key
		read, write    types.ResultCode
		sends, deletes types.ResultCode // with SendKey
	}{
		"same":        {other("s", 1), types.OK, types.OK, types.OK, types.OK},
		"no set":      {other("", 1), types.OK, types.PARAMETER_ERROR, types.PARAMETER_ERROR, types.OK},
		"another set": {other("t", 1), types.PARAMETER_ERROR, types.PARAMETER_ERROR, types.PARAMETER_ERROR, types.PARAMETER_ERROR},
		"another key": {other("s", 2), types.OK, types.OK, types.KEY_MISMATCH, types.OK}, // deletes don't send it
	} {
		_, err := c.Get(readPolicy(), x.key)
		require.Equal(t, x.read, codeOf(err), name)
		require.Equal(t, x.write, codeOf(c.PutBins(writePolicy(), x.key, as.NewBin("x", 1))), name)
		require.Equal(t, x.sends, codeOf(c.PutBins(send, x.key, as.NewBin("x", 1))), name)
		_, err = c.Execute(writePolicy(), x.key, "go", "nothing")
		require.Equal(t, x.write, codeOf(err), name)
		_, err = c.Execute(send, x.key, "go", "nothing")
		require.Equal(t, x.sends, codeOf(err), name)
		_, err = c.Delete(send, x.key)
		require.Equal(t, x.deletes, codeOf(err), name)
		if x.deletes == types.OK {
			require.NoError(t, asError(c.PutBins(send, k, as.NewBin("x", 1))))
		}
	}
}

func TestDurableDeleteIsRefusedWhateverIsThere(t *testing.T) {
	_, c := start(t)
	p := writePolicy()
	p.DurableDelete = true
	_, err := c.Delete(p, key(t, "none"))
	require.Equal(t, types.ENTERPRISE_ONLY, codeOf(err))
}

func TestFunctionsTakeNoPoliciesOfRecords(t *testing.T) {
	s, c := start(t)
	called := 0
	require.NoError(t, s.RegisterFunc("go", "count", func(*aerospiketest.UDFRecord, []any) (any, error) { called++; return nil, nil }))
	put(t, c, key(t, 1), as.NewBin("x", 1))
	for name, change := range map[string]func(p *as.WritePolicy){
		"update":     func(p *as.WritePolicy) { p.RecordExistsAction = as.UPDATE_ONLY },
		"create":     func(p *as.WritePolicy) { p.RecordExistsAction = as.CREATE_ONLY },
		"replace":    func(p *as.WritePolicy) { p.RecordExistsAction = as.REPLACE },
		"generation": func(p *as.WritePolicy) { p.GenerationPolicy, p.Generation = as.EXPECT_GEN_EQUAL, 1 },
		"greater":    func(p *as.WritePolicy) { p.GenerationPolicy, p.Generation = as.EXPECT_GEN_GT, 9 },
	} {
		p := writePolicy()
		change(p)
		_, err := c.Execute(p, key(t, 1), "go", "count")
		require.Equal(t, types.PARAMETER_ERROR, codeOf(err), name)
	}
	_, err := c.Execute(writePolicy(), key(t, 1), "go", "count")
	require.NoError(t, asError(err))
	require.Equal(t, 1, called)
}

func TestFunctionThatFailsKeepsNothing(t *testing.T) {
	s, c := start(t)
	require.NoError(t, s.RegisterLua("half.lua", `
		function update(rec) rec.a = 2 aerospike:update(rec) error('too late') end
		function create(rec) rec.a = 2 aerospike:create(rec) error('too late') end
		function remove(rec) aerospike:remove(rec) error('too late') end`))
	k, none := key(t, 1), key(t, "none")
	put(t, c, k, as.NewBin("a", 1))
	for _, x := range []struct {
		key      *as.Key
		function string
	}{{k, "update"}, {k, "remove"}, {none, "create"}} {
		_, err := c.Execute(writePolicy(), x.key, "half", x.function)
		require.Equal(t, types.UDF_BAD_RESPONSE, codeOf(err))
		require.ErrorContains(t, err, "too late")
	}
	r, err := c.Get(readPolicy(), k)
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"a": 1}, r.Bins)
	require.EqualValues(t, 1, r.Generation)
	require.Equal(t, 1, s.Records("test", ""))
}

func TestBackgroundExpressionThatCantBeIsRefusedAtOnce(t *testing.T) {
	_, c := start(t)
	put(t, c, key(t, 1), as.NewBin("a", 1))
	bad := as.ExpWriteOp("a", as.ExpNumAdd(as.ExpIntBin("a"), as.ExpFloatVal(1)), as.ExpWriteFlagDefault)
	_, err := c.QueryExecute(queryPolicy(), writePolicy(), as.NewStatement("test", "s"), bad)
	require.Equal(t, types.PARAMETER_ERROR, codeOf(err))
}

func TestBatchWithAFilterThatCantBeFailsAsAWhole(t *testing.T) {
	s, c := start(t)
	log := s.Record(aerospiketest.Match{Kinds: aerospiketest.KindBatch})
	p := batchPolicy()
	p.MaxRetries = 0
	p.FilterExpression = as.ExpIntBin("a") // no boolean
	_, err := c.BatchGet(p, []*as.Key{key(t, "none"), key(t, "neither")})
	require.Equal(t, types.PARAMETER_ERROR, codeOf(err))
	require.NoError(t, log.Wait(soon(t), 1))
	require.Equal(t, aerospiketest.CodeParameter, log.Served()[0].Code)
}

func TestRawBatchOfNothingIsAnError(t *testing.T) {
	s := aerospiketest.NewServer(t)
	for _, typ := range []byte{41, 42} {
		_, body := ask(t, dial(t, s.Addr()), proto(2, 3, frame{info1: 9, fields: [][]byte{field(typ, make([]byte, 5))}}.body()))
		require.EqualValues(t, aerospiketest.CodeParameter, body[5])
	}
}

func TestRawQueryByIndexNameFindsTheIndexsSetOnly(t *testing.T) {
	s, c := start(t)
	put(t, c, keyIn(t, "s", 1), as.NewBin("a", 1))
	put(t, c, keyIn(t, "other", 2), as.NewBin("a", 1))
	index(t, c, "i", "a", as.NUMERIC, as.ICT_DEFAULT)
	whole := make([]byte, 0, 2*4096)
	for pid := range 4096 {
		whole = append(whole, byte(pid), byte(pid>>8))
	}
	byName := append([]byte{1, 0}, someRange()[3:]...)
	q := frame{info1: 1 | 32, info3: 4, fields: [][]byte{field(0, []byte("test")), field(11, whole), field(21, []byte("i")), field(22, byName)}}
	_, body := ask(t, dial(t, s.Addr()), proto(2, 3, q.body()))
	require.Contains(t, string(body), "\x00\x00\x00\x02\x01s")
	require.NotContains(t, string(body), "other")
}

func TestScanCountsRecordsThatHaveNoneOfTheBins(t *testing.T) {
	_, c := start(t)
	for i := range 20 {
		bin := "a"
		if i%2 == 0 {
			bin = "b"
		}
		put(t, c, key(t, i), as.NewBin(bin, i))
	}
	p := scanPolicy()
	p.MaxRecords = 10
	rs, err := c.ScanPartitions(p, as.NewPartitionFilterAll(), "test", "s", "a")
	require.NoError(t, asError(err))
	n := 0
	for r := range rs.Results() {
		require.NoError(t, asError(r.Err))
		n++
	}
	require.Less(t, n, 10)
}

func TestAggregationRefusesFiltersAndUnknownSets(t *testing.T) {
	s, c := start(t)
	dir := t.TempDir() + "/"
	as.SetLuaPath(dir)
	require.NoError(t, os.WriteFile(dir+"m.lua", []byte(module), 0o600))
	require.NoError(t, s.RegisterLua("m.lua", module))
	aggregate := func(p *as.QueryPolicy, set string) aerospiketest.Code {
		log := s.Record(aerospiketest.Match{Kinds: aerospiketest.KindScan})
		defer log.Stop()
		rs, err := c.QueryAggregate(p, as.NewStatement("test", set), "m", "total", as.NewValue("a"))
		require.NoError(t, asError(err))
		for range rs.Results() { // the driver makes nothing of a set that isn't there
		}
		return log.Served()[0].Code
	}
	put(t, c, key(t, 1), as.NewBin("a", 1))
	p := queryPolicy()
	p.FilterExpression = as.ExpLess(as.ExpIntBin("a"), as.ExpIntVal(3))
	require.Equal(t, aerospiketest.CodeUnsupported, aggregate(p, "s"))
	require.Equal(t, aerospiketest.CodeNotFound, aggregate(queryPolicy(), "never"))
}

func TestRawReadAndDeleteWithAnotherKey(t *testing.T) {
	s, c := start(t)
	send := writePolicy()
	send.SendKey = true
	k := key(t, "a")
	require.NoError(t, asError(c.PutBins(send, k, as.NewBin("x", 1))))
	conn := dial(t, s.Addr())
	for _, f := range []frame{{info1: 3}, {info2: 3}} {
		for _, x := range []struct {
			key  string
			want aerospiketest.Code
		}{{"\x03b", aerospiketest.Code(types.KEY_MISMATCH)}, {"\x03a", aerospiketest.CodeOK}} {
			f.fields = [][]byte{field(0, []byte("test")), field(2, []byte(x.key)), field(4, k.Digest())}
			_, body := ask(t, conn, proto(2, 3, f.body()))
			require.EqualValues(t, x.want, body[5])
		}
	}
}

func TestBinNamesHaveNoZeroBytes(t *testing.T) {
	_, c := start(t)
	put(t, c, key(t, 1), as.NewBin("a", 1))
	require.Equal(t, types.BIN_NAME_TOO_LONG, codeOf(c.PutBins(writePolicy(), key(t, 1), as.NewBin("a\x00b", 1))))
	_, err := c.Get(readPolicy(), key(t, 1), "a\x00b")
	require.Equal(t, types.BIN_NAME_TOO_LONG, codeOf(err))
}

func TestNamespaceHasSoManyIndexes(t *testing.T) {
	_, c := start(t)
	create := func(i int, typ as.IndexType, col as.IndexCollectionType) types.ResultCode {
		_, err := c.CreateComplexIndex(writePolicy(), "test", "s", fmt.Sprint("i", i), fmt.Sprint("b", i), typ, col)
		return codeOf(err)
	}
	require.Equal(t, types.PARAMETER_ERROR, create(0, as.GEO2DSPHERE, as.ICT_MAPKEYS), "no key is a shape")
	for i := range 256 {
		require.Equal(t, types.OK, create(i, as.STRING, as.ICT_MAPKEYS))
	}
	require.Equal(t, types.INDEX_MAXCOUNT, create(256, as.NUMERIC, as.ICT_DEFAULT))
	require.Equal(t, types.OK, create(255, as.STRING, as.ICT_MAPKEYS), "it is there")
	_, err := c.CreateComplexIndex(writePolicy(), "test", "s", "renamed", "b7", as.STRING, as.ICT_MAPKEYS)
	require.NoError(t, asError(err), "it is there by another name")
	require.NoError(t, asError(c.DropIndex(writePolicy(), "test", "s", "i9")))
	require.Equal(t, types.OK, create(256, as.NUMERIC, as.ICT_DEFAULT))
}

func TestFunctionWithATimeToLiveThatCantBeFails(t *testing.T) {
	s, c := start(t)
	require.NoError(t, s.RegisterLua("ttl.lua", `
		function set(rec, n) rec.a = 1 record.set_ttl(rec, n) return aerospike:create(rec) end
		function put(rec) rec.a = 1 return aerospike:create(rec) end
		function read(rec) return 1 end
		function both(rec) rec.a = 1 aerospike:create(rec) aerospike:remove(rec) end`))
	tooLong := writePolicy()
	tooLong.Expiration = 11 * 365 * 86400
	run := func(p *as.WritePolicy, function string, args ...as.Value) types.ResultCode {
		_, err := c.Execute(p, key(t, function), "ttl", function, args...)
		return codeOf(err)
	}
	for _, n := range []int64{-3, 11 * 365 * 86400, 1 << 32, 1 << 40} {
		require.Equal(t, types.PARAMETER_ERROR, run(writePolicy(), "set", as.NewValue(n)), n)
	}
	require.Equal(t, types.PARAMETER_ERROR, run(tooLong, "put"))
	require.Equal(t, types.OK, run(tooLong, "read"))
	require.Equal(t, types.KEY_NOT_FOUND_ERROR, run(writePolicy(), "both"))
	require.Zero(t, s.Records("test", ""))
	require.Equal(t, types.OK, run(writePolicy(), "set", as.NewValue(-1)))
}
