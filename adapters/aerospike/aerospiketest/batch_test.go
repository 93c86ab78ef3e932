package aerospiketest_test

import (
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

func TestBatchReadsOfAllNodes(t *testing.T) {
	_, c := start(t, aerospiketest.Config{Nodes: 3})
	warm(t, c, 4)
	var keys []*as.Key
	for i := range 1000 {
		k := key(t, i)
		keys = append(keys, k)
		if i%2 == 0 {
			put(t, c, k, as.NewBin("a", i), as.NewBin("b", make([]byte, 300)))
		}
	}
	l, err := c.BatchGet(batchPolicy(), keys, "a")
	require.NoError(t, asError(err))
	for i, r := range l {
		if i%2 == 1 {
			require.Nil(t, r)
			continue
		}
		require.Equal(t, as.BinMap{"a": i}, r.Bins)
	}
	l, err = c.BatchGet(batchPolicy(), keys) // more than a frame
	require.NoError(t, asError(err))
	require.Len(t, l[998].Bins, 2)
	ok, err := c.BatchExists(batchPolicy(), keys)
	require.NoError(t, asError(err))
	require.True(t, ok[0])
	require.False(t, ok[1])
	l, err = c.BatchGetHeader(batchPolicy(), keys)
	require.NoError(t, asError(err))
	require.EqualValues(t, 1, l[0].Generation)
}

func TestBatchOfEveryKind(t *testing.T) {
	_, c := start(t)
	warm(t, c, 4)
	for _, i := range []int{0, 2, 4} {
		put(t, c, key(t, i), as.NewBin("a", i), as.NewBin("s", "x"))
	}
	create := as.NewBatchWritePolicy()
	create.RecordExistsAction = as.CREATE_ONLY
	gen := as.NewBatchDeletePolicy()
	gen.GenerationPolicy, gen.Generation = as.EXPECT_GEN_EQUAL, 7
	filter := as.NewBatchReadPolicy()
	filter.FilterExpression = as.ExpBinExists("a")
	rs := []as.BatchRecordIfc{
		as.NewBatchRead(nil, key(t, 0), []string{"a"}),
		as.NewBatchRead(nil, key(t, 1), nil),
		as.NewBatchWrite(create, key(t, 2), as.PutOp(as.NewBin("a", 9))),
		as.NewBatchWrite(nil, key(t, 3), as.PutOp(as.NewBin("a", 9)), as.GetBinOp("a")),
		as.NewBatchDelete(gen, key(t, 4)),
		as.NewBatchDelete(nil, key(t, 0)),
		as.NewBatchWrite(nil, key(t, 2), as.AddOp(as.NewBin("s", 1))),
		as.NewBatchRead(filter, key(t, 2), nil),
		as.NewBatchUDF(nil, key(t, 2), "m", "f"),
	}
	require.NoError(t, asError(c.BatchOperate(batchPolicy(), rs)))
	var codes []types.ResultCode
	for _, r := range rs {
		codes = append(codes, r.BatchRec().ResultCode)
	}
	require.Equal(t, []types.ResultCode{
		types.OK, types.KEY_NOT_FOUND_ERROR, types.KEY_EXISTS_ERROR, types.OK, types.GENERATION_ERROR, types.OK,
		types.BIN_TYPE_ERROR, types.OK, types.UDF_BAD_RESPONSE,
	}, codes)
	require.Equal(t, as.BinMap{"a": 0}, rs[0].BatchRec().Record.Bins)
	require.Equal(t, as.BinMap{"a": as.OpResults{nil, 9}}, rs[3].BatchRec().Record.Bins)
	ok, err := c.Exists(readPolicy(), key(t, 0))
	require.NoError(t, asError(err))
	require.False(t, ok)
}

func TestBatchEndsAtAnErrorUnlessAllKeysAreAskedFor(t *testing.T) {
	_, c := start(t)
	warm(t, c, 4)
	put(t, c, key(t, 0), as.NewBin("s", "x"))
	for _, all := range []bool{true, false} {
		p := batchPolicy()
		p.RespondAllKeys = all
		rs := []as.BatchRecordIfc{
			as.NewBatchWrite(nil, key(t, 0), as.AddOp(as.NewBin("s", 1))),
			as.NewBatchWrite(nil, key(t, 1), as.PutOp(as.NewBin("s", 1))),
		}
		err := c.BatchOperate(p, rs)
		ok, err2 := c.Exists(readPolicy(), key(t, 1))
		require.NoError(t, asError(err2))
		require.Equal(t, all, ok)
		require.Equal(t, all, err == nil)
		_, err2 = c.Delete(writePolicy(), key(t, 1))
		require.NoError(t, asError(err2))
	}
}

func TestBatchDelete(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 2})
	warm(t, c, 4)
	var keys []*as.Key
	for i := range 50 {
		keys = append(keys, key(t, i))
		put(t, c, keys[i], as.NewBin("a", i))
	}
	_, err := c.BatchDelete(batchPolicy(), nil, keys)
	require.NoError(t, asError(err))
	require.Zero(t, s.Records("test", ""))
}
