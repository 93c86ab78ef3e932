package main

import (
	"errors"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
)

// tally counts what callers got.
type tally struct {
	refused    atomic.Uint64
	mu         sync.Mutex
	ok         spillway.Distribution
	errors     map[string]uint64
	goroutines uint64
	heap       uint64
}

func (t *tally) count(err error, took time.Duration) {
	if errors.Is(err, spillway.ErrBackpressure) {
		t.refused.Add(1)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.ok.Count++
		t.ok.Buckets[spillway.DistributionBucket(took)]++
		return
	}
	if t.errors == nil {
		t.errors = map[string]uint64{}
	}
	t.errors[kindOf(err)]++
}

// kindOf names the cause of an error, as Spillway classifies it for both sides.
func kindOf(err error) string {
	return strings.ToLower(aerospike.Classify(err).Code.String())
}

// watchPeaks looks at goroutines and heap until it is stopped.
func (t *tally) watchPeaks() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		samples := []metrics.Sample{{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(samples)
			t.mu.Lock()
			t.goroutines = max(t.goroutines, samples[0].Value.Uint64())
			t.heap = max(t.heap, samples[1].Value.Uint64())
			t.mu.Unlock()
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (t *tally) result(callers int, guarded bool, elapsed time.Duration) result {
	t.mu.Lock()
	defer t.mu.Unlock()
	return result{
		Callers: callers, Guarded: guarded, Goodput: float64(t.ok.Count) / elapsed.Seconds(),
		Errors: t.errors, Refused: t.refused.Load(), P50: t.ok.Quantile(0.5), P99: t.ok.Quantile(0.99),
		Goroutines: int(t.goroutines), HeapMB: float64(t.heap) / 1e6, Seconds: elapsed.Seconds(),
	}
}
