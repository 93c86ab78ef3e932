package aerospike_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
	"github.com/spillway-go/spillway/retry"
)

func faultsOf(t *testing.T, err error) map[string]any {
	t.Helper()
	var faults *spillway.ConfigError
	require.ErrorAs(t, err, &faults)
	found := map[string]any{}
	for _, f := range faults.Faults {
		found[f.Field] = f.Value
	}
	return found
}

// L-04, L-22: one error lists every fault, by the field's name and value.
func TestConfigListsEveryFault(t *testing.T) {
	policy := as.NewClientPolicy()
	policy.ConnectionQueueSize = 8
	policy.MinConnectionsPerNode = 9
	policy.ErrorRateWindow = 0
	policy.Timeout = 0
	policy.LimitConnectionsToQueueSize = false
	policy.OpeningConnectionThreshold = -1
	_, err := aerospike.New(aerospike.Config{
		Name: "", Hosts: []string{"ok:3000", "no-port", ":3000", "x:99999"}, ClientPolicy: policy,
		Limit: 8, Mode: 9, RetryAfter: -1, RecordTimeout: 0, StreamTimeout: -time.Second, MinBudget: time.Microsecond, WarmUp: -1,
		ConnectTimeout: 0, DrainTimeout: -1, CloseTimeout: 0,
	})
	require.Equal(t, map[string]any{
		"ClientPolicy.MinConnectionsPerNode": 9, "ClientPolicy.ErrorRateWindow": 0, "ClientPolicy.Timeout": time.Duration(0),
		"ClientPolicy.LimitConnectionsToQueueSize": false, "ClientPolicy.OpeningConnectionThreshold": -1,
		"Hosts[1]": "no-port", "Hosts[2]": ":3000", "Hosts[3]": "x:99999", "Name": "", "Limit": 8, "Mode": spillway.Mode(9),
		"RetryAfter": time.Duration(-1), "RecordTimeout": time.Duration(0), "StreamTimeout": -time.Second, "MinBudget": time.Microsecond,
		"WarmUp": -1, "ConnectTimeout": time.Duration(0), "DrainTimeout": time.Duration(-1), "CloseTimeout": time.Duration(0),
	}, faultsOf(t, err))
	require.ErrorContains(t, err, `Limit is 8: must be lower: its lanes need 15 connections of a node, and of ConnectionQueueSize there are 7 for calls`)
	require.ErrorContains(t, err, `Hosts[1] is "no-port": must be host:port`)

	_, err = aerospike.New(aerospike.DefaultConfig())
	require.Equal(t, map[string]any{"Hosts": ""}, faultsOf(t, err))
	for _, limit := range []int{-1, limiter.MaxLimit + 1, 1 << 40 >> 10} {
		cfg := aerospike.DefaultConfig("h:1")
		cfg.Limit = limit
		_, err = aerospike.New(cfg)
		require.Equal(t, map[string]any{"Limit": limit}, faultsOf(t, err))
	}
	tiny := as.NewClientPolicy()
	tiny.ConnectionQueueSize = 4
	cfg := aerospike.DefaultConfig("h:1")
	cfg.ClientPolicy = tiny
	_, err = aerospike.New(cfg)
	require.Contains(t, faultsOf(t, err), "ClientPolicy.ConnectionQueueSize")
}

// X2: the default limit is below the pool, and the driver's policy isn't written to.
func TestConfigDefaults(t *testing.T) {
	policy := as.NewClientPolicy()
	policy.ConnectionQueueSize = 8
	policy.FailIfNotConnected = false
	want := *policy
	cfg := aerospike.DefaultConfig("h:1")
	cfg.ClientPolicy = policy
	_, err := aerospike.New(cfg)
	require.NoError(t, err)
	require.Equal(t, want, *policy)
	require.Equal(t, 32, aerospike.DefaultLimit)

	_, err = aerospike.Wrap(nil, cfg)
	require.Contains(t, faultsOf(t, err), "client")
}

// The driver may open as many connections at once as calls may need them, whoever says how
// many those are: with fewer, one node that can't be reached keeps the others from theirs.
func TestConnectionsAreOpenedAsManyAtOnceAsALaneHolds(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	for want, change := range map[int]func(*aerospike.Config){
		32: func(*aerospike.Config) {},
		8:  func(c *aerospike.Config) { c.Limit = 8 },
		20: func(c *aerospike.Config) { c.Lanes = aerospike.DefaultLanes(20) },
		24: func(c *aerospike.Config) {
			c.Lanes = aerospike.DefaultLanes(4)
			c.Lanes[1].Limit = 24
		},
		3: func(c *aerospike.Config) {
			c.Lanes = aerospike.DefaultLanes(20)
			c.ClientPolicy.OpeningConnectionThreshold = 3
		},
	} {
		policy := connect(t, srv, change).Cluster().ClientPolicy()
		require.Equal(t, want, policy.OpeningConnectionThreshold)
	}
}

// A configuration is copied: whoever goes on to make the next client of it changes nothing of
// the one before.
func TestConfigIsCopied(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	moves := adaptive.DefaultConfig(20)
	moves.Classes = []adaptive.Class{{Name: "scans"}}
	cfg := aerospike.DefaultConfig(srv.Hosts()...)
	cfg.ClientPolicy = as.NewClientPolicy()
	cfg.ClientPolicy.RackIds, cfg.ClientPolicy.IpMap = []int{1}, map[string]string{"10.0.0.1": "10.0.0.2"}
	cfg.Lanes = aerospike.DefaultLanes(8)
	cfg.Lanes[0].Adaptive = &moves
	var retried atomic.Int32
	cfg.Reads.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) { retried.Add(1) }}}
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	cfg.Reads.Hooks[0] = retry.Hooks{}
	cfg.ClientPolicy.RackIds[0] = 7
	clear(cfg.ClientPolicy.IpMap)
	moves.Classes[0].Target = -1
	cfg.Hosts[0] = "nowhere:1"
	cfg.Lanes[0] = aerospike.LaneConfig{Name: "other", Limit: 1}
	cfg.Lanes[1].Name = "another"
	moves.Max = -1
	require.NoError(t, client.Connect(patient(t)))
	put(t, client, newKey(t, 1), as.BinMap{"a": 1})
	var lanes []string
	for _, l := range client.Snapshot().Lanes {
		lanes = append(lanes, l.Lane)
	}
	require.ElementsMatch(t, []string{"admin", "batch", "read", "stream", "write"}, lanes)
	require.Equal(t, []int{1}, client.Cluster().ClientPolicy().RackIds)
	require.Len(t, client.Cluster().ClientPolicy().IpMap, 1)
	require.NoError(t, client.Apply(aerospike.Settings{Reads: &aerospike.RetrySettings{Attempts: 2}})) // a new retrier
	srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindsRead}, Times: 1, Action: aerospiketest.ActionReset})
	_, err = client.Get(patient(t), nil, newKey(t, 1))
	require.NoError(t, err)
	require.EqualValues(t, 1, retried.Load())
	require.NoError(t, client.Close(patient(t)))
	srv.Close()
	require.NotContains(t, client.Connect(patient(t)).Error(), "nowhere")
}

// R184: the zero Client refuses and hangs nowhere.
func TestZeroClientRefuses(t *testing.T) {
	var client aerospike.Client
	ctx := patient(t)
	require.ErrorIs(t, client.Connect(ctx), spillway.ErrClosed)
	_, err := client.Get(ctx, nil, newKey(t, 1))
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.ErrorIs(t, client.Put(ctx, nil, newKey(t, 1), nil), spillway.ErrClosed)
	_, err = client.BatchGet(ctx, nil, nil)
	require.ErrorIs(t, err, spillway.ErrClosed)
	_, err = client.ScanAll(ctx, nil, "test", "s")
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.NoError(t, client.Close(ctx))
	require.Zero(t, client.State())
	require.Empty(t, client.Snapshot().Lanes)
}
