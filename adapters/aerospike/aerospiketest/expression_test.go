package aerospiketest_test

import (
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

func TestFilterOfEverySingleCommand(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	put(t, c, k, as.NewBin("i", 7), as.NewBin("s", "text"))
	for _, x := range []struct {
		filter *as.Expression
		want   types.ResultCode
	}{
		{as.ExpEq(as.ExpIntBin("i"), as.ExpIntVal(8)), types.FILTERED_OUT},
		{as.ExpEq(as.ExpIntBin("none"), as.ExpIntVal(8)), types.FILTERED_OUT}, // unknown
		{as.ExpEq(as.ExpIntBin("i"), as.ExpStringVal("a")), types.PARAMETER_ERROR},
		{as.ExpIntBin("i"), types.PARAMETER_ERROR},
	} {
		r, w := readPolicy(), writePolicy()
		r.FilterExpression, w.FilterExpression = x.filter, x.filter
		_, err := c.Get(r, k)
		require.Equal(t, x.want, codeOf(err))
		_, err = c.GetHeader(r, k)
		require.Equal(t, x.want, codeOf(err))
		_, err = c.Exists(r, k)
		require.Equal(t, x.want, codeOf(err))
		require.Equal(t, x.want, codeOf(c.PutBins(w, k, as.NewBin("i", 1))))
		require.Equal(t, x.want, codeOf(c.Touch(w, k)))
		_, err = c.Operate(w, k, as.AddOp(as.NewBin("i", 1)), as.GetBinOp("i"))
		require.Equal(t, x.want, codeOf(err))
		_, err = c.Delete(w, k)
		require.Equal(t, x.want, codeOf(err))
	}
	w := writePolicy()
	w.FilterExpression = as.ExpAnd(as.ExpGreater(as.ExpIntBin("i"), as.ExpIntVal(6)), as.ExpRegexCompare("^t.*t$", 0, as.ExpStringBin("s")))
	require.NoError(t, asError(c.PutBins(w, k, as.NewBin("i", 6))))
	require.Equal(t, types.FILTERED_OUT, codeOf(c.PutBins(w, k, as.NewBin("i", 5))))
	require.NoError(t, asError(c.PutBins(w, key(t, 2), as.NewBin("i", 5)))) // there is nothing to filter
}

func TestFilterOfABatchAndOfARecord(t *testing.T) {
	_, c := start(t, aerospiketest.Config{Nodes: 2})
	keys := make([]*as.Key, 10)
	for i := range keys {
		keys[i] = key(t, i)
		put(t, c, keys[i], as.NewBin("id", i))
	}
	p := batchPolicy()
	p.FilterExpression = as.ExpLess(as.ExpIntBin("id"), as.ExpIntVal(4))
	l, err := c.BatchGet(p, keys)
	require.Equal(t, types.FILTERED_OUT, codeOf(err))
	found := 0
	for _, r := range l {
		if r != nil {
			found++
		}
	}
	require.Equal(t, 4, found)
	own := as.NewBatchWritePolicy()
	own.FilterExpression = as.ExpEq(as.ExpIntBin("id"), as.ExpIntVal(9))
	rs := make([]as.BatchRecordIfc, len(keys))
	for i := range keys {
		rs[i] = as.NewBatchWrite(own, keys[i], as.PutOp(as.NewBin("x", 1)))
	}
	require.NoError(t, asError(c.BatchOperate(p, rs)))
	for i, r := range rs {
		want := types.FILTERED_OUT
		if i == 9 {
			want = types.OK
		}
		require.Equal(t, want, r.BatchRec().ResultCode)
	}
}

func TestFilterOfAScan(t *testing.T) {
	_, c := start(t, aerospiketest.Config{Nodes: 3})
	fill(t, c, 100)
	p := scanPolicy()
	p.FilterExpression = as.ExpAnd(as.ExpLess(as.ExpIntBin("id"), as.ExpIntVal(20)), as.ExpKeyExists())
	rs, err := c.ScanAll(p, "test", "s")
	require.Equal(t, upTo(20), ids(t, rs, err))
	p.FilterExpression = as.ExpIntVal(1)
	rs, err = c.ScanAll(p, "test", "s")
	require.NoError(t, asError(err))
	require.Equal(t, types.PARAMETER_ERROR, codeOf((<-rs.Results()).Err))
	require.NoError(t, asError(rs.Close()))
}

func TestExpressionReadsAndWrites(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	put(t, c, k, as.NewBin("i", 7), as.NewBin("l", []any{1, 2, 3}), as.NewBin("m", map[any]any{"a": 5}))
	next := as.ExpNumAdd(as.ExpIntBin("i"), as.ExpIntVal(1))
	r, err := c.Operate(writePolicy(), k, as.ExpReadOp("r", next, 0), as.ExpWriteOp("i", next, 0), as.ExpReadOp("r", next, 0),
		as.ExpReadOp("l", as.ExpListSize(as.ExpListAppend(as.DefaultListPolicy(), next, as.ExpListBin("l"))), 0),
		as.ExpReadOp("m", as.ExpMapGetByKey(as.MapReturnType.VALUE, as.ExpTypeINT, as.ExpStringVal("a"), as.ExpMapBin("m")), 0))
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"r": []any{8, 9}, "i": nil, "l": 4, "m": 5}, r.Bins)
	require.EqualValues(t, 2, r.Generation)

	const create, update, remove, policyNoFail, evalNoFail = as.ExpWriteFlagCreateOnly, as.ExpWriteFlagUpdateOnly, as.ExpWriteFlagAllowDelete, as.ExpWriteFlagPolicyNoFail, as.ExpWriteFlagEvalNoFail
	unknown, none := as.ExpIntBin("none"), as.ExpNilValue()
	for _, x := range []struct {
		bin   string
		x     *as.Expression
		flags as.ExpWriteFlags
		want  types.ResultCode
	}{
		{"i", next, create, types.BIN_EXISTS_ERROR},
		{"i", next, create | policyNoFail, types.OK},
		{"new", next, update, types.BIN_NOT_FOUND},
		{"new", next, update | policyNoFail, types.OK},
		{"i", unknown, 0, types.OP_NOT_APPLICABLE},
		{"i", unknown, evalNoFail, types.OK},
		{"i", none, 0, types.OP_NOT_APPLICABLE},
		{"l", none, remove, types.OK},
		{"l", none, 0, types.OK},
		{"i", next, 32, types.PARAMETER_ERROR},
		{"i", as.ExpWildCardValue(), 0, types.PARAMETER_ERROR},
	} {
		_, err = c.Operate(writePolicy(), k, as.ExpWriteOp(x.bin, x.x, x.flags))
		require.Equal(t, x.want, codeOf(err), "%+v", x)
	}
	r, err = c.Get(readPolicy(), k)
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"i": 8, "m": map[any]any{"a": 5}}, r.Bins)
	_, err = c.Operate(writePolicy(), k, as.ExpReadOp("r", unknown, 0))
	require.Equal(t, types.OP_NOT_APPLICABLE, codeOf(err))
	r, err = c.Operate(writePolicy(), k, as.ExpReadOp("r", unknown, as.ExpReadFlagEvalNoFail))
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"r": nil}, r.Bins)
}

func TestExpressionsSeeTheClock(t *testing.T) {
	srv, c := start(t)
	k := key(t, 1)
	w := writePolicy()
	w.Expiration = 1000
	require.NoError(t, asError(c.PutBins(w, k, as.NewBin("a", 1))))
	old := as.ExpReadOp("old", as.ExpGreaterEq(as.ExpSinceUpdate(), as.ExpIntVal(500_000)), 0)
	left := as.ExpReadOp("left", as.ExpGreater(as.ExpTTL(), as.ExpIntVal(600)), 0)
	r, err := c.Operate(writePolicy(), k, old, left)
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"old": false, "left": true}, r.Bins)
	srv.Advance(500 * time.Second)
	r, err = c.Operate(writePolicy(), k, old, left)
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"old": true, "left": false}, r.Bins)
}

func TestBlobAndSketchOperations(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	bit, sketch := as.DefaultBitPolicy(), as.DefaultHLLPolicy()
	r, err := c.Operate(writePolicy(), k, as.BitResizeOp(bit, "b", 2, 0), as.BitSetIntOp(bit, "b", 4, 8, 0xab), as.BitCountOp("b", 0, 16), as.BitGetOp("b", 4, 8), as.GetBinOp("b"))
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"b": []any{nil, nil, 5, []byte{0xab}, []byte{0x0a, 0xb0}}}, r.Bins)
	_, err = c.Operate(writePolicy(), k, as.BitNotOp(bit, "b", 12, 8))
	require.Equal(t, types.OP_NOT_APPLICABLE, codeOf(err))
	r, err = c.Operate(writePolicy(), k, as.HLLAddOp(sketch, "h", []as.Value{as.NewValue("a"), as.NewValue("b"), as.NewValue("a")}, 8, 0), as.HLLGetCountOp("h"), as.HLLDescribeOp("h"))
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"h": []any{2, 2, []any{8, 0}}}, r.Bins)
	r, err = c.Get(readPolicy(), k, "h")
	require.NoError(t, asError(err))
	h := r.Bins["h"].(as.HLLValue)
	put(t, c, key(t, 2), as.NewBin("h", h))
	r, err = c.Operate(writePolicy(), key(t, 2), as.HLLGetUnionCountOp("h", []as.HLLValue{h}))
	require.NoError(t, asError(err))
	require.Equal(t, as.BinMap{"h": 2}, r.Bins)
	require.Equal(t, types.PARAMETER_ERROR, codeOf(c.PutBins(writePolicy(), k, as.NewBin("h", h[:5]))))
}
