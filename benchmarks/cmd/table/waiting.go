package main

import (
	"context"
	"runtime"
	"time"

	aperture "github.com/eapache/go-resiliency/semaphore"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	marusama "github.com/marusama/semaphore/v2"
	gclimiter "github.com/platinummonkey/go-concurrency-limits/limiter"
	"golang.org/x/sync/semaphore"

	"github.com/spillway-go/spillway/lane"
)

// fewPermits is the limit where 32 callers share permits and most of them wait.
const fewPermits = 4

// lostAfter is how long go-concurrency-limits has a caller wait. Its queue can miss the
// release that a caller waits for, and then nothing but the time-out wakes him: with a
// minute the measurement took minutes.
const lostAfter = 5 * time.Millisecond

// yield is an operation that gives up the processor as one does that waits for a backend,
// so that the others come to the permits while they are taken.
func yield(context.Context) (int, error) {
	runtime.Gosched()
	return 1, nil
}

// waiting is what a call costs where most callers wait for a permit.
func waiting(o *opened) (*family, error) {
	f := &family{name: "waiting", modes: []mode{crowded()}}
	if err := f.addWaiting(o); err != nil {
		return nil, err
	}
	f.rows = []row{
		{ours: nameLane, its: nameSync, allocs: 0},
		versus(nameLane, nameChannel),
		versus(nameLane, nameFailsafe),
		versus(nameLane, nameFailsafeRaw),
		versus(nameLane, nameLimits),
		versus(nameLane, nameGoresilience),
		versus(nameLane, nameMarusama),
		versus(nameLane, nameEapache),
	}
	return f, nil
}

// addWaiting adds everything that has callers wait, with few permits.
func (f *family) addWaiting(o *opened) error {
	l, err := lane.New[int](lane.Config{Name: "bench", Limit: fewPermits, MaxWaiting: many, MaxWait: time.Minute, Predict: true})
	if err != nil {
		return err
	}
	f.add(nameLane, func(times int) {
		for range times {
			_, _ = l.Do(o.call, yield)
		}
	})
	sem := semaphore.NewWeighted(fewPermits)
	f.add(nameSync, around(o.ctx, func() bool { return sem.Acquire(o.ctx, 1) == nil }, func() { sem.Release(1) }))
	channel := make(chan struct{}, fewPermits)
	f.add(nameChannel, around(o.ctx, func() bool { channel <- struct{}{}; return true }, func() { <-channel }))
	raw := bulkhead.New[int](fewPermits)
	f.add(nameFailsafeRaw, around(o.ctx, func() bool { return raw.AcquirePermit(o.ctx) == nil }, raw.ReleasePermit))
	get := failsafe.With[int](bulkhead.NewBuilder[int](fewPermits).WithMaxWaitTime(time.Minute).Build())
	one := func() (int, error) { return yield(o.ctx) }
	f.add(nameFailsafe, func(times int) {
		for range times {
			_, _ = get.Get(one)
		}
	})
	limits, err := newLimits(fewPermits)
	if err != nil {
		return err
	}
	queue := gclimiter.NewQueueBlockingLimiterFromConfig(limits, gclimiter.QueueLimiterConfig{
		Ordering: gclimiter.OrderingFIFO, MaxBacklogSize: many, MaxBacklogTimeout: lostAfter,
	})
	f.add(nameLimits, func(times int) {
		for range times {
			if listener, ok := queue.Acquire(o.ctx); ok {
				_, _ = yield(o.ctx)
				listener.OnSuccess()
			}
		}
	})
	f.add(nameGoresilience, goresilienceRun(o, fewPermits, func(ctx context.Context) error { _, err := yield(ctx); return err }))
	other := marusama.New(fewPermits)
	f.add(nameMarusama, around(o.ctx, func() bool { return other.Acquire(o.ctx, 1) == nil }, func() { other.Release(1) }))
	tickets := aperture.New(fewPermits, time.Minute)
	f.add(nameEapache, around(o.ctx, func() bool { return tickets.Acquire() == nil }, tickets.Release))
	return nil
}

// around is yield between the two halves of a semaphore.
func around(ctx context.Context, acquire func() bool, release func()) work {
	return func(times int) {
		for range times {
			if acquire() {
				_, _ = yield(ctx)
				release()
			}
		}
	}
}
