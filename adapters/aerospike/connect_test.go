package aerospike_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/retry"
)

// nowhere is an address that nobody listens at.
func nowhere(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return l.Addr().String()
}

// Connecting is repeated if that was asked for, and as often as that was.
func TestConnectIsRepeated(t *testing.T) {
	cfg := aerospike.DefaultConfig(nowhere(t))
	cfg.Connects = retry.ReadPolicy()
	var retries int
	cfg.Connects.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) { retries++ }}}
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	err = client.Connect(patient(t))
	var exhausted *retry.ExhaustedError
	require.ErrorAs(t, err, &exhausted)
	require.Equal(t, 3, exhausted.Attempts)
	require.Equal(t, 2, retries)
	require.EqualValues(t, 3, client.Snapshot().Connection.Failed)
	require.Equal(t, lifecycle.Disconnected, client.State())
}

// G-LIF-3; L-06: Close ends a Connect that waits for its next dial.
func TestCloseEndsAConnectBetweenTwoDials(t *testing.T) {
	cfg := aerospike.DefaultConfig(nowhere(t))
	cfg.Connects = retry.ReadPolicy()
	cfg.Connects.Base, cfg.Connects.Cap, cfg.Connects.Jitter = time.Hour, time.Hour, retry.NoJitter
	waiting := make(chan struct{}, 1)
	cfg.Connects.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) { waiting <- struct{}{} }}}
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- client.Connect(context.WithoutCancel(patient(t))) }()
	<-waiting
	require.NoError(t, client.Close(patient(t)))
	require.ErrorIs(t, <-done, lifecycle.ErrConnectAborted)
	require.Equal(t, lifecycle.Disconnected, client.State())
}

// X8, L-16: a registry has a client for each cluster, made when it is asked for.
func TestClusters(t *testing.T) {
	servers := map[string]*aerospiketest.Server{"eu": aerospiketest.NewServer(t), "us": aerospiketest.NewServer(t)}
	errUnknown := errors.New("no such cluster")
	clusters, err := aerospike.Clusters("clusters", func(cluster string) (aerospike.Config, error) {
		srv, ok := servers[cluster]
		if !ok {
			return aerospike.Config{}, errUnknown
		}
		cfg := aerospike.DefaultConfig(srv.Hosts()...)
		cfg.Name, cfg.WarmUp = cluster, 0
		return cfg, nil
	})
	require.NoError(t, err)
	for cluster := range servers {
		lease, err := clusters.Get(patient(t), cluster)
		require.NoError(t, err)
		require.NoError(t, lease.Conn().Put(patient(t), nil, newKey(t, 1), as.BinMap{"n": 1}))
		require.Equal(t, cluster, lease.Conn().Name())
		lease.Release()
	}
	_, err = clusters.Get(patient(t), "asia")
	require.ErrorIs(t, err, errUnknown)
	require.NoError(t, clusters.Close(patient(t)))
	for _, srv := range servers {
		require.NoError(t, srv.AwaitConns(patient(t), 0))
	}
	_, err = clusters.Get(patient(t), "eu")
	require.ErrorIs(t, err, spillway.ErrClosed)
	_, err = aerospike.Clusters("clusters", nil)
	require.ErrorContains(t, err, "config")
}

// failed connects to hosts, and returns the error that it must end with.
func failed(t *testing.T, change func(*aerospike.Config), hosts ...string) *aerospike.Error {
	t.Helper()
	cfg := aerospike.DefaultConfig(hosts...)
	cfg.ClientPolicy = as.NewClientPolicy()
	if change != nil {
		change(&cfg)
	}
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	err = client.Connect(patient(t))
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.Equal(t, "Connect", ours.Op)
	require.Less(t, len(ours.Error()), 500)
	require.Equal(t, lifecycle.Disconnected, client.State())
	return ours
}

// L-09: the error of a failed Connect names the seeds, and the cause as far as the driver
// tells it. (The driver's own text begins with "Invalid node".)
func TestConnectErrorSaysWhereAndWhy(t *testing.T) {
	one, two := nowhere(t), nowhere(t)
	err := failed(t, nil, one, two)
	require.ErrorContains(t, err, "aerospike: Connect to "+one+", "+two+": ")
	require.ErrorContains(t, err, "connection refused")
	require.Equal(t, spillway.OutcomeNetwork, err.Outcome())
	require.ErrorIs(t, err, &as.AerospikeError{ResultCode: types.INVALID_NODE_ERROR}, "the driver's own is there, too")

	err = failed(t, func(c *aerospike.Config) { c.ClientPolicy.Timeout = short }, "no..such.name:3000")
	require.ErrorContains(t, err, "aerospike: Connect to no..such.name:3000: ")
	require.ErrorContains(t, err, "no seed has an address")
	require.Contains(t, []spillway.Outcome{spillway.OutcomeNetwork, spillway.OutcomeTimeout}, err.Outcome())

	many := make([]string, 100)
	for i := range many {
		many[i] = one
	}
	require.ErrorContains(t, failed(t, nil, many...), one+" and more: ")
}

// A server that has answered, and won't have us, isn't asked again.
func TestConnectIsNotRepeatedIfRefused(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Security: &aerospiketest.Security{
		Users: []aerospiketest.User{{Name: "app", Password: "secret", Roles: []string{"read"}}},
	}})
	retries := 0
	err := failed(t, func(c *aerospike.Config) {
		c.ClientPolicy.User, c.ClientPolicy.Password = "app", "wrong"
		c.Connects = retry.ReadPolicy()
		c.Connects.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) { retries++ }}}
	}, nowhere(t), srv.Addr())
	require.Equal(t, spillway.OutcomePermanent, err.Outcome(), "%v", err)
	require.Contains(t, []types.ResultCode{types.INVALID_PASSWORD, types.INVALID_CREDENTIAL}, err.Code)
	require.Zero(t, retries)

	cfg := aerospike.DefaultConfig(srv.Hosts()...)
	cfg.ClientPolicy = as.NewClientPolicy()
	cfg.ClientPolicy.User, cfg.ClientPolicy.AuthMode = "app", as.AuthModeExternal
	_, cerr := aerospike.New(cfg)
	require.ErrorContains(t, cerr, "ClientPolicy.TlsConfig is <nil>: must be set with AuthMode External")
}
