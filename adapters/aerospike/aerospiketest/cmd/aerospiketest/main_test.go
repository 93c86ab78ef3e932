package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRunServesUntilInterrupted(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	done := make(chan error)
	go func() { done <- run(ctx, []string{"-addr", "127.0.0.1:0", "-nodes", "2", "-namespace", "a,b"}, w) }()
	lines := bufio.NewScanner(r)
	var addrs []string
	for lines.Scan() && lines.Text() != "ready" {
		name, addr, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "node "), " at ")
		require.True(t, ok)
		require.Contains(t, []string{"A1", "A2"}, name)
		addrs = append(addrs, addr)
	}
	require.Len(t, addrs, 2)
	c, err := net.Dial("tcp", addrs[1])
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = c.Write([]byte("\x02\x01\x00\x00\x00\x00\x00\x0bnamespaces\n"))
	require.NoError(t, err)
	answer := make([]byte, 8+len("namespaces\ta;b\n"))
	_, err = io.ReadFull(c, answer)
	require.NoError(t, err)
	require.Equal(t, "namespaces\ta;b\n", string(answer[8:]))
	cancel()
	require.NoError(t, <-done)
	_, err = c.Read(answer)
	require.Error(t, err, "the server is gone")
}

func TestRunRefusesNonsense(t *testing.T) {
	for _, args := range [][]string{{"-nodes", "x"}, {"-nodes", "1000"}, {"-addr", "nowhere"}, {"-addr", "127.0.0.1:65535", "-nodes", "2"}, {"-namespace", ""}, {"-password", "x"}, {"3000"}} {
		require.Error(t, run(context.Background(), args, io.Discard), args)
	}
	require.NoError(t, run(context.Background(), []string{"-h"}, io.Discard))
}
