package aerospike_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/lifecycle"
)

// G-LIF-1; L-01, L-12: a hundred goroutines connect, one does; the server sees what it sees
// of a single Connect.
func TestClientConnectsOnceHoweverManyTry(t *testing.T) {
	alone := aerospiketest.NewServer(t)
	connect(t, alone, func(c *aerospike.Config) { c.WarmUp = 0 })
	want := alone.Stats()

	srv := aerospiketest.NewServer(t)
	cfg := aerospike.DefaultConfig(srv.Hosts()...)
	cfg.WarmUp = 0
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	// The first dial is held until all the others have had their answer.
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	first := make(chan error, 1)
	go func() { first <- client.Connect(patient(t)) }()
	require.NoError(t, gate.Wait(patient(t), 1))
	var refused atomic.Int64
	var wg sync.WaitGroup
	for range 99 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			err := client.Connect(patient(t))
			var state *lifecycle.StateError
			require.ErrorAs(t, err, &state)
			require.Equal(t, lifecycle.Connecting, state.State)
			refused.Add(1)
		}()
	}
	wg.Wait()
	gate.Release()
	require.NoError(t, <-first)
	require.EqualValues(t, 99, refused.Load())
	require.ErrorIs(t, client.Connect(patient(t)), lifecycle.ErrAlreadyConnected)
	got := srv.Stats()
	require.Equal(t, want.AcceptedConns, got.AcceptedConns)
	require.Equal(t, 1, got.OpenConns, "the driver's own connection, and no other")
	require.NoError(t, client.Close(patient(t)))
	require.NoError(t, srv.AwaitConns(patient(t), 0))
}

// L-10, L-13, R117: 25 cycles, over two clusters, leave no connection, and TestMain
// finds no goroutine.
func TestClientReconnects(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	require.NoError(t, client.Close(patient(t)))
	for i := range 25 {
		require.NoError(t, client.Connect(patient(t)))
		put(t, client, newKey(t, i), as.BinMap{"i": i})
		require.NoError(t, client.Close(patient(t)))
		require.Equal(t, lifecycle.Disconnected, client.State())
		_, err := client.Get(patient(t), nil, newKey(t, i))
		require.ErrorIs(t, err, lifecycle.ErrNotConnected)
	}
	require.NoError(t, srv.AwaitConns(patient(t), 0))
	snap := client.Snapshot()
	require.EqualValues(t, 26, snap.Connection.Closed)
	require.EqualValues(t, 25, snap.Lane("A1", aerospike.LaneWrite).Admitted, "counts go on over reconnects")
	for _, l := range snap.Lanes {
		require.False(t, l.Present)
	}
}

// G-LIF-2; L-07, L-18, T-25: a Connect whose caller goes away returns at once, although the driver
// can't be interrupted, and what the driver brings later is closed.
func TestClientLateConnectIsClosed(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	cfg := aerospike.DefaultConfig(srv.Hosts()...)
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	ctx, cancel := context.WithCancel(patient(t))
	done := make(chan error, 1)
	go func() { done <- client.Connect(ctx) }()
	require.NoError(t, gate.Wait(patient(t), 1))
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Equal(t, lifecycle.Disconnected, client.State())
	gate.Release()
	require.NoError(t, client.Close(patient(t)), "which waits for the late dial")
	require.NoError(t, srv.AwaitConns(patient(t), 0))
	require.EqualValues(t, 1, client.Snapshot().Connection.Late)
	require.Zero(t, client.Snapshot().Connection.Open())
}

// L-09: a cluster that isn't there.
func TestClientConnectFails(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	srv.Node(0).Kill()
	policy := as.NewClientPolicy()
	policy.Timeout = 200 * time.Millisecond
	cfg := aerospike.DefaultConfig(srv.Hosts()...)
	cfg.ClientPolicy = policy
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	err = client.Connect(patient(t))
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.Equal(t, "Connect", ours.Op)
	require.Equal(t, lifecycle.Disconnected, client.State())
	require.NoError(t, srv.Node(0).Restart())
	require.NoError(t, client.Connect(patient(t)))
	require.NoError(t, client.Close(patient(t)))
}

// G-AER-3, fact 14: the driver's Close under calls in flight is a data race, and with
// ReplicaPolicy MASTER a panic in the callers (145 of 640 on a real server). Ours waits.
func TestClientCloseWithCallsInFlight(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	policy := as.NewPolicy()
	policy.ReplicaPolicy = as.MASTER
	client := connect(t, srv)
	for range 10 {
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for i := range 32 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for {
					select {
					case <-stop:
						return
					default:
					}
					_, err := client.Exists(patient(t), policy, newKey(t, i))
					if err != nil {
						require.ErrorIs(t, err, lifecycle.ErrNotConnected)
						return
					}
				}
			}()
		}
		require.NoError(t, client.Close(patient(t)))
		close(stop)
		wg.Wait()
		require.NoError(t, client.Connect(patient(t)))
	}
}

// G-AER-3: Close waits for calls and streams, and a stream that outlives it keeps its
// connection until it is closed.
func TestClientCloseWaitsForStreams(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	fill(t, client, 100)
	scan := as.NewScanPolicy()
	scan.RecordQueueSize = 1
	stream, err := client.ScanAll(patient(t), scan, "test", "s")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err = client.Close(ctx)
	require.ErrorIs(t, err, lifecycle.ErrOrphaned)
	require.Equal(t, lifecycle.Disconnected, client.State())
	n := 0
	for _, err := range stream.All() {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 100, n, "the orphan's connection is still good")
	ended(t, stream)
	require.NoError(t, client.Close(patient(t)))
	require.NoError(t, srv.AwaitConns(patient(t), 0))
	require.Zero(t, client.Snapshot().Connection.Orphans)
}

// Wrap leaves the driver's client to its owner.
func TestWrapLeavesTheDriverOpen(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	driver := raw(t, srv)
	client, err := aerospike.Wrap(driver, aerospike.DefaultConfig())
	require.NoError(t, err)
	require.Equal(t, lifecycle.Connected, client.State())
	put(t, client, newKey(t, 1), as.BinMap{"a": 1})
	require.NoError(t, client.Close(patient(t)))
	require.ErrorIs(t, client.Connect(patient(t)), aerospike.ErrWrapped)
	rec, aerr := driver.Get(nil, newKey(t, 1))
	require.NoError(t, asError(aerr))
	require.Equal(t, 1, rec.Bins["a"])

	_, err = aerospike.Wrap(driver, aerospike.DefaultConfig("h:1"))
	require.ErrorContains(t, err, "a wrapped client is connected already")
	require.False(t, errors.Is(err, aerospike.ErrWrapped))
}
