package aerospike_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/retry"
)

// G-AER-19; L-25: who waits for a permit when Close is called is sent away at once, with the error of
// a client that is closing, while the call that he waited for still runs; he never reaches
// the server.
func TestCloseSendsWaitersAway(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	var coming sync.WaitGroup
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Lanes = aerospike.DefaultLanes(1)
		for i := range c.Lanes {
			c.Lanes[i].MaxWaiting, c.Lanes[i].MaxWait = 10, patience
		}
		c.Use = []spillway.Middleware{func(ctx context.Context, _ spillway.Call, next func(context.Context) error) error {
			coming.Done()
			return next(ctx)
		}}
	})
	gate := srv.Hold(aerospiketest.Match{})
	coming.Add(1)
	served := make(chan error, 1)
	go func() { served <- second(client.Exists(patient(t), nil, newKey(t, 1))) }()
	require.NoError(t, gate.Wait(patient(t), 1))
	const waiters = 10
	coming.Add(waiters)
	sent := make(chan error, waiters)
	for range waiters {
		go func() { sent <- second(client.Exists(patient(t), nil, newKey(t, 1))) }()
	}
	coming.Wait()
	closed := make(chan error, 1)
	go func() { closed <- client.Close(patient(t)) }()
	for range waiters {
		err := <-sent
		require.ErrorIs(t, err, lifecycle.ErrNotConnected)
		require.ErrorIs(t, err, lifecycle.ErrClosing)
		require.NotErrorIs(t, err, spillway.ErrBackpressure)
	}
	require.Empty(t, closed, "Close waits for the one that was let in")
	gate.Release()
	require.NoError(t, <-served)
	require.NoError(t, <-closed)
	require.EqualValues(t, 1, srv.Stats().Count(aerospiketest.KindsData))
}

// T-10, R141: a panic in the driver is an error of every method, and gives back what the
// call had taken, also the permit that it took in advance.
func TestSurfaceSurvivesPanics(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	put(t, client, newKey(t, 1), as.BinMap{"i": 1})
	_, err := client.Get(patient(t), nil, newKey(t, 1)) // the node of this key is known now
	require.NoError(t, err)
	detached, err := client.With(aerospike.Detach())
	require.NoError(t, err)
	node := client.GetNodes()[0]
	all := methods(t)
	for i, m := range streamMethods(func(*aerospike.Client) *as.Node { return node }) {
		at := slices.IndexFunc(all, func(a method) bool { return a.name == m.name })
		require.GreaterOrEqual(t, at, 0, i)
		all[at] = m
	}
	heal := aerospike.Poison(client)
	for _, c := range []*aerospike.Client{client, detached} {
		for _, m := range all {
			err := m.call(patient(t), c)
			var panicked *spillway.PanicError
			require.ErrorAs(t, err, &panicked, m.name)
			require.NotEmpty(t, panicked.Stack, m.name)
			idle(t, client)
		}
	}
	heal()
	balanced(t, client)
}

// B-06, T-05: a permit is free while its call waits for its next attempt; the error of one
// that gave up says why.
func TestPermitIsFreeDuringBackOff(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	asleep := make(chan struct{}, 1)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Lanes = aerospike.DefaultLanes(1)
		c.Reads = retry.ReadPolicy()
		c.Reads.Base, c.Reads.Floor, c.Reads.Cap, c.Reads.Jitter = time.Hour, time.Hour, 2*time.Hour, retry.NoJitter
		c.Reads.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) { asleep <- struct{}{} }}}
	})
	busy := aerospiketest.Fault{Times: 1, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload}
	srv.Inject(busy)
	ctx, cancel := context.WithCancel(context.WithoutCancel(patient(t)))
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- second(client.Exists(ctx, nil, newKey(t, 1))) }()
	<-asleep
	for range 10 {
		_, err := client.Exists(patient(t), nil, newKey(t, 1))
		require.NoError(t, err, "with a limit of one")
	}
	cancel()
	var gaveUp *retry.ExhaustedError
	require.ErrorAs(t, <-done, &gaveUp)
	require.Equal(t, retry.StopCanceled, gaveUp.Reason)
	require.Equal(t, 1, gaveUp.Attempts)

	srv.Inject(busy)
	_, err := client.Exists(patient(t), nil, newKey(t, 1)) // which has no hour
	require.ErrorAs(t, err, &gaveUp)
	require.Equal(t, retry.StopDeadline, gaveUp.Reason)
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.Equal(t, types.DEVICE_OVERLOAD, ours.Code)
	idle(t, client)
}

// B-16, R77: which answers of the server a read is made again after, code by code.
func TestReadsAreRepeatedByCode(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Reads = retry.ReadPolicy()
		c.Reads.Base, c.Reads.Floor, c.Reads.Cap = time.Millisecond, time.Millisecond, 2*time.Millisecond
	})
	// Overload of node, key, quota and queues; timeouts; a node that isn't the one; what the
	// server itself doesn't know.
	again := []int{18, 152, 211, 14, 32, 83, 9, 212, 7, 11, 15, 66, 80, 203, 210, 214, 1, 213}
	for code := 1; code <= 255; code++ {
		fault := srv.Inject(aerospiketest.Fault{Action: aerospiketest.ActionCode, Code: aerospiketest.Code(code)})
		_, err := client.Get(patient(t), nil, newKey(t, 1))
		require.Error(t, err, code)
		fault.Remove()
		known := aerospike.Classify(err).Outcome != spillway.OutcomeUnknown
		if slices.Contains(again, code) || !known {
			require.Equal(t, 3, fault.Hits(), code)
			var gaveUp *retry.ExhaustedError
			require.ErrorAs(t, err, &gaveUp, code)
			require.Equal(t, retry.StopAttempts, gaveUp.Reason, code)
		} else {
			require.Equal(t, 1, fault.Hits(), code)
		}
	}
	idle(t, client)
}

// L-02, L-03: after a reconnect to a smaller cluster, with another limit, that limit is in
// force, the nodes of before are shown as gone, and what still ends of before touches
// nothing of now.
func TestReconnectBeginsAnew(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3})
	client := connect(t, srv)
	driver := raw(t, srv)
	keys := map[string]*as.Key{}
	for _, n := range srv.Nodes() {
		keys[n.Name()] = keyOn(t, driver, n.Name())
		put(t, client, keys[n.Name()], as.BinMap{"a": 1})
	}
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindExists})
	calls := make(chan error, 4)
	call := func() { calls <- second(client.Exists(patient(t), nil, keys["A1"])) }
	go call()
	require.NoError(t, gate.Wait(patient(t), 1))
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, client.Close(ended), lifecycle.ErrOrphaned)
	srv.Node(1).Remove()
	srv.Node(2).Remove()
	require.NoError(t, client.Apply(aerospike.Settings{Lanes: map[string]aerospike.LaneSettings{aerospike.LaneRead: {Limit: 3}}}))
	require.NoError(t, client.Connect(patient(t)))

	for range 3 {
		go call()
	}
	require.NoError(t, gate.Wait(patient(t), 4))
	read := func() int { return client.Snapshot().Lane("A1", aerospike.LaneRead).InUse }
	require.Equal(t, 4, read(), "the one of before is still in the driver, and is shown with them")
	gate.Step(1) // the first, of before
	require.NoError(t, <-calls)
	require.Equal(t, 3, read())
	err := second(client.Exists(patient(t), nil, keys["A1"]))
	var refused *spillway.Rejection
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 3, refused.Limit)
	for _, l := range client.Snapshot().Lanes {
		require.Equal(t, l.Node == "A1" || l.Node == "", l.Present && l.Node != "A2" && l.Node != "A3", l.Node)
		if l.Lane == aerospike.LaneWrite {
			require.EqualValues(t, 1, l.Stats.Admitted, "the counts of before go on")
		}
	}
	gate.Release()
	for range 3 {
		require.NoError(t, <-calls)
	}
	require.Zero(t, client.Snapshot().Connection.Orphans)
	idle(t, client)
}

// M-14: the numbers of each node are its own: they are what the server has counted there.
func TestSnapshotCountsEachNode(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3})
	client := connect(t, srv)
	driver := raw(t, srv)
	for i, n := range []int{25, 4, 0} {
		key := keyOn(t, driver, srv.Node(i).Name())
		for range n {
			_, err := client.Exists(patient(t), nil, key)
			require.NoError(t, err)
		}
	}
	for _, n := range srv.Nodes() {
		require.Equal(t, n.Stats().Count(aerospiketest.KindExists), client.Snapshot().Lane(n.Name(), aerospike.LaneRead).Admitted, n.Name())
	}
}

// L-19: what a Close through Compat can't return is in the log.
func TestCompatCloseTellsTheLog(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	var out bytes.Buffer // written by one goroutine at a time: that of this test
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Logger, c.DrainTimeout = slog.New(slog.NewTextHandler(&out, nil)), short
	})
	fill(t, client, 100)
	scan := as.NewScanPolicy()
	scan.RecordQueueSize = 1
	stream, err := client.ScanAll(patient(t), scan, "test", "s")
	require.NoError(t, err)
	compatOf(t, client).Close()
	require.Contains(t, out.String(), "closed with leases still out")
	require.NoError(t, stream.Close())
	ended(t, stream)
}

// G-AER-1: as many callers as there are permits, and one of three nodes stalled: those of
// the other two lose nothing, where 95 % would do.
func TestStalledNodeCostsTheOthersNothing(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3})
	const limit, rounds = 4, 100
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = limit })
	driver := raw(t, srv)
	gate := srv.Hold(aerospiketest.Match{Nodes: []int{0}})
	patiently := as.NewPolicy()
	patiently.TotalTimeout = patience
	var stuck, others sync.WaitGroup
	for i, n := range srv.Nodes() {
		key := keyOn(t, driver, n.Name())
		for range limit {
			if i == 0 {
				stuck.Add(1)
				go func() { defer stuck.Done(); require.NoError(t, second(client.Exists(patient(t), patiently, key))) }()
				continue
			}
			others.Add(1)
			go func() {
				defer others.Done()
				require.NoError(t, gate.Wait(patient(t), limit))
				for range rounds {
					require.NoError(t, second(client.Exists(patient(t), nil, key)))
				}
			}()
		}
	}
	require.NoError(t, gate.Wait(patient(t), limit))
	others.Wait()
	require.Equal(t, limit, gate.Held(), "all the while it was stalled")
	for _, n := range srv.Nodes()[1:] {
		require.EqualValues(t, limit*rounds, n.Stats().Count(aerospiketest.KindExists))
	}
	gate.Release()
	stuck.Wait()
	idle(t, client)
}
