//go:build go1.25

package lane_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
)

func newLane(t testing.TB, cfg lane.Config) *lane.Lane[int] {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "test"
	}
	l, err := lane.New[int](cfg)
	require.NoError(t, err)
	return l
}

// hold takes n permits of a lane and returns how to give them back, one a call.
func hold(t testing.TB, l *lane.Lane[int], n int) (release func()) {
	t.Helper()
	var permits []spillway.Permit
	for range n {
		p, err := l.Admit(context.Background())
		require.NoError(t, err)
		permits = append(permits, p)
	}
	return func() {
		permits[0].Release()
		permits = permits[1:]
	}
}

func reasonOf(t testing.TB, err error) spillway.Reason {
	t.Helper()
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	var r *spillway.Rejection
	require.ErrorAs(t, err, &r)
	return r.Reason
}

// traffic is what a load met with, in virtual time.
type traffic struct {
	mu       sync.Mutex
	offered  int
	good     int             // done before their deadline
	late     int             // done after it: wasted
	refused  int             // refused, for whatever reason
	decision []time.Duration // how long refused calls waited for their verdict
	latency  []time.Duration // how long good calls took
}

// load offers Poisson arrivals for a while: rate a second, each with its deadline, to
// do, and waits for all of them.
func load(rng *rand.Rand, rate float64, d, deadline time.Duration, do func(context.Context) error) *traffic {
	var tr traffic
	var wg sync.WaitGroup
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Duration(rng.ExpFloat64() / rate * float64(time.Second)))
		tr.offered++
		wg.Go(func() {
			start := time.Now()
			ctx, cancel := context.WithDeadline(context.Background(), start.Add(deadline))
			defer cancel()
			err := do(ctx)
			took := time.Since(start)
			tr.mu.Lock()
			defer tr.mu.Unlock()
			switch {
			case errors.Is(err, spillway.ErrBackpressure):
				tr.refused++
				tr.decision = append(tr.decision, took)
			case err == nil && took <= deadline:
				tr.good++
				tr.latency = append(tr.latency, took)
			case err == nil:
				tr.late++
			default:
				tr.refused++
				tr.decision = append(tr.decision, took)
			}
		})
	}
	wg.Wait()
	return &tr
}

// quantile returns a quantile of durations.
func quantile(ds []time.Duration, q float64) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(ds))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
