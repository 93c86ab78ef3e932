package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
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
	errors   int
	err      error // the first of them
}

// errorShare is the share of errors at which a class ends.
const errorShare = 0.01

// ramp tries one number of callers after the other, and says why it ended.
func (r *records) ramp(ctx context.Context, class string, o options, say func(string, ...any)) (points []point, why string, err error) {
	call := r.read
	if class == "write" {
		call = r.write
	}
	pace := rate.NewLimiter(rate.Limit(o.maxRate), max(1, int(o.maxRate/100)))
	for _, n := range o.steps() {
		p := measure(ctx, call, n, o.step, pace)
		if ctx.Err() != nil {
			return points, "", context.Cause(ctx)
		}
		say("%-6s %4d callers %9.0f/s  p50 %-9v p99 %-9v %d errors", class, n, p.rate, p.p50.Round(time.Microsecond), p.p99.Round(time.Microsecond), p.errors)
		points = append(points, p)
		switch {
		case float64(p.errors) > errorShare*p.rate*o.step.Seconds():
			return points, fmt.Sprintf("errors at %d callers: %v", n, p.err), nil
		case p.p99 > o.stopP99:
			return points, fmt.Sprintf("a p99 of %v at %d callers", p.p99.Round(time.Millisecond), n), nil
		case p.rate > 0.95*o.maxRate:
			return points, fmt.Sprintf("the bound of %.0f calls a second: the knee may be higher", o.maxRate), nil
		}
	}
	return points, "the largest number of callers", nil
}

func (r *records) read(ctx context.Context, i int) error {
	_, err := r.client.Get(ctx, nil, r.keys[i%len(r.keys)])
	return err
}

func (r *records) write(ctx context.Context, i int) error {
	return r.client.Put(ctx, nil, r.keys[i%len(r.keys)], r.bins)
}

// measure has n callers make one call after the other for a while, each with a random
// record, all together at no more than the pace.
func measure(ctx context.Context, call func(context.Context, int) error, n int, d time.Duration, pace *rate.Limiter) point {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var mu sync.Mutex
	var all spillway.Distribution
	p := point{callers: n}
	var callers sync.WaitGroup
	start := time.Now()
	for range n {
		callers.Go(func() {
			mine, bad, first := one(ctx, call, pace)
			mu.Lock()
			defer mu.Unlock()
			all = add(all, mine)
			p.errors += bad
			if p.err == nil {
				p.err = first
			}
		})
	}
	callers.Wait()
	p.rate = float64(all.Count) / time.Since(start).Seconds()
	p.mean, p.p50, p.p99 = all.Mean(), all.Quantile(0.5), all.Quantile(0.99)
	return p
}

// one is a caller: its latencies, and how many calls failed while there was time.
func one(ctx context.Context, call func(context.Context, int) error, pace *rate.Limiter) (d spillway.Distribution, bad int, first error) {
	for pace.Wait(ctx) == nil {
		began := time.Now()
		err := call(ctx, rand.IntN(1<<20))
		switch took := time.Since(began); {
		case err == nil:
			d.Count++
			d.Sum += took
			d.Buckets[spillway.DistributionBucket(took)]++
		case ctx.Err() == nil:
			bad++
			if first == nil {
				first = err
			}
		}
	}
	return d, bad, first
}

func add(a, b spillway.Distribution) spillway.Distribution {
	a.Count += b.Count
	a.Sum += b.Sum
	for i, n := range b.Buckets {
		a.Buckets[i] += n
	}
	return a
}
