package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/spillway-go/spillway"
)

// point is what one number of callers got.
type point struct {
	callers  int
	rate     float64       // successful calls a second
	mean     time.Duration // of them
	p50, p99 time.Duration
	calls    int64 // successful or not
	errors   int64
	err      error // the first of them
}

const (
	errorShare  = 0.01 // of the calls: then a class ends
	leastErrors = 10   // then it ends before its step does
)

// ramp tries one number of callers after the other, and says why it ended. Where errors
// ended it, there is no point.
func (r *records) ramp(ctx context.Context, class string, say func(string, ...any)) (c curve, err error) {
	c.class = class
	call, o := r.read, r.options
	if class == "write" {
		call = r.write
	}
	for _, n := range o.steps() {
		p := measure(ctx, call, n, o.step, r.pace)
		if ctx.Err() != nil {
			return c, context.Cause(ctx)
		}
		say("%-6s %4d callers %9.0f/s  p50 %-9v p99 %-9v %d errors", class, n, p.rate, p.p50.Round(time.Microsecond), p.p99.Round(time.Microsecond), p.errors)
		if failing(p.errors, p.calls) {
			c.failed, c.ended = true, fmt.Sprintf("errors at %d callers: %v", n, p.err)
			return c, nil
		}
		c.points = append(c.points, p)
		switch {
		case p.p99 > o.stopP99:
			c.ended = fmt.Sprintf("a p99 of %v at %d callers", p.p99.Round(time.Millisecond), n)
			return c, nil
		case p.calls == 0 || p.rate > 0.95*o.maxRate:
			c.ended = fmt.Sprintf("the bound of %.0f calls a second: the knee may be higher", o.maxRate)
			return c, nil
		case flat(c.points):
			c.ended = "throughput that grows no more"
			return c, nil
		}
	}
	c.ended = "the largest number of callers"
	return c, nil
}

// failing reports whether too many of some calls have failed.
func failing(errors, calls int64) bool { return float64(errors) > errorShare*float64(calls) }

// measure has n callers make one call after the other for a while, each with a random
// record, all together at no more than the pace. What is under way at the end is waited
// for: calls that hang are what matters most.
func measure(ctx context.Context, call func(context.Context, int) error, n int, d time.Duration, pace *rate.Limiter) point {
	step, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	t := tally{enough: cancel}
	var callers sync.WaitGroup
	start := time.Now()
	for range n {
		callers.Go(func() { t.add(one(ctx, step, call, pace, &t)) })
	}
	callers.Wait()
	return point{
		callers: n, rate: float64(t.within) / min(d, time.Since(start)).Seconds(),
		mean: t.all.Mean(), p50: t.all.Quantile(0.5), p99: t.all.Quantile(0.99),
		calls: t.calls.Load(), errors: t.errors.Load(), err: t.first,
	}
}

// tally is what the callers of a step have in common.
type tally struct {
	calls, errors atomic.Int64
	enough        context.CancelFunc // ends the step

	mu     sync.Mutex
	all    spillway.Distribution // guarded by mu; of the successful calls
	within uint64                // guarded by mu; those that ended within the step
	first  error                 // guarded by mu
}

// one is a caller: its latencies, and how many of the calls ended within the step.
func one(ctx, step context.Context, call func(context.Context, int) error, pace *rate.Limiter, t *tally) (d spillway.Distribution, within uint64) {
	for pace.Wait(step) == nil {
		began := time.Now()
		err := call(ctx, rand.IntN(1<<20))
		took := time.Since(began)
		if calls := t.calls.Add(1); err != nil {
			t.failed(err, calls)
			continue
		}
		d.Count++
		d.Sum += took
		d.Buckets[spillway.DistributionBucket(took)]++
		if step.Err() == nil {
			within++
		}
	}
	return d, within
}

func (t *tally) failed(err error, calls int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first == nil {
		t.first = err
	}
	if n := t.errors.Add(1); n >= leastErrors && failing(n, calls) {
		t.enough()
	}
}

func (t *tally) add(d spillway.Distribution, within uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.within += within
	t.all.Count += d.Count
	t.all.Sum += d.Sum
	for i, n := range d.Buckets {
		t.all.Buckets[i] += n
	}
}
