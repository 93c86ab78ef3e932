package aerospike_test

import (
	"bytes"
	"log/slog"
	"slices"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// movingReads are the default lanes, with a limit of reads that moves.
func movingReads(reads, most int) []aerospike.LaneConfig {
	lanes := aerospike.DefaultLanes(reads)
	cfg := adaptive.DefaultConfig(most)
	lanes[0].Adaptive = &cfg
	return lanes
}

// A lane's limit is moved at each node by itself; Apply changes where it goes back to; and a
// new connection begins anew.
func TestLaneLimitMoves(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Lanes = movingReads(16, 20) })
	ctx := patient(t)
	key := newKey(t, 1)
	require.NoError(t, client.Put(ctx, nil, key, as.BinMap{"a": 1}))
	moved := func() *adaptive.Stats {
		all := client.Snapshot().Lanes
		i := slices.IndexFunc(all, func(l aerospike.LaneSnapshot) bool { return l.Lane == aerospike.LaneRead && l.Node != "" })
		require.GreaterOrEqual(t, i, 0)
		for _, l := range all {
			require.Equal(t, l.Lane == aerospike.LaneRead && l.Present, l.Adaptive != nil, l.Lane)
		}
		return all[i].Adaptive
	}
	s := moved()
	require.Equal(t, []any{16, 8.0, false}, []any{s.Static, s.Limit, s.Trusted})
	for s.Windows == 0 {
		for range 100 {
			_, err := client.Get(ctx, nil, key)
			require.NoError(t, err)
		}
		s = moved()
	}
	require.Positive(t, s.Latency)

	require.NoError(t, client.Apply(aerospike.Settings{Lanes: map[string]aerospike.LaneSettings{aerospike.LaneRead: {Limit: 18}}}))
	require.Equal(t, 18, moved().Static)
	err := client.Apply(aerospike.Settings{Lanes: map[string]aerospike.LaneSettings{aerospike.LaneRead: {Limit: 21}}})
	require.ErrorContains(t, err, "Lanes[read].Limit is 21")

	require.NoError(t, client.Close(ctx))
	require.NoError(t, client.Connect(ctx))
	_, err = client.Get(ctx, nil, key)
	require.NoError(t, err)
	require.Equal(t, []any{18, 9.0}, []any{moved().Static, moved().Limit})
}

// Whoever suspects at night what moves a limit turns it off as everything else; it stays off at new nodes
// and after a reconnect, and what isn't said goes on as it was.
func TestClientApplyTurnsMovingLimitsOff(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	var out bytes.Buffer
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Lanes = movingReads(16, 20)
		c.Logger = slog.New(slog.NewTextHandler(&out, nil))
	})
	driver := raw(t, srv)
	reads := func(node int) lane.Stats {
		t.Helper()
		name := srv.Node(node).Name()
		_, err := client.Exists(patient(t), nil, keyOn(t, driver, name))
		require.NoError(t, err)
		return client.Snapshot().Lane(name, aerospike.LaneRead)
	}
	apply := func(text string) error {
		settings, err := aerospike.ParseSettings([]byte(text))
		require.NoError(t, err)
		return client.Apply(settings)
	}
	require.Equal(t, 8, reads(0).Limit)
	require.NoError(t, apply(`{"lanes": {"read": {"adaptive": "off"}}}`))
	require.Contains(t, out.String(), `read.adaptive="enforce → off"`)
	require.Equal(t, 16, reads(0).Limit)
	require.Equal(t, 16, reads(1).Limit) // its lanes were made afterwards
	require.NoError(t, apply(`{"lanes": {"read": {"limit": 7}}}`))
	require.Equal(t, 7, reads(0).Limit)
	require.NoError(t, client.Close(patient(t)))
	require.NoError(t, client.Connect(patient(t)))
	require.Equal(t, 7, reads(1).Limit)
	require.NoError(t, apply(`{"lanes": {"read": {"adaptive": "enforce", "limit": 16}}}`))
	require.Equal(t, 8, reads(1).Limit)
	require.NoError(t, apply(`{"lanes": {"read": {"adaptive": "enforce", "limit": 8}}}`)) // nothing new about the mode
	require.Equal(t, 8, reads(1).Limit, "it began anew, at 4")

	require.ErrorContains(t, apply(`{"lanes": {"write": {"adaptive": "off"}}}`), "Lanes[write].Adaptive is off: must be left out: nothing moves the lane's limit")
	refuse := spillway.RefuseAll
	err := client.Apply(aerospike.Settings{Lanes: map[string]aerospike.LaneSettings{aerospike.LaneRead: {Adaptive: &refuse}}})
	require.ErrorContains(t, err, "Lanes[read].Adaptive is refuse-all: must be enforce, shadow or off")
}

// The limit falls at the node that answers with overload, and not at the other.
func TestLaneLimitFallsAtTheOverloadedNode(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Lanes = movingReads(16, 20)
		c.Lanes[0].Adaptive.Trusted = true
		c.Reads.MaxAttempts = 0
	})
	driver := raw(t, srv)
	well, ill := keyOn(t, driver, srv.Node(0).Name()), keyOn(t, driver, srv.Node(1).Name())
	put(t, client, well, as.BinMap{"a": 1})
	srv.Inject(aerospiketest.Fault{
		Match:  aerospiketest.Match{Nodes: []int{1}, Kinds: aerospiketest.KindsRead},
		Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload,
	})
	limits := map[string]float64{}
	for limits[srv.Node(1).Name()] == 0 || limits[srv.Node(1).Name()] > 1 {
		_, err := client.Get(patient(t), nil, well)
		require.NoError(t, err)
		_, err = client.Get(patient(t), nil, ill)
		require.True(t, aerospike.IsOverload(err), err)
		for _, l := range client.Snapshot().Lanes {
			if l.Adaptive != nil {
				limits[l.Node] = l.Adaptive.Limit
			}
		}
	}
	require.InDelta(t, 4, limits[srv.Node(0).Name()], 1)
}

// What is wrong with a limit that moves is said before anything is made.
func TestLaneLimitThatMovesIsValidated(t *testing.T) {
	for _, c := range []struct {
		change func([]aerospike.LaneConfig)
		says   string
	}{
		{func(l []aerospike.LaneConfig) { l[0].Adaptive.Max = 7 }, "Lanes[0].Adaptive.Limit is 16"},
		{func(l []aerospike.LaneConfig) { l[0].Adaptive.Mode = spillway.RefuseAll }, "Lanes[0].Adaptive.Mode is"},
		{func(l []aerospike.LaneConfig) { l[4].Adaptive = l[0].Adaptive }, "Lanes[4].Adaptive is"},
		{func(l []aerospike.LaneConfig) { l[0].Adaptive.Max = 90 }, "need 104 connections of a node"},
	} {
		cfg := aerospike.DefaultConfig("127.0.0.1:3000")
		cfg.Lanes = movingReads(16, 20)
		c.change(cfg.Lanes)
		_, err := aerospike.New(cfg)
		require.ErrorContains(t, err, c.says)
	}
}
