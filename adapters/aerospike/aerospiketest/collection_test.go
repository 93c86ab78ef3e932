package aerospiketest_test

import (
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"
)

// operate carries out operations on one bin and returns what they answered.
func operate(t *testing.T, c *as.Client, k *as.Key, bin string, ops ...*as.Operation) []any {
	t.Helper()
	r, err := c.Operate(writePolicy(), k, ops...)
	require.NoError(t, asError(err))
	if v, ok := r.Bins[bin].(as.OpResults); ok {
		return v
	}
	return r.Bins[bin].([]any)
}

func TestListOperations(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	got := operate(t, c, k, "l",
		as.ListAppendOp("l", 3, 1, 2),
		as.ListGetByRankOp("l", -1, as.ListReturnTypeValue),
		as.ListGetByValueRangeOp("l", 1, 3, as.ListReturnTypeIndex),
		as.ListIncrementOp("l", 0, 4),
		as.ListSortOp("l", as.ListSortFlagsDefault),
		as.ListPopOp("l", 0),
		as.GetBinOp("l"))
	require.Equal(t, []any{3, 3, []any{1, 2}, 7, 1, []any{2, 7}}, got)
	unique := as.NewListPolicy(as.ListOrderUnordered, as.ListWriteFlagsAddUnique)
	_, err := c.Operate(writePolicy(), k, as.ListAppendWithPolicyOp(unique, "l", 7))
	require.Equal(t, types.FAIL_ELEMENT_EXISTS, codeOf(err))
	_, err = c.Operate(writePolicy(), k, as.ListGetOp("l", 2))
	require.Equal(t, types.OP_NOT_APPLICABLE, codeOf(err))
	_, err = c.Operate(writePolicy(), k, as.MapSizeOp("l"))
	require.Equal(t, types.BIN_TYPE_ERROR, codeOf(err))
}

func TestMapOperations(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	ordered := as.NewMapPolicyWithFlags(as.MapOrder.KEY_ORDERED, as.MapWriteFlagsDefault)
	got := operate(t, c, k, "m",
		as.MapPutItemsOp(ordered, "m", map[any]any{"b": 2, "a": 3, "c": 1}),
		as.MapGetByKeyOp("m", "b", as.MapReturnType.VALUE),
		as.MapGetByRankRangeOp("m", 0, as.MapReturnType.KEY),
		as.MapRemoveByKeyListOp("m", []any{"a", "x"}, as.MapReturnType.COUNT),
		as.MapGetByIndexRangeOp("m", 0, as.MapReturnType.KEY_VALUE))
	pairs := []as.MapPair{{Key: "b", Value: 2}, {Key: "c", Value: 1}}
	require.Equal(t, []any{3, 2, []any{"c", "b", "a"}, 1, pairs}, got)
	createOnly := as.NewMapPolicyWithFlags(as.MapOrder.KEY_ORDERED, as.MapWriteFlagsCreateOnly)
	_, err := c.Operate(writePolicy(), k, as.MapPutOp(createOnly, "m", "b", 1))
	require.Equal(t, types.FAIL_ELEMENT_EXISTS, codeOf(err))
	_, err = c.Operate(writePolicy(), k, as.MapPutOp(ordered, "m", 1.5, 1))
	require.Equal(t, types.PARAMETER_ERROR, codeOf(err))
	bad := c.PutBins(writePolicy(), k, as.NewBin("m", map[any]any{1.5: 1}))
	require.Equal(t, types.SERVER_ERROR, codeOf(bad))
}

func TestCollectionContexts(t *testing.T) {
	_, c := start(t)
	k := key(t, 1)
	made := as.CtxMapKeyCreate(as.NewValue("k"), as.MapOrder.KEY_ORDERED)
	inner := as.CtxListIndexCreate(1, as.ListOrderUnordered, true)
	got := operate(t, c, k, "m",
		as.ListAppendWithPolicyContextOp(as.DefaultListPolicy(), "m", []*as.CDTContext{made, inner}, "x"),
		as.ListSizeOp("m", as.CtxMapKey(as.NewValue("k"))),
		as.ListGetOp("m", 0, as.CtxMapIndex(0), as.CtxListRank(-1)))
	require.Equal(t, []any{1, 2, "x"}, got)
	_, err := c.Operate(writePolicy(), k, as.ListSizeOp("m", as.CtxMapKey(as.NewValue("nope"))))
	require.Equal(t, types.OP_NOT_APPLICABLE, codeOf(err))
}

func TestCollectionReadsInABatch(t *testing.T) {
	_, c := start(t)
	put(t, c, key(t, 1), as.NewBin("l", []any{1, 2}))
	b := as.NewBatchReadOps(nil, key(t, 1), as.ListSizeOp("l"))
	require.NoError(t, asError(c.BatchOperate(as.NewBatchPolicy(), []as.BatchRecordIfc{b})))
	require.Equal(t, as.BinMap{"l": 2}, b.BatchRec().Record.Bins)
}
