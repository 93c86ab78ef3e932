package aerospiketest_test

import (
	"math"
	"strings"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

func TestSingleValuesComeBackAsTheyWere(t *testing.T) {
	_, c := start(t)
	for name, v := range map[string]any{
		"integer": math.MinInt, "float": 1.5, "text": "é", "empty": "", "blob": []byte{0, 255}, "true": true, "false": false,
		"list": []any{1, "a", nil, 2.5}, "map": map[any]any{"a": 1, 2: "b"}, "long": strings.Repeat("x", 100_000),
	} {
		k := key(t, name)
		put(t, c, k, as.NewBin("a", v))
		r, err := c.Get(readPolicy(), k)
		require.NoError(t, asError(err), name)
		require.Equal(t, as.BinMap{"a": v}, r.Bins, name)
	}
	k := key(t, "geo")
	point := as.NewGeoJSONValue(`{"type":"Point","coordinates":[1.5,2.5]}`)
	put(t, c, k, as.NewBin("g", point))
	r, err := c.Get(readPolicy(), k)
	require.NoError(t, asError(err))
	require.Equal(t, point, r.Bins["g"])
	bad := c.PutBins(writePolicy(), k, as.NewBin("g", as.NewGeoJSONValue(`{"type":"Nothing"}`)))
	require.Equal(t, types.GEO_INVALID_GEOJSON, codeOf(bad))
}

func TestSingleHLLComesBackRaw(t *testing.T) {
	_, c := start(t)
	k, sketch := key(t, 1), as.HLLValue{1: 4, 22: 1}
	put(t, c, k, as.NewBin("h", sketch))
	r, err := c.Get(readPolicy(), k)
	require.NoError(t, asError(err))
	require.Equal(t, sketch, r.Bins["h"])
}

func TestSingleGetOfSomeBinsAndOfNone(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	put(t, c, k, as.NewBin("a", 1), as.NewBin("b", 2))
	r, err := c.Get(readPolicy(), k, "b", "nope")
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"b": 2}, r.Bins)
	r, err = c.GetHeader(readPolicy(), k)
	require.NoError(t, asError(err))
	require.Empty(t, r.Bins)
	require.EqualValues(t, 1, r.Generation)
	ok, err := c.Exists(readPolicy(), k)
	require.NoError(t, asError(err))
	require.True(t, ok)
	_, err = c.Get(readPolicy(), key(t, 2))
	require.Equal(t, types.KEY_NOT_FOUND_ERROR, codeOf(err))
}

func TestSingleDeleteAndTouch(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	require.Equal(t, types.KEY_NOT_FOUND_ERROR, codeOf(c.Touch(writePolicy(), k)))
	put(t, c, k, as.NewBin("a", 1))
	require.NoError(t, asError(c.Touch(writePolicy(), k)))
	p := writePolicy()
	p.DurableDelete = true
	_, err := c.Delete(p, k)
	require.Equal(t, types.ENTERPRISE_ONLY, codeOf(err))
	for _, want := range []bool{true, false} {
		was, err := c.Delete(writePolicy(), k)
		require.NoError(t, asError(err))
		require.Equal(t, want, was)
	}
}

func TestSingleArithmetic(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	put(t, c, k, as.NewBin("n", math.MaxInt), as.NewBin("f", 1.5), as.NewBin("s", "b"), as.NewBin("x", []byte{2}))
	p := writePolicy()
	require.NoError(t, asError(c.AddBins(p, k, as.NewBin("n", 1), as.NewBin("f", 2.5), as.NewBin("new", 7))))
	require.NoError(t, asError(c.AppendBins(p, k, as.NewBin("s", "c"), as.NewBin("x", []byte{3}))))
	require.NoError(t, asError(c.PrependBins(p, k, as.NewBin("s", "a"))))
	r, err := c.Get(readPolicy(), k)
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"n": math.MinInt, "f": 4.0, "s": "abc", "x": []byte{2, 3}, "new": 7}, r.Bins)
	require.Equal(t, types.BIN_TYPE_ERROR, codeOf(c.AddBins(p, k, as.NewBin("s", 1))))
	require.Equal(t, types.BIN_TYPE_ERROR, codeOf(c.AppendBins(p, k, as.NewBin("s", []byte{1}))))
}

func TestSingleFailedOperateChangesNothing(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	put(t, c, k, as.NewBin("a", 1), as.NewBin("s", "x"))
	_, err := c.Operate(writePolicy(), k, as.PutOp(as.NewBin("a", 2)), as.PutOp(as.NewBin("b", 2)), as.AddOp(as.NewBin("s", 1)))
	require.Equal(t, types.BIN_TYPE_ERROR, codeOf(err))
	r, err := c.Get(readPolicy(), k)
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"a": 1, "s": "x"}, r.Bins)
	require.EqualValues(t, 1, r.Generation)
}

func TestSingleOperateAnswersInOrder(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	put(t, c, k, as.NewBin("a", 1))
	ops := []*as.Operation{as.GetBinOp("a"), as.AddOp(as.NewBin("a", 2)), as.GetBinOp("a"), as.TouchOp(), as.GetBinOp("zz")}
	r, err := c.Operate(writePolicy(), k, ops...)
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"a": []any{1, 3}}, r.Bins)
	p := writePolicy()
	p.RespondPerEachOp = true
	r, err = c.Operate(p, k, ops...)
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"a": []any{3, nil, 5}, "zz": nil}, r.Bins)
	r, err = c.Operate(writePolicy(), k, as.DeleteOp(), as.PutOp(as.NewBin("b", 1)), as.GetOp())
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"b": 1}, r.Bins)
	_, err = c.Operate(writePolicy(), k, as.GetOp(), as.DeleteOp())
	require.NoError(t, asError(err))
	ok, err := c.Exists(readPolicy(), k)
	require.NoError(t, asError(err))
	require.False(t, ok)
}

func TestSingleNilRemovesABinAndTheLastOneTheRecord(t *testing.T) {
	s, c := start(t)
	k := key(t, 1)
	require.Equal(t, types.KEY_NOT_FOUND_ERROR, codeOf(c.PutBins(writePolicy(), k, as.NewBin("a", nil))))
	put(t, c, k, as.NewBin("a", 1), as.NewBin("b", 1))
	put(t, c, k, as.NewBin("a", nil))
	require.Equal(t, 1, s.Records("test", "s"))
	put(t, c, k, as.NewBin("b", nil))
	require.Zero(t, s.Records("test", "s"))
}

func TestSingleRecordExistsPolicies(t *testing.T) {
	_, c := start(t)
	old, fresh := key(t, "old"), key(t, "new")
	for _, x := range []struct {
		action     as.RecordExistsAction
		old, fresh types.ResultCode
		bins       int // of the old record afterwards
	}{
		{as.UPDATE, types.OK, types.OK, 2},
		{as.UPDATE_ONLY, types.OK, types.KEY_NOT_FOUND_ERROR, 2},
		{as.REPLACE, types.OK, types.OK, 1},
		{as.REPLACE_ONLY, types.OK, types.KEY_NOT_FOUND_ERROR, 1},
		{as.CREATE_ONLY, types.KEY_EXISTS_ERROR, types.OK, 1},
	} {
		for _, k := range []*as.Key{old, fresh} {
			_, err := c.Delete(writePolicy(), k)
			require.NoError(t, asError(err))
		}
		put(t, c, old, as.NewBin("a", 1))
		p := writePolicy()
		p.RecordExistsAction = x.action
		require.Equal(t, x.old, codeOf(c.PutBins(p, old, as.NewBin("b", 2))), x.action)
		require.Equal(t, x.fresh, codeOf(c.PutBins(p, fresh, as.NewBin("b", 2))), x.action)
		r, err := c.Get(readPolicy(), old)
		require.NoError(t, asError(err))
		require.Len(t, r.Bins, x.bins, x.action)
	}
}

func TestSingleGenerationPolicies(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	put(t, c, k, as.NewBin("a", 1))
	put(t, c, k, as.NewBin("a", 2))
	for _, x := range []struct {
		policy as.GenerationPolicy
		gen    uint32
		want   types.ResultCode
	}{{as.EXPECT_GEN_EQUAL, 1, types.GENERATION_ERROR}, {as.EXPECT_GEN_EQUAL, 2, types.OK}, {as.EXPECT_GEN_GT, 3, types.GENERATION_ERROR}, {as.EXPECT_GEN_GT, 4, types.OK}} {
		p := writePolicy()
		p.GenerationPolicy, p.Generation = x.policy, x.gen
		require.Equal(t, x.want, codeOf(c.PutBins(p, k, as.NewBin("a", 3))), x)
	}
}

func TestSingleTimeToLive(t *testing.T) {
	s, c := start(t, aerospiketest.Config{DefaultTTL: 100 * time.Second})
	ttl := func(k *as.Key) uint32 {
		r, err := c.GetHeader(readPolicy(), k)
		require.NoError(t, asError(err))
		if r == nil {
			return 0
		}
		return r.Expiration
	}
	with := func(e uint32) *as.WritePolicy {
		p := writePolicy()
		p.Expiration = e
		return p
	}
	a, b, never := key(t, "a"), key(t, "b"), key(t, "never")
	put(t, c, a, as.NewBin("x", 1))
	require.NoError(t, asError(c.PutBins(with(1000), b, as.NewBin("x", 1))))
	require.NoError(t, asError(c.PutBins(with(as.TTLDontExpire), never, as.NewBin("x", 1))))
	require.InDelta(t, 100, ttl(a), 3)
	require.InDelta(t, 1000, ttl(b), 3)
	require.EqualValues(t, uint32(as.TTLDontExpire), ttl(never))

	s.Advance(100 * time.Second)
	require.Zero(t, ttl(a))
	require.Equal(t, 2, s.Records("test", "s"))
	require.NoError(t, asError(c.PutBins(with(as.TTLDontUpdate), b, as.NewBin("x", 2))))
	require.InDelta(t, 900, ttl(b), 3)
	require.NoError(t, asError(c.Touch(with(50), b)))
	s.Advance(50 * time.Second)
	require.Zero(t, ttl(b))
	require.EqualValues(t, uint32(as.TTLDontExpire), ttl(never))
	require.Equal(t, types.PARAMETER_ERROR, codeOf(c.PutBins(with(11*365*86400), a, as.NewBin("x", 1))))
}

func TestSingleReadCanTouch(t *testing.T) {
	s, c := start(t)
	k := key(t, 1)
	p := writePolicy()
	p.Expiration = 1000
	require.NoError(t, asError(c.PutBins(p, k, as.NewBin("x", 1))))
	rp := readPolicy()
	rp.ReadTouchTTLPercent = 80
	for _, x := range []struct {
		ahead time.Duration
		left  float64
	}{{100 * time.Second, 900}, {200 * time.Second, 1000}} {
		s.Advance(x.ahead)
		_, err := c.Get(rp, k)
		require.NoError(t, asError(err))
		r, err := c.GetHeader(readPolicy(), k)
		require.NoError(t, asError(err))
		require.InDelta(t, x.left, r.Expiration, 3)
	}
}

func TestSingleLimits(t *testing.T) {
	_, c := start(t, aerospiketest.Config{MaxRecordSize: 1000})
	k := key(t, 1)
	require.Equal(t, types.RECORD_TOO_BIG, codeOf(c.PutBins(writePolicy(), k, as.NewBin("a", make([]byte, 1000)))))
	require.Equal(t, types.BIN_NAME_TOO_LONG, codeOf(c.PutBins(writePolicy(), k, as.NewBin(strings.Repeat("n", 16), 1))))
	long := keyIn(t, strings.Repeat("s", 64), 1)
	require.Equal(t, types.PARAMETER_ERROR, codeOf(c.PutBins(writePolicy(), long, as.NewBin("a", 1))))
}

func TestSingleStoredKeyCountsForTheSizeOfARecord(t *testing.T) {
	s, c := start(t, aerospiketest.Config{MaxRecordSize: 1000})
	p := writePolicy()
	k := key(t, strings.Repeat("k", 1000))
	require.NoError(t, asError(c.PutBins(p, k, as.NewBin("a", 1))))
	p.SendKey = true
	require.Equal(t, types.RECORD_TOO_BIG, codeOf(c.PutBins(p, k, as.NewBin("a", 1))))
	require.Equal(t, 1, s.Records("test", ""))
}
