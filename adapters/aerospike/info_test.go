package aerospike_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// What servers answer when a command failed: see the recordings of a real one.
func TestInfoCode(t *testing.T) {
	for answer, want := range map[string]int{
		"ok": 0, "": 0, "true": 0, "false": 0, "filename=a.lua,hash=0,type=LUA;": 0, "failover=1": 0, "errors": 0,
		"ERROR:201:no index": 201, "ERROR:4": 4, "FAIL:201:NO INDEX": 201, "error=22=forbidden": 22, "Error:22": 22,
		"ERROR": 1, "FAIL": 1, "ERROR:": 1, "ERROR:no code": 1, "fail:-3:below zero": 1, "ERROR:0:none": 1,
	} {
		code, failed := aerospike.InfoCode(answer)
		require.Equal(t, want != 0, failed, answer)
		require.EqualValues(t, want, code, answer)
	}
}

// G-AER-2: the wait for an index that doesn't go away ends with its context, and so does
// what the wait holds. The driver's has no end.
func TestDropIndexEndsWithItsContext(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := untended(t, srv)
	drop := func(ctx context.Context, c *aerospike.Client) error { return c.DropIndex(ctx, nil, "test", "s", "ix") }
	create := func() {
		task, err := client.CreateIndex(patient(t), nil, "test", "s", "ix", "a", as.NUMERIC)
		require.NoError(t, err)
		require.NoError(t, task.Wait(patient(t)))
	}
	create()
	require.NoError(t, drop(patient(t), client))
	require.NoError(t, drop(patient(t), client), "one that there isn't")

	// The answer to "delete" comes, those to "exists" don't: of two nodes that are asked
	// whether they are there, one is told, and both are asked then.
	create()
	srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindInfo}, Skip: 3, Action: aerospiketest.ActionSwallow})
	ctx, cancel := context.WithTimeout(context.Background(), 10*short)
	defer cancel()
	err := drop(ctx, client)
	var left *aerospike.DetachedError
	require.ErrorAs(t, err, &left)
	require.Equal(t, "DropIndex", left.Op)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, spillway.OutcomeTimeout, spillway.OutcomeOf(err))
	balanced(t, client) // which waits for whoever goes on
}

// Without a deadline of its caller the wait has one all the same, and With(Budget) has its
// own.
func TestDropIndexWithoutADeadlineHasOne(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.ClientPolicy.TendInterval = time.Hour
		c.StreamTimeout = short
		c.Policies.Write = as.NewWritePolicy(0, 0)
		c.Policies.Write.TotalTimeout = short
	})
	brief, err := client.With(aerospike.Budget(short))
	require.NoError(t, err)
	for _, c := range []*aerospike.Client{client, brief} {
		task, err := client.CreateIndex(patient(t), nil, "test", "s", "ix", "a", as.NUMERIC)
		require.NoError(t, err)
		require.NoError(t, task.Wait(patient(t)))
		fault := srv.Inject(aerospiketest.Fault{
			Match: aerospiketest.Match{Kinds: aerospiketest.KindInfo}, Skip: 2, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeTimeout,
		})
		err = c.DropIndex(context.WithoutCancel(patient(t)), nil, "test", "s", "ix")
		var left *aerospike.DetachedError
		require.ErrorAs(t, err, &left, "a timeout of the server isn't the end of it")
		fault.Remove()
	}
	balanced(t, client)
}

// L-14: Ping is a round trip, to all nodes at once: one that hangs doesn't speak for the
// others, and nodes that are gone are no answer, whatever the driver still believes.
func TestPingAsksAllNodes(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3})
	client := untended(t, srv)
	for _, n := range srv.Nodes()[:2] {
		n.Pause()
	}
	require.True(t, client.Ping(patient(t)), "one of three")
	srv.Node(2).Pause()
	ctx, cancel := context.WithTimeout(context.Background(), short)
	defer cancel()
	require.False(t, client.Ping(ctx))
	for _, n := range srv.Nodes() {
		n.Resume()
	}
	require.True(t, client.Ping(patient(t)))
	balanced(t, client) // or an answer to a question of before may still be on its way
	require.NoError(t, client.Connect(patient(t)))
	for _, n := range srv.Nodes() {
		n.Kill()
	}
	ctx, cancel = context.WithTimeout(context.Background(), short)
	defer cancel()
	require.False(t, client.Ping(ctx))
	require.True(t, client.IsConnected(), "which asks nobody")
	balanced(t, client)
}

// However many ask for a node that hangs, it is asked once at a time, with one lease, so
// that the driver can go on tending it and Close waits for no more than that one.
func TestPingsOfANodeThatHangsAreOne(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := untended(t, srv)
	asked := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	first := make(chan bool, 1)
	go func() { first <- client.Ping(patient(t)) }()
	require.NoError(t, gate.Wait(patient(t), 1))
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(context.Background(), short)
	defer cancel()
	for range 60 { // one after the other: the first leaves as the others do
		require.False(t, client.Ping(ctx))
	}
	var all sync.WaitGroup
	for range 60 {
		all.Add(1)
		go func() {
			defer all.Done()
			ctx, cancel := context.WithTimeout(context.Background(), short)
			defer cancel()
			require.False(t, client.Ping(ctx))
		}()
	}
	all.Wait()
	require.EqualValues(t, 1, client.Snapshot().Connection.Leases)
	require.Less(t, runtime.NumGoroutine(), before+30, "those who went away are gone")
	require.Equal(t, 1, gate.Held())
	gate.Release()
	require.True(t, <-first)
	require.Equal(t, 1, asked.Len())
	require.True(t, client.Ping(patient(t)))
	balanced(t, client)
}

// A Ping that waits for the answer to another, whose time is over before its own, asks
// for itself then.
func TestPingOutlastsTheOneThatItWaitsFor(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := untended(t, srv)
	asked := srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindInfo}}) // which only counts
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	ctx, cancel := context.WithTimeout(context.Background(), short)
	defer cancel()
	hasty, longer := make(chan bool, 1), make(chan bool, 1)
	go func() { hasty <- client.Ping(ctx) }()
	require.NoError(t, gate.Wait(patient(t), 1))
	go func() { longer <- client.Ping(patient(t)) }()
	require.False(t, <-hasty)
	require.NoError(t, asked.Wait(patient(t), 2))
	gate.Release()
	require.True(t, <-longer)
	balanced(t, client)
}

// Close waits for the one question that is under way, not for one after the other of all
// who have asked.
func TestPingsOfANodeThatHangsDontOutlastClose(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.ClientPolicy.TendInterval = time.Hour
		c.DrainTimeout = 3 * time.Second
	})
	srv.Node(0).Pause()
	var all sync.WaitGroup
	for range 60 {
		all.Add(1)
		go func() {
			defer all.Done()
			ctx, cancel := context.WithTimeout(context.Background(), short)
			defer cancel()
			require.False(t, client.Ping(ctx))
		}()
	}
	all.Wait()
	require.NoError(t, client.Close(patient(t)))
	require.False(t, client.Ping(patient(t)))
	srv.Node(0).Resume()
}

// T-16: a task isn't done because a node can't say so. The driver takes an error for the
// removal of a module, and one whose code begins with a 2 for the end of a job.
func TestTaskIsNotDoneByAnError(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := untended(t, srv)
	_, err := client.RegisterUDF(patient(t), nil, []byte("function f(r) return 1 end"), "m.lua", as.LUA)
	require.NoError(t, err)
	removed, err := client.RemoveUDF(patient(t), nil, "m.lua")
	require.NoError(t, err)
	job, err := client.QueryExecute(patient(t), nil, nil, statement(), as.TouchOp())
	require.NoError(t, err)
	driver := raw(t, srv, func(p *as.ClientPolicy) { p.TendInterval = time.Hour })
	theirs := as.NewRemoveTask(driver.Cluster(), "m.lua")
	fault := aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindInfo}, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden}
	injected := srv.Inject(fault)
	done, aerr := theirs.IsDone()
	require.Nil(t, aerr)
	require.True(t, done, "the fault that this test is about is gone from the driver")
	theirJob := as.NewExecuteTask(driver.Cluster(), statement(), 1)
	done, aerr = theirJob.IsDone()
	require.Nil(t, aerr)
	require.True(t, done, "the fault that this test is about is gone from the driver")
	injected.Remove()

	fault.Skip, fault.Times = 1, 1
	for _, task := range []*aerospike.Task{removed, job} {
		injected := srv.Inject(fault)
		done, err := task.Done(patient(t))
		var ours *aerospike.Error
		require.ErrorAs(t, err, &ours)
		require.EqualValues(t, aerospiketest.CodeForbidden, ours.Code)
		require.False(t, done)
		injected.Remove()
		require.NoError(t, task.Wait(patient(t)))
	}
	balanced(t, client)
}

// The driver takes an error for a list of one module that has no name.
func TestListUDFTellsErrors(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := untended(t, srv)
	driver := raw(t, srv, func(p *as.ClientPolicy) { p.TendInterval = time.Hour })
	list, err := client.ListUDF(patient(t), nil)
	require.NoError(t, err)
	require.Empty(t, list)
	_, err = client.RegisterUDF(patient(t), nil, []byte("function f(r) return 1 end"), "m.lua", as.LUA)
	require.NoError(t, err)
	list, err = client.ListUDF(patient(t), nil)
	require.NoError(t, err)
	theirs, aerr := driver.ListUDF(nil)
	require.Nil(t, aerr)
	require.Equal(t, theirs, list)
	require.Len(t, list, 1)

	srv.Inject(aerospiketest.Fault{
		Match: aerospiketest.Match{Kinds: aerospiketest.KindInfo}, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden,
	})
	theirs, aerr = driver.ListUDF(nil)
	require.Nil(t, aerr)
	require.Len(t, theirs, 1, "the fault that this test is about is gone from the driver")
	require.Empty(t, theirs[0].Filename)
	_, err = client.ListUDF(patient(t), nil)
	require.Error(t, err)
}
