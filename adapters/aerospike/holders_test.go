package aerospike_test

import (
	"sync"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/observe"
)

// R23, R26: whoever holds a permit of a node is listed with the line that called the client,
// in the snapshot and for the live page; one that held it for long is told to the hook.
func TestHoldersOfALaneAreListed(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	var mu sync.Mutex
	var long []spillway.Holder
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Lanes = aerospike.DefaultLanes(8)
		for i := range c.Lanes {
			c.Lanes[i].Track, c.Lanes[i].HoldWarn = spillway.TrackSite, time.Nanosecond
		}
		c.LaneHooks = func(string) lane.Hooks {
			return lane.Hooks{HeldLong: func(h spillway.Holder) { mu.Lock(); defer mu.Unlock(); long = append(long, h) }}
		}
	})
	ctx, key := patient(t), newKey(t, 1)
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindsData})
	done := make(chan error, 3)
	go func() { _, err := client.Exists(spillway.WithClass(ctx, spillway.Bulk), nil, key); done <- err }()
	require.NoError(t, gate.Wait(ctx, 1))
	go func() { done <- client.Put(ctx, nil, key, as.BinMap{"a": 1}) }()
	go func() { done <- drained(client.ScanAll(ctx, nil, "test", "s")) }()
	require.NoError(t, gate.Wait(ctx, 3))

	of := map[string]spillway.Holder{}
	for _, l := range client.Snapshot().Lanes {
		for _, h := range l.Holders {
			require.Equal(t, srv.Node(0).Name(), l.Node)
			require.Contains(t, h.Site, "aerospike_test.TestHoldersOfALaneAreListed.func")
			require.Contains(t, h.Site, "holders_test.go:")
			of[l.Lane] = h
		}
	}
	require.Len(t, of, 3)
	require.Equal(t, spillway.Bulk, of[aerospike.LaneRead].Class)
	seen := 0
	for s := range observe.All(client) {
		if s.Laned != nil && len(s.Holders()) > 0 {
			require.Contains(t, s.Holders()[0].Site, "holders_test.go:")
			seen++
		}
	}
	require.Equal(t, 6, seen, "three lanes as a whole, and at their node")

	gate.Release()
	for range 3 {
		require.NoError(t, <-done)
	}
	idle(t, client)
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, long, 3)
	require.Contains(t, long[0].Site, "holders_test.go:")
}
