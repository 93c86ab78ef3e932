package aerospiketest_test

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// patience bounds every wait of a test that should not have to wait.
const patience = 10 * time.Second

// connect returns a driver's client of all nodes, closed at the end of the test
// and before the server.
func connect(t testing.TB, s *aerospiketest.Server, change ...func(*as.ClientPolicy)) *as.Client {
	t.Helper()
	p := as.NewClientPolicy()
	p.Timeout = 5 * time.Second
	p.MaxErrorRate = 0
	p.ConnectionQueueSize = 200
	p.TendInterval = 20 * time.Millisecond
	for _, f := range change {
		f(p)
	}
	var hosts []*as.Host
	for _, h := range s.Hosts() {
		name, port, err := net.SplitHostPort(h)
		require.NoError(t, err)
		n, err := strconv.Atoi(port)
		require.NoError(t, err)
		hosts = append(hosts, as.NewHost(name, n))
	}
	c, err := as.NewClientWithPolicyAndHost(p, hosts...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func start(t testing.TB, config ...aerospiketest.Config) (*aerospiketest.Server, *as.Client) {
	t.Helper()
	s := aerospiketest.NewServer(t, config...)
	return s, connect(t, s)
}

func key(t testing.TB, v any) *as.Key { return keyIn(t, "s", v) }

func keyIn(t testing.TB, set string, v any) *as.Key {
	t.Helper()
	k, err := as.NewKey("test", set, v)
	require.NoError(t, err)
	return k
}

// readPolicy makes one attempt, with time enough for a busy machine.
func readPolicy() *as.BasePolicy {
	p := as.NewPolicy()
	p.TotalTimeout, p.SocketTimeout, p.MaxRetries = patience, patience, 0
	return p
}

func writePolicy() *as.WritePolicy {
	p := as.NewWritePolicy(0, 0)
	p.BasePolicy = *readPolicy()
	return p
}

func batchPolicy() *as.BatchPolicy {
	p := as.NewBatchPolicy()
	p.BasePolicy = *readPolicy()
	p.MaxRetries, p.SleepBetweenRetries = 5, 20*time.Millisecond
	p.ConcurrentNodes = 0
	return p
}

func scanPolicy() *as.ScanPolicy {
	p := as.NewScanPolicy()
	p.TotalTimeout, p.SocketTimeout = patience, patience
	return p
}

// codeOf returns the outermost code of an error of the driver; 0 for nil.
func codeOf(err as.Error) types.ResultCode {
	if err == nil {
		return types.OK
	}
	if e, ok := err.(*as.AerospikeError); ok {
		return e.ResultCode
	}
	return types.COMMON_ERROR
}

func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func put(t testing.TB, c *as.Client, k *as.Key, bins ...*as.Bin) {
	t.Helper()
	require.NoError(t, asError(c.PutBins(writePolicy(), k, bins...)))
}

// asError makes a plain nil of a nil of the driver's interface.
func asError(err as.Error) error {
	if err == nil {
		return nil
	}
	return err
}

// hostOf returns the address of the first node as drivers take it.
func hostOf(t testing.TB, s *aerospiketest.Server) (host string, port int) {
	t.Helper()
	host, text, err := net.SplitHostPort(s.Addr())
	require.NoError(t, err)
	port, err = strconv.Atoi(text)
	require.NoError(t, err)
	return host, port
}

// warm opens connections.
func warm(t testing.TB, c *as.Client, n int) {
	t.Helper()
	_, err := c.WarmUp(n)
	require.NoError(t, asError(err))
}
