package aerospiketest_test

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

func TestGateHoldsAHandshake(t *testing.T) {
	cert, pool := certificate(t, "db.example")
	s := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2, TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	g := s.Hold(aerospiketest.Match{Kinds: aerospiketest.KindConnect, Nodes: []int{0}})
	trust := &tls.Config{RootCAs: pool, ServerName: "db.example"}
	done := make(chan error, 1)
	shake := func(addr string) {
		c, err := tls.Dial("tcp", addr, trust)
		if err == nil {
			err = c.Close()
		}
		done <- err
	}
	go shake(s.Addr())
	require.NoError(t, g.Wait(soon(t), 1))
	go shake(s.Node(1).Addr()) // not held
	require.NoError(t, <-done)
	require.Empty(t, done, "the server has read nothing yet")
	g.Step(1)
	require.NoError(t, <-done)

	const wait = 50 * time.Millisecond
	g.Release()
	s.Node(0).SetAccept(aerospiketest.Accept{Delay: wait})
	begin := time.Now()
	shake(s.Addr())
	require.NoError(t, <-done)
	require.GreaterOrEqual(t, time.Since(begin), wait, "a delay is one of the handshake, too")
}

func TestGateHoldsALogin(t *testing.T) {
	s := secured(t)
	c := login(t, s, "root", "secret")
	g := s.Hold(aerospiketest.Match{Kinds: aerospiketest.KindConnect})
	type opened struct {
		n   int
		err as.Error
	}
	done := make(chan opened, 1)
	go func() {
		n, err := c.WarmUp(1)
		done <- opened{n, err}
	}()
	require.NoError(t, g.Wait(soon(t), 2))
	require.Empty(t, done, "the driver waits for its login at both nodes")
	require.EqualValues(t, 2, g.Held())
	g.Release()
	warm := <-done
	require.Nil(t, warm.err)
	require.Equal(t, 2, warm.n)
}

func TestGateHoldsTheFirstCommandOfAConnection(t *testing.T) {
	s := aerospiketest.NewServer(t)
	g := s.Hold(aerospiketest.Match{Kinds: aerospiketest.KindConnect})
	seen := s.Record(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	c := dial(t, s.Addr()) // open, as far as a client can tell
	_, err := c.Write(proto(2, 1, []byte("node\n")))
	require.NoError(t, err)
	require.NoError(t, g.Wait(soon(t), 1))
	require.Zero(t, seen.Len())
	g.Release()
	_, body, err := readFrame(c)
	require.NoError(t, err)
	require.Equal(t, "node\tA1\n", string(body))
}

func TestKillEndsHeldConnections(t *testing.T) {
	s := aerospiketest.NewServer(t)
	g := s.Hold(aerospiketest.Match{Kinds: aerospiketest.KindConnect})
	c, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, g.Wait(soon(t), 1))
	s.Node(0).Kill()
	require.Zero(t, g.Held())
	require.NoError(t, s.AwaitConns(soon(t), 0))
	require.NoError(t, s.Node(0).Restart())
}
