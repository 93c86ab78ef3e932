package aerospike_test

import (
	"context"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// moving is a cluster of two, and a client that often looks which of them has what.
func moving(t *testing.T) (*aerospiketest.Server, *aerospike.Client, tends) {
	t.Helper()
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, func(c *aerospike.Config) {
		c.ClientPolicy.TendInterval, c.Limit = 20*time.Millisecond, 4
	})
	return srv, client, watchTends(srv, 0)
}

// servedAt counts the reads that had a permit of a node to their end.
func servedAt(client *aerospike.Client, node string) (n uint64) {
	for _, l := range client.Snapshot().Lanes {
		if l.Node == node && l.Lane == aerospike.LaneRead {
			n += l.Stats.Ended[spillway.OutcomeOK]
		}
	}
	return n
}

// G-AER-1: a call has the permit of the node that has its partition now, whatever the node table
// remembers.
func TestPermitFollowsAPartitionThatMoves(t *testing.T) {
	srv, client, looks := moving(t)
	key := keyOn(t, raw(t, srv), srv.Node(0).Name())
	here, there := srv.Node(0).Name(), srv.Node(1).Name()
	exists := func() { require.NoError(t, second(client.Exists(patient(t), nil, key))) }
	exists()
	old, other := servedAt(client, here), servedAt(client, there)
	exists()
	require.Equal(t, old+1, servedAt(client, here))
	require.NoError(t, srv.MovePartitions(1, key.PartitionId()))
	looks.pass(t, 2)
	exists()
	exists()
	require.Equal(t, old+1, servedAt(client, here))
	require.Equal(t, other+2, servedAt(client, there))
	balanced(t, client)
}

// G-AER-1: the node that had the partition is full, and refuses whoever still comes for it by the
// table. That ends: now and then one is looked up. Each of them is counted once.
func TestRefusalsLetGoOfAPartitionThatMoved(t *testing.T) {
	srv, client, looks := moving(t)
	keys := keysOn(t, raw(t, srv), srv.Node(0).Name(), 5)
	key, others := keys[0], keys[1:]
	require.NoError(t, second(client.Exists(patient(t), nil, key)))
	gate := srv.Hold(aerospiketest.Match{Nodes: []int{0}})
	held := make(chan error, len(others))
	for _, other := range others {
		go func() { held <- second(client.Exists(patient(t), nil, other)) }()
	}
	require.NoError(t, gate.Wait(patient(t), len(others)))
	require.NoError(t, srv.MovePartitions(1, key.PartitionId()))
	looks.pass(t, 2)
	before, refused := refusedBy(client), uint64(0)
	for ctx := patient(t); ; refused++ {
		err := second(client.Exists(ctx, nil, key))
		if err == nil {
			break
		}
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		require.Less(t, refused, uint64(64))
	}
	require.Equal(t, refused, refusedBy(client)-before)
	gate.Release()
	for range others {
		require.NoError(t, <-held)
	}
	idle(t, client)
	balanced(t, client)
}

// A success counts as late when the caller's deadline had passed, and not when he left for
// another reason: what is too late for somebody is what adaptive limits go by.
func TestLateIsAfterTheDeadlineOnly(t *testing.T) {
	for _, c := range []struct {
		name string
		ctx  func() (context.Context, context.CancelFunc)
		late uint64
	}{
		{"deadline", func() (context.Context, context.CancelFunc) {
			return context.WithDeadline(context.Background(), time.Now().Add(100*time.Millisecond))
		}, 1},
		{"cancel", func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := aerospiketest.NewServer(t)
			client := connect(t, srv, func(c *aerospike.Config) { c.Mode = spillway.Shadow }) // the driver isn't told of the deadline
			require.NoError(t, second(client.Exists(patient(t), nil, newKey(t, 1))))
			gate := srv.Hold(aerospiketest.Match{})
			ctx, cancel := c.ctx()
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- second(client.Exists(ctx, nil, newKey(t, 1))) }()
			require.NoError(t, gate.Wait(patient(t), 1))
			if c.name == "cancel" {
				cancel()
			}
			<-ctx.Done()
			gate.Release()
			require.NoError(t, <-done)
			var late uint64
			for _, l := range client.Snapshot().Lanes {
				late += l.Stats.Ended[spillway.OutcomeLate]
			}
			require.Equal(t, c.late, late)
		})
	}
}

// ADR 10: the driver's lookup for batches, which we use, finds the node that its lookup for
// single records does, for each attempt.
func TestFactBatchLookupFindsTheSameNode(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3, ReplicationFactor: 3})
	cluster := raw(t, srv).Cluster()
	nodes := map[*as.Node]bool{}
	for i := range 20 {
		key := newKey(t, i)
		for _, replica := range []as.ReplicaPolicy{as.SEQUENCE, as.MASTER, as.PREFER_RACK} {
			policy := as.NewPolicy()
			policy.ReplicaPolicy = replica
			write, err := as.PartitionForWrite(cluster, policy, key)
			require.NoError(t, asError(err))
			want, err := write.GetNodeWrite(cluster)
			require.NoError(t, asError(err))
			got, err := as.GetNodeBatchWrite(cluster, key, replica, nil, 0)
			require.NoError(t, asError(err))
			require.Same(t, want, got)
			read, err := as.PartitionForRead(cluster, policy, key)
			require.NoError(t, asError(err))
			for attempt := range 4 {
				if attempt > 0 {
					read.PrepareRetryRead(false)
				}
				again := *read // looking may move it on
				want, err = again.GetNodeRead(cluster)
				require.NoError(t, asError(err))
				got, err = as.GetNodeBatchRead(cluster, key, replica, as.GetReplicaPolicySC(policy), nil, attempt, attempt)
				require.NoError(t, asError(err))
				require.Same(t, want, got)
				nodes[got] = true
			}
		}
	}
	require.Len(t, nodes, 3)
}
