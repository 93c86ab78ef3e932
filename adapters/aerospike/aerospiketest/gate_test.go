package aerospiketest_test

import (
	"context"
	"errors"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// puts starts n writes and returns where their outcomes arrive.
func puts(t testing.TB, c *as.Client, n int) <-chan error {
	t.Helper()
	done := make(chan error, n)
	for i := range n {
		k := key(t, i)
		go func() { done <- asError(c.PutBins(writePolicy(), k, as.NewBin("a", 1))) }()
	}
	return done
}

func TestGateHoldsStepsAndReleases(t *testing.T) {
	s, c := start(t)
	g := s.Hold(aerospiketest.Match{Kinds: aerospiketest.KindPut})
	done := puts(t, c, 5)
	require.NoError(t, g.Wait(soon(t), 5))
	require.Equal(t, 5, g.Held())
	require.Zero(t, s.Records("test", "s"))
	_, err := c.Get(readPolicy(), key(t, 1)) // not held
	require.Error(t, asError(err))
	g.Step(2)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Equal(t, 3, g.Held())
	require.Equal(t, 2, s.Records("test", "s"))
	g.Release()
	for range 3 {
		require.NoError(t, <-done)
	}
	require.Error(t, g.Wait(soon(t), 1))
	put(t, c, key(t, 9), as.NewBin("a", 1))
}

func TestGateStepsAreKeptForThoseThatCome(t *testing.T) {
	s, c := start(t)
	g := s.Hold(aerospiketest.Match{Kinds: aerospiketest.KindPut})
	g.Step(1)
	put(t, c, key(t, 1), as.NewBin("a", 1))
	done := puts(t, c, 1)
	require.NoError(t, g.Wait(soon(t), 1))
	g.Release()
	require.NoError(t, <-done)
}

func TestGateWaitEndsWithItsContext(t *testing.T) {
	s := aerospiketest.NewServer(t)
	g := s.Hold(aerospiketest.Match{})
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("why")
	cancel(why)
	require.ErrorIs(t, g.Wait(ctx, 1), why)
	require.NoError(t, g.Wait(ctx, 0))
}

func TestGateLetsGoOfClientsThatHangUp(t *testing.T) {
	s := aerospiketest.NewServer(t)
	g := s.Hold(aerospiketest.Match{})
	gone, stays := dial(t, s.Addr()), dial(t, s.Addr())
	_, err := gone.Write(proto(2, 3, frame{info1: 3}.body()))
	require.NoError(t, err)
	require.NoError(t, g.Wait(soon(t), 1))
	_, err = stays.Write(proto(2, 3, frame{info1: 3}.body()))
	require.NoError(t, err)
	require.NoError(t, g.Wait(soon(t), 2))
	require.NoError(t, gone.Close())
	other := dial(t, s.Addr())
	for g.Held() > 1 { // each turn is a round trip
		ask(t, other, proto(2, 1, []byte("node\n")))
	}
	g.Release()
	_, body, err := readFrame(stays)
	require.NoError(t, err)
	require.EqualValues(t, aerospiketest.CodeInvalidNamespace, body[5])
}

func TestGateEndsWithTheServer(t *testing.T) {
	s, c := start(t)
	g := s.Hold(aerospiketest.Match{})
	done := puts(t, c, 3)
	require.NoError(t, g.Wait(soon(t), 3))
	s.Close()
	for range 3 {
		require.Error(t, <-done)
	}
	require.Zero(t, g.Held())
	require.Error(t, g.Wait(soon(t), 1))
}

func TestGateHoldsInfo(t *testing.T) {
	s := aerospiketest.NewServer(t)
	g := s.Hold(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	c := dial(t, s.Addr())
	_, err := c.Write(proto(2, 1, []byte("node\n")))
	require.NoError(t, err)
	require.NoError(t, g.Wait(soon(t), 1))
	require.Zero(t, s.Stats().InFlight)
	g.Step(1)
	_, body, err := readFrame(c)
	require.NoError(t, err)
	require.Equal(t, "node\tA1\n", string(body))
}
