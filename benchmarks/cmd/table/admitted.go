package main

import (
	"context"
	"time"

	aperture "github.com/eapache/go-resiliency/semaphore"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	marusama "github.com/marusama/semaphore/v2"
	gclimit "github.com/platinummonkey/go-concurrency-limits/limit"
	gclimiter "github.com/platinummonkey/go-concurrency-limits/limiter"
	"github.com/platinummonkey/go-concurrency-limits/strategy"
	goresilience "github.com/slok/goresilience/bulkhead"
	"golang.org/x/sync/semaphore"

	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
)

const (
	nameDeadline     = "`limiter.Do`, context with a deadline"
	nameAdmit        = "`limiter.Admit`, `Permit.Release`"
	nameFailsafe     = "failsafe-go bulkhead `Get`"
	nameFailsafeRaw  = "failsafe-go bulkhead, raw permits"
	nameAdaptive     = "failsafe-go adaptive limiter `Get`"
	nameLimits       = "go-concurrency-limits"
	nameGoresilience = "goresilience bulkhead"
	nameMarusama     = "marusama semaphore"
	nameEapache      = "eapache semaphore"
)

// admitted is what a call costs for which there is a permit.
func admitted(o *opened) (*family, error) {
	f := &family{name: "admitted", modes: []mode{serial(), parallel()}}
	f.add(nameFloor, floor())
	if err := f.addOurs(o.call); err != nil {
		return nil, err
	}
	if err := f.addDeadline(o); err != nil {
		return nil, err
	}
	if err := f.addRivals(o, many); err != nil {
		return nil, err
	}
	f.add(nameAdaptive, adaptive())
	f.rows = []row{
		{ours: nameLimiter, its: nameFloor, most: 3, allocs: 0},
		{ours: nameAdmit, its: nameFloor, most: 4.5, allocs: 0},
		{ours: nameLane, its: nameFloor, most: 3.5, allocs: 0},
		{ours: nameLimiter, its: nameSync, most: 1.3, allocs: noBudget},
		{ours: nameLimiter, its: nameFailsafe, most: 1.0 / 18, allocs: noBudget},
		{ours: nameLimiter, its: nameLimits, most: 1.0 / 10, allocs: noBudget},
		versus(nameDeadline, nameLimiter),
		versus(nameLimiter, nameChannel),
		versus(nameLimiter, nameFailsafeRaw),
		versus(nameLimiter, nameAdaptive),
		versus(nameLimiter, nameGoresilience),
		versus(nameLimiter, nameMarusama),
		versus(nameLimiter, nameEapache),
	}
	return f, nil
}

// addOurs adds the three ways to a permit of ours.
func (f *family) addOurs(ctx context.Context) error {
	l, err := limiter.New[int](limiter.Config{Name: "bench", Limit: many})
	if err != nil {
		return err
	}
	waiting, err := lane.New[int](lane.Config{Name: "bench", Limit: many, MaxWaiting: many, MaxWait: time.Second, Predict: true})
	if err != nil {
		return err
	}
	f.add(nameLimiter, limited(ctx, l))
	f.add(nameAdmit, func(times int) {
		for range times {
			p, _ := l.Admit(ctx)
			p.Release()
		}
	})
	f.add(nameLane, laned(ctx, waiting))
	return nil
}

// addDeadline adds a limiter whose calls have a deadline, as those of a service have.
func (f *family) addDeadline(o *opened) error {
	l, err := limiter.New[int](limiter.Config{Name: "bench", Limit: many})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(o.ctx, time.Hour)
	o.onClose(func() error { cancel(); return nil })
	f.add(nameDeadline, limited(ctx, l))
	return nil
}

func limited(ctx context.Context, l *limiter.Limiter[int]) work {
	return func(times int) {
		for range times {
			_, _ = l.Do(ctx, op)
		}
	}
}

func laned(ctx context.Context, l *lane.Lane[int]) work {
	return func(times int) {
		for range times {
			_, _ = l.Do(ctx, op)
		}
	}
}

// addRivals adds what else hands out permits without waiting, with a limit of so many.
func (f *family) addRivals(o *opened, limit int) error {
	f.add(nameSync, syncTry(semaphore.NewWeighted(int64(limit))))
	f.add(nameChannel, channelTry(make(chan struct{}, limit)))
	f.add(nameFailsafe, failsafeGet(bulkhead.New[int](uint(limit))))
	f.add(nameFailsafeRaw, failsafeTry(bulkhead.New[int](uint(limit))))
	f.add(nameGoresilience, goresilienceRun(o, limit, func(context.Context) error { return nil }))
	f.add(nameMarusama, marusamaTry(marusama.New(limit)))
	f.add(nameEapache, eapacheAcquire(aperture.New(limit, time.Second)))
	limits, err := newLimits(limit)
	if err != nil {
		return err
	}
	f.add(nameLimits, limitsAcquire(o.call, limits))
	return nil
}

func syncTry(s *semaphore.Weighted) work {
	return func(times int) {
		for range times {
			if s.TryAcquire(1) {
				s.Release(1)
			}
		}
	}
}

func channelTry(c chan struct{}) work {
	return func(times int) {
		for range times {
			select {
			case c <- struct{}{}:
				<-c
			default:
			}
		}
	}
}

func failsafeGet(b bulkhead.Bulkhead[int]) work {
	get := failsafe.With[int](b)
	one := func() (int, error) { return 1, nil }
	return func(times int) {
		for range times {
			_, _ = get.Get(one)
		}
	}
}

func failsafeTry(b bulkhead.Bulkhead[int]) work {
	return func(times int) {
		for range times {
			if b.TryAcquirePermit() {
				b.ReleasePermit()
			}
		}
	}
}

func adaptive() work {
	get := failsafe.With[int](adaptivelimiter.NewBuilder[int]().WithLimits(many, many, many).Build())
	one := func() (int, error) { return 1, nil }
	return func(times int) {
		for range times {
			_, _ = get.Get(one)
		}
	}
}

// goresilienceRun runs on workers of the library's; they end with o.
func goresilienceRun(o *opened, limit int, f func(context.Context) error) work {
	stop := make(chan struct{})
	o.onClose(func() error { close(stop); return nil })
	runner := goresilience.New(goresilience.Config{Workers: limit, MaxWaitTime: time.Minute, StopC: stop})
	return func(times int) {
		for range times {
			_ = runner.Run(o.ctx, f)
		}
	}
}

func marusamaTry(s marusama.Semaphore) work {
	return func(times int) {
		for range times {
			if s.TryAcquire(1) {
				s.Release(1)
			}
		}
	}
}

func eapacheAcquire(s *aperture.Semaphore) work {
	return func(times int) {
		for range times {
			if s.Acquire() == nil {
				s.Release()
			}
		}
	}
}

// newLimits is a limiter of go-concurrency-limits whose limit stays as it is. All else is the
// library's default: it takes no sample of calls that are shorter than 100 µs, as these are.
func newLimits(limit int) (*gclimiter.DefaultLimiter, error) {
	return gclimiter.NewDefaultLimiter(
		gclimit.NewFixedLimit("bench", limit, nil),
		int64(time.Second), int64(time.Second), int64(100*time.Microsecond), 100,
		strategy.NewSimpleStrategy(limit), nil, nil,
	)
}

func limitsAcquire(ctx context.Context, l *gclimiter.DefaultLimiter) work {
	return func(times int) {
		for range times {
			if listener, ok := l.Acquire(ctx); ok {
				listener.OnSuccess()
			}
		}
	}
}
