package aerospiketest_test

import (
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

func TestCapacityTurnsAwayWritesThatDoNotFit(t *testing.T) {
	s, c := start(t)
	require.NoError(t, s.Node(0).SetCapacity(aerospiketest.Capacity{Parallel: 1, ServiceTime: time.Hour, Queue: 1}))
	done := puts(t, c, 10)
	for range 8 { // one is served for ever, one waits
		err := <-done
		require.ErrorIs(t, err, &as.AerospikeError{ResultCode: types.DEVICE_OVERLOAD})
	}
	require.Equal(t, 2, s.Stats().InFlight)
	require.GreaterOrEqual(t, s.Stats().PeakInFlight, 3)
	ask(t, dial(t, s.Addr()), proto(2, 1, []byte("node\n"))) // info is outside of it
	s.Close()
	require.Error(t, <-done)
	require.Error(t, <-done)
}

func TestCapacityTurnsAwayReadsWithTheirCode(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Capacity: aerospiketest.Capacity{Parallel: 1, ServiceTime: time.Hour, OverloadCode: aerospiketest.CodeKeyBusy}})
	done := make(chan as.Error, 5)
	for i := range 5 {
		k := key(t, i)
		go func() {
			_, err := c.Get(readPolicy(), k)
			done <- err
		}()
	}
	for range 4 {
		require.Equal(t, types.KEY_BUSY, codeOf(<-done))
	}
	s.Close()
	require.NotNil(t, <-done)
}

func TestCapacityServesSoManyAtATime(t *testing.T) {
	const parallel, service, n = 4, 20 * time.Millisecond, 20
	_, c := start(t, aerospiketest.Config{Capacity: aerospiketest.Capacity{Parallel: parallel, ServiceTime: service, Queue: n}})
	begin := time.Now()
	done := puts(t, c, n)
	for range n {
		require.NoError(t, <-done)
	}
	require.GreaterOrEqual(t, time.Since(begin), n/parallel*service)
}

func TestCapacityIsValidated(t *testing.T) {
	s := aerospiketest.NewServer(t)
	err := s.Node(0).SetCapacity(aerospiketest.Capacity{Parallel: -1, ServiceTime: -1, Queue: -2})
	require.ErrorContains(t, err, "Capacity.Parallel is -1")
	require.ErrorContains(t, err, "Capacity.ServiceTime is -1ns")
	require.ErrorContains(t, err, "Capacity.Queue is -2")
	require.ErrorContains(t, s.Node(0).SetCapacity(aerospiketest.Capacity{Queue: 1}), "as Parallel is 0")
}
