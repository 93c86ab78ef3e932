package aerospike_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// hold occupies n connections by calls that the gate holds, and returns how to let
// them go.
func hold(t *testing.T, srv *aerospiketest.Server, n int, call func(i int) error) (letGo func()) {
	t.Helper()
	gate := srv.Hold(aerospiketest.Match{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			require.NoError(t, call(i))
		}()
	}
	require.NoError(t, gate.Wait(patient(t), n))
	return func() { gate.Release(); wg.Wait() }
}

// Facts 4 and 5: of a pool of 5 the driver can use 4, and the next caller is parked in
// a loop until his time is over. Ours lets as many in as the lane has, which are less,
// and refuses the next at once.
func TestFactPoolExhaustion(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	pool := func(p *as.ClientPolicy) { p.ConnectionQueueSize = 5 }
	driver := raw(t, srv, pool)
	letGo := hold(t, srv, 4, func(i int) error {
		_, err := driver.Exists(as.NewPolicy(), newKey(t, i))
		return asError(err)
	})
	policy := as.NewPolicy()
	policy.TotalTimeout = 100 * time.Millisecond
	_, aerr := driver.Exists(policy, newKey(t, 9))
	require.True(t, aerr.Matches(types.NO_AVAILABLE_CONNECTIONS_TO_NODE))
	turns := 0
	for link := error(aerr); link != nil; link = errors.Unwrap(link) {
		turns++
	}
	require.Greater(t, turns, 2, "the fault that this test is about is gone from the driver")
	letGo()

	client := connect(t, srv, func(c *aerospike.Config) {
		c.ClientPolicy = as.NewClientPolicy()
		pool(c.ClientPolicy)
	})
	letGo = hold(t, srv, 1, func(i int) error {
		_, err := client.Exists(patient(t), nil, newKey(t, i))
		return err
	})
	_, err := client.Exists(t.Context(), nil, newKey(t, 9)) // no deadline: it would wait for long
	var r *spillway.Rejection
	require.ErrorAs(t, err, &r)
	require.Equal(t, 1, r.Limit)
	letGo()
}

// Fact 10: a scan that is broken off leaves a goroutine for ever. The driver's is let
// go here by draining it; ours needs nothing.
func TestFactAbandonedScan(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	fill(t, client, 200)
	driver := raw(t, srv)
	policy := as.NewScanPolicy()
	policy.RecordQueueSize = 1
	rs, aerr := driver.ScanAll(policy, "test", "s")
	require.NoError(t, asError(aerr))
	<-rs.Results()
	require.True(t, rs.IsActive(), "the driver's producer waits for a reader")
	defer func() {
		go func() { _ = rs.Close() }()
		for range rs.Results() {
		}
	}()

	stream, err := client.ScanAll(patient(t), policy, "test", "s")
	require.NoError(t, err)
	for _, err := range stream.All() {
		require.NoError(t, err)
		break
	}
	ended(t, stream)
	idle(t, client)
}

// With ExitFastOnExhaustedConnectionPool the driver fails also when
// the pool isn't exhausted but empty, because all its pool errors are equal. So it
// isn't switched on: a cold client serves its first call.
func TestFactExitFastOnAnEmptyPool(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	driver := raw(t, srv)
	policy := as.NewPolicy()
	policy.ExitFastOnExhaustedConnectionPool = true
	_, aerr := driver.Exists(policy, newKey(t, 1))
	require.NotNil(t, aerr, "the fault that this test is about is gone from the driver")
	require.True(t, aerr.Matches(types.NO_AVAILABLE_CONNECTIONS_TO_NODE))

	client := connect(t, srv, func(c *aerospike.Config) { c.WarmUp = 0 })
	_, err := client.Exists(patient(t), nil, newKey(t, 1))
	require.NoError(t, err)
}
