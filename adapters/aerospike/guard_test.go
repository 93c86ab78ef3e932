package aerospike_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// G-AER-1; B-01, B-04, B-07, M-07, R40: over the limit a call is refused at once, with an
// error that names the client, the node, the lane and its limit, and the server sees nothing
// of it.
func TestClientRefusesOverTheLimit(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 4 })
	ctx := patient(t)
	before := refusedBy(client)
	gate := srv.Hold(aerospiketest.Match{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, err := client.Exists(ctx, nil, newKey(t, i))
			require.NoError(t, err)
		}()
	}
	require.NoError(t, gate.Wait(ctx, 4))
	for i := range 1000 {
		_, err := client.Get(ctx, nil, newKey(t, i))
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		var r *spillway.Rejection
		require.ErrorAs(t, err, &r)
		require.Equal(t, spillway.ReasonLimit, r.Reason)
		require.Equal(t, "aerospike/A1/read", r.Name)
		require.Equal(t, 4, r.Limit)
		require.True(t, aerospike.IsOverload(err))
		require.Equal(t, 503, aerospike.StatusOf(err).HTTP)
	}
	require.EqualValues(t, 4, srv.Stats().Count(aerospiketest.KindsData))
	gate.Release()
	wg.Wait()
	_, err := client.Exists(ctx, nil, newKey(t, 1))
	require.NoError(t, err)
	require.EqualValues(t, before+1000, refusedBy(client))
	idle(t, client)
}

// refusedBy counts the calls that any lane refused.
func refusedBy(client *aerospike.Client) (n uint64) {
	for _, l := range client.Snapshot().Lanes {
		n += l.Stats.Refused.Total()
	}
	return n
}

// G-AER-1: three nodes, one of them stalled, a pool of 8 and 2000 callers. Nobody
// ever finds the pool without a connection, and the other two nodes serve all.
func TestClientStalledNodeLeavesTheOthersAlone(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3})
	policy := as.NewClientPolicy()
	policy.ConnectionQueueSize = 8
	client := connect(t, srv, func(c *aerospike.Config) {
		c.ClientPolicy = policy
		c.WarmUp = 7
	})
	driver := raw(t, srv)
	stalled := srv.Node(0).Name()
	gate := srv.Hold(aerospiketest.Match{Nodes: []int{0}})
	ctx := patient(t)

	keys := map[string]*as.Key{}
	for _, n := range srv.Nodes() {
		keys[n.Name()] = keyOn(t, driver, n.Name())
	}
	var stuck sync.WaitGroup                    // the permits of the stalled node
	limit := aerospike.DefaultLanes(3)[0].Limit // what a pool of 8 leaves room for
	for range limit {
		stuck.Add(1)
		go func() {
			defer stuck.Done()
			_, err := client.Exists(ctx, nil, keys[stalled])
			require.NoError(t, err)
		}()
	}
	require.NoError(t, gate.Wait(ctx, limit))

	var served, refused, refusedElsewhere atomic.Int64
	var wg sync.WaitGroup
	for i := range 2000 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			node := srv.Node(i % 3).Name()
			for range 5 {
				_, err := client.Exists(ctx, nil, keys[node])
				switch {
				case err == nil:
					require.NotEqual(t, stalled, node)
					served.Add(1)
				case errors.Is(err, spillway.ErrBackpressure):
					refused.Add(1)
					if node != stalled {
						refusedElsewhere.Add(1)
					}
				default:
					require.NoError(t, err) // a pool error, or any other, is a fault
				}
			}
		}()
	}
	wg.Wait()
	gate.Release()
	stuck.Wait()
	require.EqualValues(t, 10_000, served.Load()+refused.Load())
	require.GreaterOrEqual(t, refused.Load()-refusedElsewhere.Load(), int64(3330), "every call to the stalled node is refused at once")
	require.Equal(t, limit, client.Snapshot().Lane(stalled, aerospike.LaneRead).Limit)
	idle(t, client)
}

// G-AER-6, X14, A7, T-18: a caller who goes away doesn't free the permit before the driver
// is done; his call returns when the driver does.
func TestClientHoldsThePermitUntilTheDriverReturns(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 1 })
	gate := srv.Hold(aerospiketest.Match{})
	ctx, cancel := context.WithCancel(patient(t))
	done := make(chan error, 1)
	go func() {
		_, err := client.Exists(ctx, nil, newKey(t, 1))
		done <- err
	}()
	require.NoError(t, gate.Wait(patient(t), 1))
	cancel()
	_, err := client.Exists(patient(t), nil, newKey(t, 1))
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	gate.Release()
	require.NoError(t, <-done)
	_, err = client.Exists(ctx, nil, newKey(t, 1))
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 1, srv.Stats().Count(aerospiketest.KindsData))
}

// R32, B-14: shadow mode refuses nothing, and counts what it would have refused.
func TestClientShadowModeRefusesNothing(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Limit = 1
		c.Mode = spillway.Shadow
	})
	gate := srv.Hold(aerospiketest.Match{})
	ctx := patient(t)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, err := client.Exists(ctx, nil, newKey(t, i))
			require.NoError(t, err)
		}()
	}
	require.NoError(t, gate.Wait(ctx, 10))
	gate.Release()
	wg.Wait()
	stats := client.Snapshot().Lane("A1", aerospike.LaneRead)
	require.EqualValues(t, 9, stats.WouldRefuse)
	require.Zero(t, stats.Refused.Total())
}

// B-13: a batch takes a permit of every node it touches, or of none.
func TestClientBatchIsAllOrNothing(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 1 })
	driver := raw(t, srv)
	one, two := keyOn(t, driver, "A1"), keyOn(t, driver, "A2")
	gate := srv.Hold(aerospiketest.Match{Nodes: []int{1}})
	ctx := patient(t)
	done := make(chan error, 1)
	go func() {
		_, err := client.BatchExists(ctx, nil, []*as.Key{two})
		done <- err
	}()
	require.NoError(t, gate.Wait(ctx, 1))
	_, err := client.BatchGet(ctx, nil, []*as.Key{one, two})
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	_, err = client.BatchExists(ctx, nil, []*as.Key{one})
	require.NoError(t, err, "the permit of the first node must be back")
	gate.Release()
	require.NoError(t, <-done)
}
