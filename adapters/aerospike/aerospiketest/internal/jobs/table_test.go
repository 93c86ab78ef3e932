package jobs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/jobs"
)

func TestTableNumbersShowsAndForgetsJobs(t *testing.T) {
	var table jobs.Table
	a := &jobs.Job{Kind: jobs.Basic, Namespace: "n", Set: "s", Index: "i", From: "1.2.3.4:5", PIDs: 2, Digests: 1, Partitions: 4}
	require.True(t, table.Start(a))
	require.EqualValues(t, 1, a.ID)
	require.False(t, table.Start(&jobs.Job{ID: 1}))
	two := &jobs.Job{ID: 2}
	require.True(t, table.Start(two))
	next := new(jobs.Job)
	require.True(t, table.Start(next), "a number of the table's own is one that is free")
	require.EqualValues(t, 3, next.ID)
	table.Finish(next, jobs.OK)
	table.Finish(two, jobs.OK)
	a.Visited.Add(1)
	line, ok := table.Show(1)
	require.True(t, ok)
	require.Contains(t, line, "trid=1:ns=n:set=s:sindex-name=i:n-pids-requested=3:n-keyds-requested=1:rps=0:active-threads=1:status=active(ok):job-progress=25.00:")
	require.Contains(t, line, ":from=1.2.3.4+5:job-type=basic:")
	require.True(t, table.Abort(1))
	require.True(t, table.Abort(1))
	require.True(t, a.Stopped())
	<-a.Aborted()
	table.Finish(a, jobs.OK)
	line, _ = table.Show(1)
	require.Contains(t, line, "status=done(user-aborted)")
	require.False(t, table.Abort(1))
	b := &jobs.Job{ID: 1}
	require.True(t, table.Start(b), "the number is free again")
	require.False(t, b.Stopped())
	line, _ = table.Show(1)
	require.Contains(t, line, "status=active(ok)")
	require.Equal(t, 1, table.AbortAll())
	table.Finish(b, jobs.Failed)
	for range 200 {
		j := new(jobs.Job)
		require.True(t, table.Start(j))
		table.Finish(j, jobs.OK)
	}
	require.Equal(t, 100, strings.Count(table.ShowAll(), "trid="))
	_, ok = table.Show(1)
	require.False(t, ok)
	require.Zero(t, table.AbortAll())
}
