package aerospike_test

import (
	"context"
	"errors"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// fill writes n records.
func fill(t *testing.T, client *aerospike.Client, n int) {
	t.Helper()
	for i := range n {
		put(t, client, newKey(t, i), as.BinMap{"i": i})
	}
}

func ended(t *testing.T, stream *aerospike.Stream) {
	t.Helper()
	select {
	case <-stream.Done():
	case <-patient(t).Done():
		t.Fatal("the stream gave nothing back")
	}
}

func idle(t *testing.T, client *aerospike.Client) {
	t.Helper()
	snap := client.Snapshot()
	require.Zero(t, snap.Connection.Leases)
	for _, l := range snap.Lanes {
		require.Zero(t, l.Stats.InUse, l.Node+" "+l.Lane)
	}
}

// R132: every record once, from all nodes.
func TestStreamDeliversEveryRecordOnce(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3})
	client := connect(t, srv)
	fill(t, client, 500)
	stream, err := client.ScanAll(patient(t), nil, "test", "s", "i")
	require.NoError(t, err)
	seen := map[int]bool{}
	for rec, err := range stream.All() {
		require.NoError(t, err)
		i := rec.Bins["i"].(int)
		require.False(t, seen[i])
		seen[i] = true
	}
	require.Len(t, seen, 500)
	ended(t, stream)
	idle(t, client)

	for _, err := range stream.All() {
		require.ErrorIs(t, err, aerospike.ErrStreamUsed)
	}
}

// G-AER-4; A8, T-13, fact 10: streams that are broken off leave nothing behind. The
// driver alone leaves a goroutine and a connection each.
func TestStreamBrokenOffLeavesNothing(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 1 })
	fill(t, client, 500)
	policy := as.NewScanPolicy()
	policy.RecordQueueSize = 1
	for range 20 {
		stream, err := client.ScanAll(patient(t), policy, "test", "s")
		require.NoError(t, err)
		n := 0
		for _, err := range stream.All() {
			require.NoError(t, err)
			if n++; n == 4 {
				break
			}
		}
		ended(t, stream) // only then is the one permit back, and the next may start
	}
	idle(t, client)
}

// X12, B-05, T-13: a stream holds its permits while it is open, so with a limit of one there
// is no second beside it; closing it frees them.
func TestStreamHoldsPermitsUntilClosed(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 1 })
	fill(t, client, 100)
	stream, err := client.ScanAll(patient(t), nil, "test", "s")
	require.NoError(t, err)
	_, err = client.ScanAll(patient(t), nil, "test", "s")
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	_, err = client.Get(patient(t), nil, newKey(t, 1)) // a lane of its own
	require.NoError(t, err)
	require.NoError(t, stream.Close())
	require.NoError(t, stream.Close())
	ended(t, stream)
	next, err := client.ScanAll(patient(t), nil, "test", "s")
	require.NoError(t, err)
	require.NoError(t, next.Close())
	ended(t, next)
	for _, err := range stream.All() {
		require.ErrorIs(t, err, aerospike.ErrStreamClosed)
	}
}

// G-AER-4; R75: the context ends a stream, also one that nobody reads, and the
// iteration ends with its cause.
func TestStreamEndsWithItsContext(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	fill(t, client, 500)
	policy := as.NewScanPolicy()
	policy.RecordQueueSize = 1
	cause := errors.New("nobody wants it any more")
	ctx, cancel := context.WithCancelCause(patient(t))
	defer cancel(nil)
	stream, err := client.ScanAll(ctx, policy, "test", "s")
	require.NoError(t, err)
	n := 0
	var last error
	for _, err := range stream.All() {
		if last = err; err != nil {
			break
		}
		if n++; n == 3 {
			cancel(cause)
			<-ctx.Done()
		}
	}
	require.ErrorIs(t, last, cause, "after %d records", n)
	ended(t, stream)

	forgotten, err := client.ScanAll(patient(t), policy, "test", "s")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(patient(t))
	forgotten2, err := client.ScanAll(ctx, policy, "test", "s")
	require.NoError(t, err)
	stop()
	ended(t, forgotten2)
	require.NoError(t, forgotten.Close())
	ended(t, forgotten)
	idle(t, client)
}

// B-05, R99: a stream without a deadline of its caller has one all the same.
func TestStreamWithoutADeadlineHasOne(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.StreamTimeout = 100 * time.Millisecond })
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindScan})
	stream, err := client.ScanAll(context.Background(), nil, "test", "s")
	require.NoError(t, err)
	var last error
	for _, err := range stream.All() {
		last = err
	}
	require.ErrorIs(t, last, context.DeadlineExceeded)
	gate.Release()
	ended(t, stream)
	idle(t, client)
}

// What a stream was begun with is its caller's again when the method has returned: the race
// detector would tell.
func TestStreamCopiesItsArguments(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	fill(t, client, 10)
	for range 20 {
		bins, st := []string{"i"}, as.NewStatement("test", "s", "i")
		scan, err := client.ScanAll(patient(t), nil, "test", "s", bins...)
		require.NoError(t, err)
		query, err := client.Query(patient(t), nil, st)
		require.NoError(t, err)
		bins[0], st.BinNames[0] = "other", "other"
		for _, stream := range []*aerospike.Stream{scan, query} {
			for rec, err := range stream.All() {
				require.NoError(t, err)
				require.Contains(t, rec.Bins, "i")
			}
			ended(t, stream)
		}
	}
	idle(t, client)
}

// A stream of objects that was read to its end is complete, although it is closed, or its
// context ends, before it has given everything back.
func TestObjectsThatWereReadAreComplete(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	fill(t, client, 5)
	for round := range 60 {
		ctx, cancel := context.WithCancel(patient(t))
		f, ch := as.NewPartitionFilterAll(), make(chan *item, 10)
		stream, err := client.ScanPartitionObjects(ctx, nil, ch, f, "test", "s")
		require.NoError(t, err)
		n := 0
		for range ch {
			n++
		}
		if round%2 == 0 {
			require.NoError(t, stream.Close())
		} else {
			cancel()
		}
		require.NoError(t, stream.Err(), "round %d", round)
		require.True(t, f.IsDone())
		require.Equal(t, 5, n)
		cancel()
	}
	idle(t, client)
}
