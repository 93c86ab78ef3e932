package aerospike_test

import (
	"context"
	"sync/atomic"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/retry"
)

// endsAt is a context that has ended when it is looked at once more than looks.
type endsAt struct {
	context.Context
	looks atomic.Int32
}

func (c *endsAt) Err() error {
	if c.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// G-AER-6, G-AER-8: a permit that was taken ahead of the first attempt comes back if there is
// none: whenever the context ends, and if the retrier won't begin.
func TestPermitAheadComesBackWithoutAnAttempt(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	writer, err := client.With(aerospike.Idempotent())
	require.NoError(t, err)
	key := newKey(t, 1)
	put(t, client, key, as.BinMap{"a": 1}) // now the table knows the node
	for looks := range int32(12) {
		for _, call := range []func(context.Context) error{
			func(ctx context.Context) error { return second(client.Get(ctx, nil, key)) },
			func(ctx context.Context) error { return writer.Put(ctx, nil, key, as.BinMap{"a": 1}) },
		} {
			ctx := &endsAt{Context: context.Background()}
			ctx.looks.Store(looks)
			if err := call(ctx); err != nil {
				require.ErrorIs(t, err, context.Canceled)
			}
			for _, l := range client.Snapshot().Lanes {
				require.Zero(t, l.Stats.InUse, "%s, after %d looks", l.Lane, looks)
			}
		}
	}
	balanced(t, client)

	endless := connect(t, srv, func(c *aerospike.Config) { c.Reads.MaxAttempts = retry.Unlimited })
	put(t, endless, key, as.BinMap{"a": 1})
	require.NoError(t, second(endless.Get(patient(t), nil, key)))
	require.Error(t, second(endless.Get(context.Background(), nil, key)), "no end, and no context to end it")
	balanced(t, endless)
}

// X2: a read at a replica says nothing of where writes go: with that node stalled, writes to
// the master are as welcome as before.
func TestReadOfAReplicaDoesNotMisleadWrites(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 2 })
	driver := raw(t, srv)
	key, other := keyOn(t, driver, "A1"), keyOn(t, driver, "A2")
	put(t, client, key, as.BinMap{"a": 1})
	put(t, client, other, as.BinMap{"a": 1})
	for _, policy := range []as.ReplicaPolicy{as.MASTER_PROLES, as.RANDOM, as.PREFER_RACK} {
		p := as.NewPolicy()
		p.ReplicaPolicy = policy
		for range 4 { // of which some go to the replica
			require.NoError(t, second(client.Get(patient(t), p, key)))
		}
		gate := srv.Hold(aerospiketest.Match{Nodes: []int{1}})
		done := make(chan error, 1)
		go func() { done <- client.Put(patient(t), nil, other, as.BinMap{"a": 1}) }()
		require.NoError(t, gate.Wait(patient(t), 1))
		for range 10 {
			put(t, client, key, as.BinMap{"a": 1})
		}
		gate.Release()
		require.NoError(t, <-done)
	}
	balanced(t, client)
}

// G-AER-14: a middleware that panics after its next leaves no observation open, no stream
// behind and no permit out.
func TestMiddlewareThatPanicsAfterNext(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	w := &witness{told: make(chan struct{}, 2)}
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Observer = w
		c.Use = []spillway.Middleware{func(ctx context.Context, _ spillway.Call, next func(context.Context) error) error {
			if err := next(ctx); err != nil {
				return err
			}
			panic("no luck")
		}}
	})
	require.PanicsWithValue(t, "no luck", func() { _ = client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"a": 1}) })
	require.PanicsWithValue(t, "no luck", func() { _, _ = client.ScanAll(patient(t), nil, "test", "s") })
	balanced(t, client)
	for range 2 {
		<-w.told // of the stream after its lease came back
	}
	began, ended, _ := w.take()
	require.Len(t, began, 2)
	require.Len(t, ended, 2)
	for _, e := range ended {
		require.Error(t, e.Err)
	}
}
