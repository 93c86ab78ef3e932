package aerospike_test

import (
	"context"
	"sync"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// Fact 12: the driver sends the id 0 with a job and asks for another, so that a job
// which has not begun is done. Ours has an id, and waits.
func TestFactJobIsDoneAtOnce(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	driver := raw(t, srv)
	fill(t, client, 20)
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindJob})
	begun, aerr := driver.QueryExecute(nil, nil, statement(), as.PutOp(as.NewBin("b", 1)))
	require.Nil(t, aerr)
	require.NoError(t, gate.Wait(patient(t), 1))
	done, aerr := begun.IsDone()
	require.Nil(t, aerr)
	require.True(t, done, "the fault that this test is about is gone from the driver")

	task, err := client.QueryExecute(patient(t), nil, nil, statement(), as.PutOp(as.NewBin("c", 1)))
	require.NoError(t, err)
	require.NotZero(t, task.ID())
	require.NoError(t, gate.Wait(patient(t), 2))
	done, err = task.Done(patient(t))
	require.NoError(t, err)
	require.False(t, done)
	ctx, cancel := context.WithTimeout(context.Background(), short)
	defer cancel()
	require.ErrorIs(t, task.Wait(ctx), context.DeadlineExceeded)
	gate.Release()
	require.NoError(t, task.Wait(patient(t)))
	rec, err := client.Get(patient(t), nil, newKey(t, 1))
	require.NoError(t, err)
	require.Equal(t, 1, rec.Bins["c"])
	idle(t, client)
}

// Fact 13: a node that can't be reached is, for what administers, one that answered: a
// list is empty and a user is created. Ours asks first whether it is there.
func TestFactAdministrationOfAnUnreachableNode(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	driver := raw(t, srv)
	client := connect(t, srv)
	srv.Node(0).Kill()
	silent := false
	for range 5 {
		_, aerr := driver.QueryUsers(nil)
		silent = silent || aerr == nil
	}
	require.True(t, silent, "the fault that this test is about is gone from the driver")
	for range 5 {
		_, err := client.QueryUsers(patient(t), nil)
		require.Error(t, err)
		require.Error(t, client.DropUser(patient(t), nil, "u"))
	}
	idle(t, client)
}

// The driver sends a malformed message for a statement with an index name.
func TestFactStatementWithAnIndexName(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	put(t, client, newKey(t, 1), as.BinMap{"a": 1})
	index, err := client.CreateIndex(patient(t), nil, "test", "s", "ix", "a", as.NUMERIC)
	require.NoError(t, err)
	require.NoError(t, index.Wait(patient(t)))
	st := statement()
	require.Nil(t, st.SetFilter(as.NewRangeFilter("a", 0, 5)))
	require.NoError(t, drained(client.Query(patient(t), nil, st)))
	st.IndexName = "ix"
	rs, aerr := raw(t, srv).Query(nil, st)
	require.Nil(t, aerr)
	result := <-rs.Results()
	require.NotNil(t, result.Err, "the fault that this test is about is gone from the driver")
	require.Nil(t, rs.Close())
	_, err = client.Query(patient(t), nil, st)
	require.ErrorContains(t, err, `statement.IndexName is "ix": must be empty`)
	require.NoError(t, client.DropIndex(patient(t), nil, "test", "s", "ix"))
	idle(t, client)
}

// G-AER-2 for an index: its task can be waited for, and asked for with a context.
func TestTaskEndsWithItsContext(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Lanes = aerospike.DefaultLanes(4)
		c.Lanes[4].Limit = 1
	})
	task, err := client.CreateComplexIndex(patient(t), nil, "test", "s", "ix", "l", as.STRING, as.ICT_LIST)
	require.NoError(t, err)
	require.Zero(t, task.ID())
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, task.Wait(ended), context.Canceled)
	_, err = task.Done(ended)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, task.Wait(patient(t)))
	require.NoError(t, client.Close(patient(t)))
	_, err = task.Done(patient(t))
	require.Error(t, err)
}

// Where there is no node to ask, nothing is known: what was begun isn't done for that.
func TestTaskOfAnEmptyCluster(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	task, err := client.CreateIndex(patient(t), nil, "test", "s", "ix", "a", as.NUMERIC)
	require.NoError(t, err)
	dead := aerospiketest.NewServer(t)
	dead.Node(0).Kill()
	policy := as.NewClientPolicy()
	policy.FailIfNotConnected, policy.Timeout = false, short
	hosts, aerr := as.NewHosts(dead.Hosts()...)
	require.Nil(t, aerr)
	empty, aerr := as.NewClientWithPolicyAndHost(policy, hosts...)
	require.NotNil(t, aerr)
	defer empty.Close()
	back := aerospike.Replace(client, empty)
	require.Empty(t, client.GetNodes())
	done, err := task.Done(patient(t))
	require.False(t, done)
	require.True(t, aerospike.IsOverload(err), "%v", err)
	require.Error(t, client.DropIndex(patient(t), nil, "test", "s", "ix"))
	back()
	require.NoError(t, task.Wait(patient(t)))
	idle(t, client)
}

// The default policies may be set while calls are under way, and outlast a reconnect.
func TestDefaultsConcurrentSafe(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	key := newKey(t, 1)
	put(t, client, key, as.BinMap{"a": 1})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 10 {
				if i%2 == 0 {
					client.SetDefaultPolicy(as.NewPolicy())
					client.SetDefaultWritePolicy(as.NewWritePolicy(0, 0))
					client.SetDefaultScanPolicy(as.NewScanPolicy())
					client.SetDefaultBatchPolicy(as.NewBatchPolicy())
					client.SetDefaultBatchDeletePolicy(as.NewBatchDeletePolicy())
					continue
				}
				_, err := client.Get(patient(t), nil, key)
				require.NoError(t, err)
				put(t, client, key, as.BinMap{"a": 1})
				_, err = client.BatchDelete(patient(t), nil, nil, []*as.Key{newKey(t, "other")})
				require.NoError(t, err)
			}
		}()
	}
	wg.Wait()
	only := as.NewWritePolicy(0, 0)
	only.RecordExistsAction = as.CREATE_ONLY
	client.SetDefaultWritePolicy(only)
	client.SetDefaultWritePolicy(nil) // changes nothing
	require.NoError(t, client.Close(patient(t)))
	require.NoError(t, client.Connect(patient(t)))
	require.Same(t, only, client.GetDefaultWritePolicy())
	err := client.Put(patient(t), nil, key, as.BinMap{"a": 2})
	require.ErrorIs(t, err, &as.AerospikeError{ResultCode: types.KEY_EXISTS_ERROR})
	require.Equal(t, spillway.OutcomePermanent, spillway.OutcomeOf(err))
}

// L-14: Ping asks the nodes, in any mode; Healthy and IsConnected ask nobody.
func TestPing(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Mode = spillway.RefuseAll })
	require.True(t, client.Ping(patient(t)), "it passes no lane")
	require.True(t, client.Healthy())
	require.True(t, client.IsConnected())
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	ctx, cancel := context.WithTimeout(context.Background(), short)
	defer cancel()
	require.False(t, client.Ping(ctx))
	require.True(t, client.Healthy())
	gate.Release()
	require.NoError(t, client.Close(patient(t)))
	require.False(t, client.Ping(patient(t)))
	require.False(t, client.Healthy())
	require.False(t, client.IsConnected())
}

// WarmUp opens so many connections at every node, in steps, and no more than there are
// to be.
func TestWarmUp(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, func(c *aerospike.Config) {
		c.WarmUp = 0
		c.ClientPolicy = as.NewClientPolicy()
		c.ClientPolicy.ConnectionQueueSize = 16
	})
	opened, err := client.WarmUp(patient(t), 6)
	require.NoError(t, err)
	require.Equal(t, 12, opened)
	require.NoError(t, srv.AwaitConns(patient(t), 14), "and the driver's own")
	opened, err = client.WarmUp(patient(t), 1000)
	require.NoError(t, err)
	require.Equal(t, 2*15-12, opened)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = client.WarmUp(ended, 1)
	require.ErrorIs(t, err, context.Canceled)
	stats, err := client.Stats(patient(t))
	require.NoError(t, err)
	require.NotEmpty(t, stats)
	require.NoError(t, client.EnableMetrics(nil))
	require.True(t, client.MetricsEnabled())
	require.NoError(t, client.DisableMetrics())
	require.False(t, client.MetricsEnabled())
	require.Len(t, client.GetNodes(), 2)
	require.NotNil(t, client.Cluster())
	require.Equal(t, "aerospike client aerospike, connected", client.String())
}
