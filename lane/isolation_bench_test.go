package lane_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spillway-go/spillway"
)

// R56, W9: the critical at half of its limit, in real time over real sockets, alone and then
// beside bulk at twenty times its own. Run it with -benchtime=1x on a quiet machine.
func BenchmarkSetIsolation(b *testing.B) {
	const phase = 3 * time.Second
	for b.Loop() {
		quiet := isolation(b, phase, false)
		busy := isolation(b, phase, true)
		b.ReportMetric(100*float64(len(busy.took))/float64(busy.offered), "critical-ok-%")
		b.ReportMetric(p99(quiet.took), "quiet-p99-ms")
		b.ReportMetric(p99(busy.took), "busy-p99-ms")
		b.ReportMetric(p99(busy.took)/p99(quiet.took), "p99-ratio")
	}
}

// p99 is in milliseconds.
func p99(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[(len(took)-1)*99/100].Microseconds()) / 1000
}

type critical struct {
	offered int
	took    []time.Duration // of those that succeeded
}

// isolation offers critical calls, open loop, and bulk calls if it is to be busy.
func isolation(b *testing.B, d time.Duration, busy bool) (c critical) {
	const serving = 20 * time.Millisecond
	server, s := serveLive(b, serving), liveSet(b)
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var all sync.WaitGroup
	if busy {
		for range 20 * bulkLimit {
			op := server.client(b)
			all.Add(1)
			go func() {
				defer all.Done()
				for ctx := spillway.WithClass(ctx, spillway.Bulk); ctx.Err() == nil; {
					if _, err := s.Do(ctx, op); err != nil {
						time.Sleep(serving)
					}
				}
			}()
		}
	}
	var mu sync.Mutex
	clients := make(chan spillway.Op[int], 8*criticalLimit)
	for range cap(clients) {
		clients <- server.client(b)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	rate := criticalLimit / 2 / serving.Seconds()
	for next := time.Now(); ctx.Err() == nil; next = next.Add(time.Duration(rng.ExpFloat64() / rate * float64(time.Second))) {
		time.Sleep(time.Until(next))
		c.offered++
		start := next
		all.Add(1)
		go func() {
			defer all.Done()
			op := <-clients
			defer func() { clients <- op }()
			_, err := s.Do(spillway.WithClass(context.Background(), spillway.Critical), op)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				c.took = append(c.took, time.Since(start))
			}
		}()
	}
	all.Wait()
	return c
}
