package aerospiketest_test

import (
	"strings"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// info asks one node.
func info(t testing.TB, n *as.Node, command string) string {
	t.Helper()
	m, err := n.RequestInfo(as.NewInfoPolicy(), command)
	require.NoError(t, asError(err))
	return m[command]
}

func TestBackgroundJobIsHeldShownAndDone(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 3})
	const n = 60
	for i := range n {
		put(t, c, key(t, i), as.NewBin("id", i))
	}
	put(t, c, keyIn(t, "other", 1), as.NewBin("id", 1))
	index(t, c, "i", "id", as.NUMERIC, as.ICT_DEFAULT)
	held := s.Hold(aerospiketest.Match{Kinds: aerospiketest.KindJob})
	st := statement(as.NewRangeFilter("id", 10, 19))
	st.TaskId = 4711 // otherwise the driver asks for another number than it sent
	task, err := c.QueryExecute(queryPolicy(), writePolicy(), st, as.PutOp(as.NewBin("v", 1)))
	require.NoError(t, asError(err))
	require.NoError(t, held.Wait(soon(t), 3))
	done, err := task.IsDone()
	require.NoError(t, asError(err))
	require.False(t, done)
	line := info(t, c.GetNodes()[0], "query-show:trid=4711")
	require.Contains(t, line, "trid=4711:ns=test:set=s:sindex-name=i:")
	require.Contains(t, line, "status=active(ok)")
	held.Release()
	require.NoError(t, asError(<-task.OnComplete()))
	sum := 0
	for _, node := range c.GetNodes() {
		line := info(t, node, "query-show:trid=4711")
		require.Contains(t, line, "status=done(ok):job-progress=100.00")
		require.Contains(t, line, "job-type=background-ops")
		for part := range strings.SplitSeq(line, ":") {
			if v, ok := strings.CutPrefix(part, "recs-succeeded="); ok {
				sum += number(t, v)
			}
		}
	}
	require.Equal(t, 10, sum)
	for i := range n {
		r, err := c.Get(readPolicy(), key(t, i))
		require.NoError(t, asError(err))
		if i >= 10 && i < 20 {
			require.Equal(t, 1, r.Bins["v"])
			require.EqualValues(t, 2, r.Generation, "once, though several nodes work")
		} else {
			require.Nil(t, r.Bins["v"])
		}
	}
	require.EqualValues(t, 3, s.Stats().Count(aerospiketest.KindBackground))
}

func TestBackgroundJobCanBeAborted(t *testing.T) {
	s, c := start(t)
	put(t, c, key(t, 1), as.NewBin("id", 1))
	node := c.GetNodes()[0]
	held := s.Hold(aerospiketest.Match{Kinds: aerospiketest.KindJob})
	st := statement(nil)
	st.TaskId = 5
	task, err := c.QueryExecute(queryPolicy(), writePolicy(), st, as.DeleteOp())
	require.NoError(t, asError(err))
	_, err = c.QueryExecute(queryPolicy(), writePolicy(), st, as.DeleteOp())
	require.Equal(t, types.PARAMETER_ERROR, codeOf(err), "the number is taken")
	require.NoError(t, held.Wait(soon(t), 1))
	require.Equal(t, "ERROR:2:job not found", info(t, node, "query-abort:trid=6"))
	require.Equal(t, "ERROR:4:bad parameter", info(t, node, "query-abort:trid=x"))
	require.Equal(t, "ok", info(t, node, "query-abort:trid=5"))
	require.NoError(t, asError(<-task.OnComplete()))
	require.Contains(t, info(t, node, "query-show"), "trid=5:ns=test:set=s:")
	require.Contains(t, info(t, node, "query-show:trid=5"), "status=done(user-aborted)")
	require.Equal(t, "number-of-queries-killed:0", info(t, node, "query-abort-all:"))
	require.Equal(t, 1, s.Records("test", "s"))
	held.Release()
}

func TestBackgroundJobWithARateEndsWithItsNode(t *testing.T) {
	s, c := start(t)
	for i := range 3 {
		put(t, c, key(t, i), as.NewBin("id", i))
	}
	p := queryPolicy()
	p.RecordsPerSecond = 1 // so the first record waits for a second
	_, err := c.QueryExecute(p, writePolicy(), statement(nil), as.PutOp(as.NewBin("v", 1)))
	require.NoError(t, asError(err))
	s.Node(0).Kill() // returns when the job has ended
	require.NoError(t, s.Node(0).Restart())
}

func TestScanCanBeAborted(t *testing.T) {
	s, c := start(t)
	for i := range 40 {
		put(t, c, key(t, i), as.NewBin("id", i))
	}
	p := scanPolicy()
	p.RecordsPerSecond, p.MaxRetries = 1, 0
	rs, err := c.ScanAll(p, "test", "s")
	require.NoError(t, asError(err))
	first := <-rs.Results()
	require.NoError(t, asError(first.Err))
	require.Contains(t, info(t, c.GetNodes()[0], "query-show"), "job-type=basic")
	require.Equal(t, "number-of-queries-killed:1", info(t, c.GetNodes()[0], "query-abort-all:"))
	aborted := false
	for r := range rs.Results() {
		aborted = aborted || r.Err != nil && r.Err.Matches(types.SCAN_ABORT)
	}
	require.True(t, aborted)
	require.EqualValues(t, 1, s.Stats().Results[aerospiketest.CodeScanAbort])
}
