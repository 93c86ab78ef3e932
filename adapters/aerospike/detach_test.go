package aerospike_test

import (
	"context"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// X14: a detached call returns when its caller goes away. The driver's call goes on,
// with copies of the arguments, and keeps the permit until it ends.
func TestDetachReturnsAtOnceAndKeepsThePermit(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 2 }) // one write
	detached, err := client.With(aerospike.Detach())
	require.NoError(t, err)
	gate := srv.Hold(aerospiketest.Match{})
	ctx, cancel := context.WithCancel(patient(t))
	policy, bins := as.NewWritePolicy(0, 0), as.BinMap{"n": 1}
	done := make(chan error, 1)
	go func() { done <- detached.Put(ctx, policy, newKey(t, 1), bins) }()
	require.NoError(t, gate.Wait(patient(t), 1))
	cancel()
	err = <-done
	require.ErrorIs(t, err, context.Canceled)
	var left *aerospike.DetachedError
	require.ErrorAs(t, err, &left)
	require.Equal(t, "Put", left.Op)
	require.Equal(t, spillway.OutcomeTimeout, spillway.OutcomeOf(err))
	policy.Expiration, bins["n"] = 1, 2 // the race detector sees whether that is anybody's business

	require.ErrorIs(t, client.Touch(patient(t), nil, newKey(t, 1)), spillway.ErrBackpressure, "the permit is still in use")
	gate.Release()
	require.NoError(t, client.Close(patient(t)), "which waits for the driver")
	require.NoError(t, client.Connect(patient(t)))
	record, err := detached.Get(patient(t), nil, newKey(t, 1), "n")
	require.NoError(t, err)
	require.Equal(t, 1, record.Bins["n"])
}

// A detached call that nobody leaves is a call like any other, with retries.
func TestDetachedCallsAreRetriedAndRefused(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 1 })
	detached, err := client.With(aerospike.Detach())
	require.NoError(t, err)
	put(t, client, newKey(t, 1), as.BinMap{"n": 1})
	fault := code(9)
	fault.Times = 1
	srv.Inject(fault)
	exists, err := detached.Exists(patient(t), nil, newKey(t, 1))
	require.NoError(t, err)
	require.True(t, exists)

	gate := srv.Hold(aerospiketest.Match{})
	done := make(chan error, 1)
	go func() {
		_, err := detached.Exists(patient(t), nil, newKey(t, 1))
		done <- err
	}()
	require.NoError(t, gate.Wait(patient(t), 1))
	_, err = detached.Exists(patient(t), nil, newKey(t, 1))
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	gate.Release()
	require.NoError(t, <-done)
	idle(t, client)
}
