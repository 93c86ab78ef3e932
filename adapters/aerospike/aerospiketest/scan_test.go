package aerospiketest_test

import (
	"sort"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// fill writes n records with an id.
func fill(t testing.TB, c *as.Client, n int) {
	t.Helper()
	p := writePolicy()
	p.SendKey = true
	for i := range n {
		require.NoError(t, asError(c.PutBins(p, key(t, i), as.NewBin("id", i), as.NewBin("pad", make([]byte, 200)))))
	}
}

// ids drains a recordset and returns the ids it saw, sorted.
func ids(t testing.TB, rs *as.Recordset, err as.Error) []int {
	t.Helper()
	require.NoError(t, asError(err))
	var l []int
	for res := range rs.Results() {
		require.NoError(t, asError(res.Err))
		if id, ok := res.Record.Bins["id"].(int); ok {
			l = append(l, id)
		} else {
			l = append(l, int(res.Record.Key.Value().GetObject().(int64)))
		}
	}
	sort.Ints(l)
	return l
}

func upTo(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

func TestScanReturnsEveryRecordOfASetOnce(t *testing.T) {
	_, c := start(t, aerospiketest.Config{Nodes: 3})
	fill(t, c, 500)
	put(t, c, keyIn(t, "other", 1), as.NewBin("id", 1000))
	rs, err := c.ScanAll(scanPolicy(), "test", "s")
	require.Equal(t, upTo(500), ids(t, rs, err))
	rs, err = c.ScanAll(scanPolicy(), "test", "s", "id")
	require.Equal(t, upTo(500), ids(t, rs, err))
	rs, err = c.ScanAll(scanPolicy(), "test", "s", "nope")
	require.Empty(t, ids(t, rs, err))
	p := scanPolicy()
	p.IncludeBinData = false
	rs, err = c.ScanAll(p, "test", "s")
	require.Equal(t, upTo(500), ids(t, rs, err))
	rs, err = c.Query(as.NewQueryPolicy(), as.NewStatement("test", "s"))
	require.Equal(t, upTo(500), ids(t, rs, err))
	rs, err = c.ScanAll(scanPolicy(), "test", "")
	require.Len(t, ids(t, rs, err), 501)
}

func TestScanResumesFromACursor(t *testing.T) {
	_, c := start(t, aerospiketest.Config{Nodes: 3})
	fill(t, c, 100)
	pf := as.NewPartitionFilterAll()
	var all []int
	for !pf.IsDone() {
		p := scanPolicy()
		p.MaxRecords = 7
		rs, err := c.ScanPartitions(p, pf, "test", "s")
		page := ids(t, rs, err)
		require.LessOrEqual(t, len(page), 7)
		all = append(all, page...)
		cursor, cerr := pf.EncodeCursor()
		require.NoError(t, cerr)
		done := pf.IsDone()
		pf = as.NewPartitionFilterAll()
		require.NoError(t, asError(pf.DecodeCursor(cursor)))
		pf.Done = done
	}
	sort.Ints(all)
	require.Equal(t, upTo(100), all)
}

func TestScanOfPartitionsAndNodes(t *testing.T) {
	_, c := start(t, aerospiketest.Config{Nodes: 3})
	fill(t, c, 60)
	var halves, nodes []int
	for _, begin := range []int{0, 2048} {
		rs, err := c.ScanPartitions(scanPolicy(), as.NewPartitionFilterByRange(begin, 2048), "test", "s")
		halves = append(halves, ids(t, rs, err)...)
	}
	sort.Ints(halves)
	require.Equal(t, upTo(60), halves)
	for _, n := range c.GetNodes() {
		rs, err := c.ScanNode(scanPolicy(), n, "test", "s")
		nodes = append(nodes, ids(t, rs, err)...)
	}
	sort.Ints(nodes)
	require.Equal(t, upTo(60), nodes)
}

func TestScanCanBeBrokenOff(t *testing.T) {
	_, c := start(t)
	fill(t, c, 2000)
	p := scanPolicy()
	p.RecordQueueSize = 1
	rs, err := c.ScanAll(p, "test", "s")
	require.NoError(t, asError(err))
	for range 4 {
		require.NotNil(t, <-rs.Results())
	}
	closed := make(chan as.Error, 1)
	go func() { closed <- rs.Close() }()
	for range rs.Results() { // the driver's Close may wait for a full queue
	}
	require.NoError(t, asError(<-closed))
	_, err = c.Get(readPolicy(), key(t, 1))
	require.NoError(t, asError(err))
}

func TestScanKeepsToItsRate(t *testing.T) {
	_, c := start(t)
	fill(t, c, 40)
	p := scanPolicy()
	p.RecordsPerSecond = 200
	begin := time.Now()
	rs, err := c.ScanAll(p, "test", "s")
	require.Equal(t, upTo(40), ids(t, rs, err))
	require.Greater(t, time.Since(begin), 100*time.Millisecond)
}
