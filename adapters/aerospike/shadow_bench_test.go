package aerospike_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// pair are the latencies of the same call, with the driver alone and in mode Shadow.
type pair struct{ bare, shadow []time.Duration }

// one makes a call both ways, first this way and then that, and holds the answers against
// each other.
func (p *pair) one(b *testing.B, bareFirst bool, bare, shadow func() (*as.Record, error)) {
	call := func(f func() (*as.Record, error), into *[]time.Duration) any {
		began := time.Now()
		rec, err := f()
		*into = append(*into, time.Since(began))
		if err != nil {
			b.Error(err)
			return nil
		}
		return rec.Bins["a"]
	}
	var x, y any
	if bareFirst {
		x, y = call(bare, &p.bare), call(shadow, &p.shadow)
	} else {
		y, x = call(shadow, &p.shadow), call(bare, &p.bare)
	}
	if x != y {
		b.Errorf("%v, and in mode Shadow %v", x, y)
	}
}

// What mode Shadow adds to a running load: many callers, each of whom makes every call
// twice, with the driver alone and through the client, in turn, over the same connections.
// It fails if one answer differs, or if the median is half as much again, which no neighbour
// on the machine explains, for he slows down both. "make shadow" runs it for a minute.
func BenchmarkShadowPaired(b *testing.B) {
	srv := aerospiketest.NewServer(b)
	driver := raw(b, srv)
	cfg := aerospike.DefaultConfig()
	cfg.Mode = spillway.Shadow
	cfg.Lanes = aerospike.DefaultLanes(1) // everybody but one would be refused
	client, err := aerospike.Wrap(driver, cfg)
	require.NoError(b, err)
	key, policy := newKey(b, 1), as.NewPolicy()
	policy.TotalTimeout = time.Hour
	require.NoError(b, asError(driver.Put(nil, key, as.BinMap{"a": 1})))
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	var mu sync.Mutex
	var all pair
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		var mine pair
		for turn := 0; pb.Next(); turn++ {
			mine.one(b, turn%2 == 0, func() (*as.Record, error) {
				rec, aerr := driver.Get(policy, key)
				return rec, asError(aerr)
			}, func() (*as.Record, error) { return client.Get(ctx, policy, key) })
		}
		mu.Lock()
		defer mu.Unlock()
		all.bare, all.shadow = append(all.bare, mine.bare...), append(all.shadow, mine.shadow...)
	})
	slices.Sort(all.bare)
	slices.Sort(all.shadow)
	n := len(all.bare)
	for name, at := range map[string]int{"p50": n / 2, "p99": n * 99 / 100} {
		ratio := float64(all.shadow[at]) / float64(all.bare[at])
		b.ReportMetric(float64(all.bare[at]), name+"-driver-ns")
		b.ReportMetric(ratio, name+"-ratio")
		if name == "p50" && n > 1000 && ratio > 1.5 {
			b.Errorf("the median in mode Shadow is %.2f times the driver's", ratio)
		}
	}
	snap := client.Snapshot()
	if n > 1000 { // it isn't the first, short run of a benchmark
		require.NotZero(b, snap.Lane("A1", aerospike.LaneRead).WouldRefuse)
	}
	require.Zero(b, snap.Lane("A1", aerospike.LaneRead).Refused.Total())
	require.NoError(b, client.Close(context.Background()))
}
