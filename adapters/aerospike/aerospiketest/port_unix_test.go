//go:build unix

package aerospiketest_test

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// A port that is free may become that of any connection that is opened meanwhile.
func TestNodeThatIsDownKeepsItsPort(t *testing.T) {
	s := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	n := s.Node(0)
	from, err := net.ResolveTCPAddr("tcp", n.Addr())
	require.NoError(t, err)
	dialer := net.Dialer{LocalAddr: from}
	for range 2 {
		n.Kill()
		_, err = net.Dial("tcp", n.Addr())
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		_, err = dialer.Dial("tcp", s.Node(1).Addr())
		require.Error(t, err)
		require.NoError(t, n.Restart())
		require.NoError(t, dial(t, n.Addr()).Close())
	}
	n.Kill()
	n.Remove()
	c, err := dialer.Dial("tcp", s.Node(1).Addr())
	require.NoError(t, err, "a node that was removed keeps nothing")
	require.NoError(t, c.Close())
}
