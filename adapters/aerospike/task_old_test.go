package aerospike_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// aged stands in front of a server and has it look like one before 6.0: what it says that it
// can doesn't include queries of partitions, and what it doesn't understand is no error.
func aged(t *testing.T, srv *aerospiketest.Server) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	relay := func(client net.Conn) {
		defer wg.Done()
		defer func() { _ = client.Close() }()
		server, err := net.Dial("tcp", srv.Addr())
		if err != nil {
			return
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { _ = server.Close() }()
			_, _ = io.Copy(server, client)
		}()
		for b := make([]byte, 1<<16); ; {
			n, err := server.Read(b)
			older := bytes.ReplaceAll(b[:n], []byte("pquery"), []byte("pquer-"))
			_, _ = client.Write(bytes.ReplaceAll(older, []byte("\tERROR:"), []byte("\tstate=")))
			if err != nil {
				return
			}
		}
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Add(1)
			go relay(conn)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return l.Addr().String()
}

// A task may be asked by many at once; what the driver's own writes down of a job, which is
// asked of servers before 6.0, is not made for that.
func TestTaskOfAnOldServerConcurrentSafe(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	addr := aged(t, srv)
	client := untended(t, srv, func(c *aerospike.Config) { c.Hosts = []string{addr} })
	require.False(t, client.GetNodes()[0].SupportsPartitionQuery())
	task, err := client.QueryExecute(patient(t), nil, nil, statement(), as.TouchOp())
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			done, err := task.Done(patient(t))
			require.NoError(t, err)
			require.False(t, done)
		}()
	}
	wg.Wait()
	balanced(t, client)
}
