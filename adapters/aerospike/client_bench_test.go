package aerospike_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// What a guarded call costs beside the driver's own, on the same server and the same
// connections: the budget is two allocations and a microsecond.
func BenchmarkClientGet(b *testing.B) {
	srv := aerospiketest.NewServer(b)
	driver := raw(b, srv)
	key := newKey(b, 1)
	require.NoError(b, asError(driver.Put(nil, key, as.BinMap{"a": 1})))
	client, err := aerospike.Wrap(driver, aerospike.DefaultConfig())
	require.NoError(b, err)
	policy := as.NewPolicy()
	b.Run("client=driver", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := driver.Get(policy, key); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("client=ours", func(b *testing.B) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.Get(ctx, policy, key); err != nil {
				b.Fatal(err)
			}
		}
	})
	require.NoError(b, client.Close(context.Background()))
}

// What a refusal costs, which at thousands of callers is nearly every call.
func BenchmarkClientRefused(b *testing.B) {
	srv := aerospiketest.NewServer(b)
	client := connect(b, srv, func(c *aerospike.Config) { c.Limit = 1 })
	key := newKey(b, 1)
	_, err := client.Exists(context.Background(), nil, key)
	require.NoError(b, err)
	gate := srv.Hold(aerospiketest.Match{})
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		_, err := client.Exists(ctx, &as.BasePolicy{}, key) // it is held for as long as the benchmark takes
		done <- err
	}()
	require.NoError(b, gate.Wait(context.Background(), 1))
	ctx := b.Context() // one that can be cancelled, as a caller's is
	b.ReportAllocs()
	for b.Loop() {
		_, _ = client.Get(ctx, nil, key)
	}
	gate.Release()
	require.NoError(b, <-done)
}

// One of three nodes stalled, a pool of 8, callers that come back 10 ms after a
// refusal: the goodput of the other two, as a share of what it was when all was quiet.
func BenchmarkClientStalledNode(b *testing.B) {
	srv := aerospiketest.NewServer(b, aerospiketest.Config{Nodes: 3, Capacity: aerospiketest.Capacity{Parallel: 4, ServiceTime: 2 * time.Millisecond, Queue: 64}})
	client := connect(b, srv, func(c *aerospike.Config) {
		c.ClientPolicy = as.NewClientPolicy()
		c.ClientPolicy.ConnectionQueueSize = 8
		c.WarmUp = 7
	})
	driver := raw(b, srv)
	var keys []*as.Key // of the second and third node
	for _, n := range srv.Nodes()[1:] {
		keys = append(keys, keyOn(b, driver, n.Name()))
	}
	stalled := keyOn(b, driver, srv.Node(0).Name())
	measure := func() float64 {
		var good atomic.Int64
		var stop atomic.Bool
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for i := range 300 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for !stop.Load() {
					key := stalled
					if i%3 != 0 {
						key = keys[i%3-1]
					}
					_, err := client.Exists(ctx, nil, key)
					switch {
					case err == nil && key != stalled:
						good.Add(1)
					case errors.Is(err, spillway.ErrBackpressure):
						time.Sleep(10 * time.Millisecond)
					}
				}
			}()
		}
		const d = 2 * time.Second
		time.Sleep(d)
		n := float64(good.Load()) / d.Seconds()
		stop.Store(true)
		wg.Wait()
		return n
	}
	for b.Loop() {
		quiet := measure()
		gate := srv.Hold(aerospiketest.Match{Nodes: []int{0}})
		timer := time.AfterFunc(3*time.Second, gate.Release)
		busy := measure()
		timer.Stop()
		gate.Release()
		b.ReportMetric(quiet, "quiet-ok/s")
		b.ReportMetric(busy/quiet, "of-quiet")
	}
}
