package aerospiketest_test

import (
	"fmt"
	"slices"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// index defines an index and waits for it.
func index(t testing.TB, c *as.Client, name, bin string, typ as.IndexType, col as.IndexCollectionType, ctx ...*as.CDTContext) {
	t.Helper()
	task, err := c.CreateComplexIndex(writePolicy(), "test", "s", name, bin, typ, col, ctx...)
	require.NoError(t, asError(err))
	require.NoError(t, asError(<-task.OnComplete()))
}

func queryPolicy() *as.QueryPolicy {
	p := as.NewQueryPolicy()
	p.TotalTimeout, p.SocketTimeout = patience, patience
	return p
}

func statement(f *as.Filter, bins ...string) *as.Statement {
	st := as.NewStatement("test", "s", bins...)
	_ = st.SetFilter(f) // never fails
	return st
}

// found collects the bin "id" of a stream's records in ascending order, and its
// first error.
func found(rs *as.Recordset, err as.Error) (out []int, _ as.Error) {
	if err != nil {
		return nil, err
	}
	for r := range rs.Results() {
		if r.Err != nil {
			err = r.Err
			continue
		}
		out = append(out, r.Record.Bins["id"].(int))
	}
	slices.Sort(out)
	return out, err
}

func numbers(from, to int) (out []int) {
	for i := from; i <= to; i++ {
		out = append(out, i)
	}
	return out
}

func TestQueryFindsByEveryKindOfIndex(t *testing.T) {
	_, c := start(t, aerospiketest.Config{Nodes: 3})
	for i := range 20 {
		put(t, c, key(t, i), as.NewBin("id", i), as.NewBin("s", fmt.Sprint("s", i%4)), as.NewBin("b", []byte{byte(i % 3)}),
			as.NewBin("l", []any{i, "x", []any{i % 5, i}}), as.NewBin("m", map[any]any{"a": i, fmt.Sprint("k", i%2): "y"}))
	}
	put(t, c, keyIn(t, "other", 1), as.NewBin("id", 5))
	put(t, c, key(t, "odd"), as.NewBin("id", "text"), as.NewBin("l", 7), as.NewBin("m", "no map"))
	index(t, c, "i_id", "id", as.NUMERIC, as.ICT_DEFAULT)
	index(t, c, "i_s", "s", as.STRING, as.ICT_DEFAULT)
	index(t, c, "i_b", "b", as.BLOB, as.ICT_DEFAULT)
	index(t, c, "i_l", "l", as.NUMERIC, as.ICT_LIST)
	index(t, c, "i_ls", "l", as.STRING, as.ICT_LIST)
	index(t, c, "i_k", "m", as.STRING, as.ICT_MAPKEYS)
	index(t, c, "i_v", "m", as.NUMERIC, as.ICT_MAPVALUES)
	nested := []*as.CDTContext{as.CtxListIndex(2)}
	index(t, c, "i_n", "l", as.NUMERIC, as.ICT_LIST, nested...)
	index(t, c, "i_a", "m", as.NUMERIC, as.ICT_DEFAULT, as.CtxMapKey(as.NewValue("a")))
	for name, x := range map[string]struct {
		filter *as.Filter
		want   []int
	}{
		"equal":          {as.NewEqualFilter("id", 7), []int{7}},
		"range":          {as.NewRangeFilter("id", 5, 9), numbers(5, 9)},
		"negative range": {as.NewRangeFilter("id", -5, 1), []int{0, 1}},
		"string":         {as.NewEqualFilter("s", "s3"), []int{3, 7, 11, 15, 19}},
		"no such string": {as.NewEqualFilter("s", ""), nil},
		"blob":           {as.NewEqualFilter("b", []byte{2}), []int{2, 5, 8, 11, 14, 17}},
		"list":           {as.NewContainsFilter("l", as.ICT_LIST, 4), []int{4}},
		"list range":     {as.NewContainsRangeFilter("l", as.ICT_LIST, 18, 30), []int{18, 19}},
		"list string":    {as.NewContainsFilter("l", as.ICT_LIST, "x"), numbers(0, 19)},
		"map keys":       {as.NewContainsFilter("m", as.ICT_MAPKEYS, "k1"), []int{1, 3, 5, 7, 9, 11, 13, 15, 17, 19}},
		"map values":     {as.NewContainsRangeFilter("m", as.ICT_MAPVALUES, 3, 5), numbers(3, 5)},
		"nested list":    {&as.Filter{}, nil},
		"map by context": {as.NewRangeFilter("m", 3, 5, as.CtxMapKey(as.NewValue("a"))), numbers(3, 5)},
	} {
		if name == "nested list" {
			x.filter, x.want = as.NewContainsFilter("l", as.ICT_LIST, 4, nested...), []int{4, 9, 14, 19}
		}
		got, err := found(c.Query(queryPolicy(), statement(x.filter, "id")))
		require.NoError(t, asError(err), name)
		require.Equal(t, x.want, got, name)
	}
	short := queryPolicy()
	short.ExpectedDuration = as.SHORT
	got, err := found(c.Query(short, statement(as.NewRangeFilter("id", 3, 4), "id")))
	require.NoError(t, asError(err))
	require.Equal(t, []int{3, 4}, got)
	none := queryPolicy()
	none.IncludeBinData = false
	rs, err := c.Query(none, statement(as.NewEqualFilter("id", 4)))
	require.NoError(t, asError(err))
	n := 0
	for r := range rs.Results() { // to the end: the driver must not be closed before
		require.NoError(t, asError(r.Err))
		require.Empty(t, r.Record.Bins)
		n++
	}
	require.Equal(t, 1, n)
}

func TestQueryIsSentOnceOnWhateverPage(t *testing.T) {
	_, c := start(t, aerospiketest.Config{Nodes: 2})
	const n = 50
	for i := range n {
		put(t, c, key(t, i), as.NewBin("id", i), as.NewBin("l", []any{i % 3, i % 5, i % 7}))
	}
	index(t, c, "i", "l", as.NUMERIC, as.ICT_LIST)
	for _, page := range []int64{1, 7, 100} {
		pf := as.NewPartitionFilterAll()
		var all []int
		for !pf.IsDone() {
			p := queryPolicy()
			p.MaxRecords = page
			got, err := found(c.QueryPartitions(p, statement(as.NewContainsRangeFilter("l", as.ICT_LIST, 0, 6), "id"), pf))
			require.NoError(t, asError(err))
			require.LessOrEqual(t, len(got), int(page))
			all = append(all, got...)
		}
		slices.Sort(all)
		require.Equal(t, numbers(0, n-1), all, page)
	}
}

func TestQueryOfOneNodeAndOfPartitions(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 2})
	for i := range 40 {
		put(t, c, key(t, i), as.NewBin("id", i))
	}
	index(t, c, "i", "id", as.NUMERIC, as.ICT_DEFAULT)
	var all []int
	for _, n := range c.GetNodes() {
		got, err := found(c.QueryNode(queryPolicy(), n, statement(as.NewRangeFilter("id", 0, 30))))
		require.NoError(t, asError(err))
		require.NotEmpty(t, got)
		all = append(all, got...)
	}
	slices.Sort(all)
	require.Equal(t, numbers(0, 30), all)
	low, err := found(c.QueryPartitions(queryPolicy(), statement(as.NewRangeFilter("id", 0, 39)), as.NewPartitionFilterByRange(0, 2048)))
	require.NoError(t, asError(err))
	high, err := found(c.QueryPartitions(queryPolicy(), statement(as.NewRangeFilter("id", 0, 39)), as.NewPartitionFilterByRange(2048, 2048)))
	require.NoError(t, asError(err))
	require.Len(t, append(low, high...), 40)
	require.NotZero(t, s.Stats().Count(aerospiketest.KindQuery))
}

func TestQueryFailsAsARealOneDoes(t *testing.T) {
	_, c := start(t)
	put(t, c, key(t, 1), as.NewBin("id", 1))
	index(t, c, "i", "id", as.NUMERIC, as.ICT_DEFAULT)
	code := func(st *as.Statement) types.ResultCode {
		p := queryPolicy()
		p.MaxRetries = 0
		_, err := found(c.Query(p, st))
		for _, want := range []types.ResultCode{types.INDEX_NOTFOUND, types.PARAMETER_ERROR, types.INVALID_NAMESPACE} {
			if err != nil && err.Matches(want) {
				return want
			}
		}
		return codeOf(err)
	}
	require.Equal(t, types.OK, code(statement(as.NewEqualFilter("id", 1))))
	require.Equal(t, types.INDEX_NOTFOUND, code(statement(as.NewEqualFilter("other", 1))))
	require.Equal(t, types.INDEX_NOTFOUND, code(statement(as.NewEqualFilter("id", "1"))))
	require.Equal(t, types.INDEX_NOTFOUND, code(statement(as.NewContainsFilter("id", as.ICT_LIST, 1))))
	require.Equal(t, types.PARAMETER_ERROR, code(statement(as.NewRangeFilter("id", 2, 1))))
	st := statement(as.NewEqualFilter("id", 1))
	st.SetName = "elsewhere"
	require.Equal(t, types.INDEX_NOTFOUND, code(st))
	require.NoError(t, asError(c.DropIndex(writePolicy(), "test", "s", "i")))
	require.Equal(t, types.INDEX_NOTFOUND, code(statement(as.NewEqualFilter("id", 1))))
}

func TestQueryByAnIndexOfTheWholeNamespace(t *testing.T) {
	_, c := start(t)
	put(t, c, key(t, 1), as.NewBin("id", 1))
	put(t, c, keyIn(t, "other", 1), as.NewBin("id", 2))
	task, err := c.CreateIndex(writePolicy(), "test", "", "all", "id", as.NUMERIC)
	require.NoError(t, asError(err))
	require.NoError(t, asError(<-task.OnComplete()))
	got, err := found(c.Query(queryPolicy(), statement(as.NewRangeFilter("id", 0, 9))))
	require.NoError(t, asError(err))
	require.Equal(t, []int{1}, got)
	st := statement(as.NewRangeFilter("id", 0, 9))
	st.SetName = ""
	got, err = found(c.Query(queryPolicy(), st))
	require.NoError(t, asError(err))
	require.Equal(t, []int{1, 2}, got)
}

func TestQueryByRegion(t *testing.T) {
	_, c := start(t, aerospiketest.Config{Nodes: 2})
	for i := range 10 {
		point := as.NewGeoJSONValue(fmt.Sprintf(`{"type":"Point","coordinates":[%d,0]}`, i))
		put(t, c, key(t, i), as.NewBin("id", i), as.NewBin("p", point), as.NewBin("l", []any{point}))
	}
	index(t, c, "i_p", "p", as.GEO2DSPHERE, as.ICT_DEFAULT)
	index(t, c, "i_l", "l", as.GEO2DSPHERE, as.ICT_LIST)
	region := `{"type":"Polygon","coordinates":[[[2.5,-1],[5.5,-1],[5.5,1],[2.5,1],[2.5,-1]]]}`
	got, err := found(c.Query(queryPolicy(), statement(as.NewGeoWithinRegionFilter("p", region), "id")))
	require.NoError(t, asError(err))
	require.Equal(t, numbers(3, 5), got)
	got, err = found(c.Query(queryPolicy(), statement(as.NewGeoWithinRegionForCollectionFilter("l", as.ICT_LIST, region), "id")))
	require.NoError(t, asError(err))
	require.Equal(t, numbers(3, 5), got)
	_, err = found(c.Query(queryPolicy(), statement(as.NewGeoWithinRegionFilter("p", "nowhere"), "id")))
	require.True(t, err.Matches(types.PARAMETER_ERROR))
}
