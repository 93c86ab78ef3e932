package main

import (
	"context"
	"time"

	"github.com/failsafe-go/failsafe-go/bulkhead"
	marusama "github.com/marusama/semaphore/v2"
	"golang.org/x/sync/semaphore"

	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/group"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
)

const (
	nameRefused     = "`limiter.Do`, refused"
	nameRefusedLane = "`lane.Do`, no room to wait"
	nameRefusedGo   = "`Executor.Go`, queue full"
)

// refused is what a call costs for which there is no permit: under overload nearly all of
// them. goresilience and eapache can't refuse without waiting for a timer.
func refused(o *opened) (*family, error) {
	f := &family{name: "refused", modes: []mode{serial(), parallel()}}
	f.add(nameFloor, floor())
	for _, add := range []func(*family, *opened) error{addRefusedOurs, addRefusedExecutor, addRefusedRivals} {
		if err := add(f, o); err != nil {
			return nil, err
		}
	}
	f.rows = []row{
		{ours: nameRefused, its: nameFloor, most: 1.2, allocs: 0},
		{ours: nameRefusedLane, its: nameFloor, allocs: 0},
		{ours: nameRefusedGo, its: nameFloor, allocs: 0},
		versus(nameRefused, nameSync),
		versus(nameRefused, nameChannel),
		versus(nameRefused, nameFailsafe),
		versus(nameRefused, nameFailsafeRaw),
		versus(nameRefused, nameLimits),
		versus(nameRefused, nameMarusama),
	}
	return f, nil
}

func addRefusedOurs(f *family, o *opened) error {
	l, err := limiter.New[int](limiter.Config{Name: "bench", Limit: 1})
	if err != nil {
		return err
	}
	if err := o.hold(l); err != nil {
		return err
	}
	f.add(nameRefused, limited(o.call, l))

	waiting, err := lane.New[int](lane.Config{Name: "bench", Limit: 1})
	if err != nil {
		return err
	}
	if err := o.hold(waiting); err != nil {
		return err
	}
	f.add(nameRefusedLane, laned(o.call, waiting))
	return nil
}

// hold takes a permit until the end.
func (o *opened) hold(l group.Admission) error {
	permit, err := l.Admit(o.ctx)
	if err != nil {
		return err
	}
	o.onClose(func() error { permit.Release(); return nil })
	return nil
}

// addRefusedExecutor adds an executor whose only worker is busy until the end.
func addRefusedExecutor(f *family, o *opened) error {
	e, err := deadline.New[int](deadline.Config{Name: "bench", Workers: 1, TTL: time.Hour, Drain: time.Minute})
	if err != nil {
		return err
	}
	busy, over := make(chan struct{}), make(chan struct{})
	err = e.Go(o.ctx, func(context.Context) (int, error) {
		close(busy)
		<-over
		return 0, nil
	})
	if err != nil {
		return err
	}
	<-busy
	o.onClose(func() error { close(over); return e.Close(o.ctx) })
	f.add(nameRefusedGo, func(times int) {
		for range times {
			_ = e.Go(o.call, op)
		}
	})
	return nil
}

// addRefusedRivals adds the rivals, with their only permit taken.
func addRefusedRivals(f *family, o *opened) error {
	sem := semaphore.NewWeighted(1)
	sem.TryAcquire(1)
	f.add(nameSync, syncTry(sem))
	full := make(chan struct{}, 1)
	full <- struct{}{}
	f.add(nameChannel, channelTry(full))
	get, raw := bulkhead.New[int](1), bulkhead.New[int](1)
	get.TryAcquirePermit()
	raw.TryAcquirePermit()
	f.add(nameFailsafe, failsafeGet(get))
	f.add(nameFailsafeRaw, failsafeTry(raw))
	limits, err := newLimits(1)
	if err != nil {
		return err
	}
	limits.Acquire(o.ctx)
	f.add(nameLimits, limitsAcquire(o.call, limits))
	other := marusama.New(1)
	other.TryAcquire(1)
	f.add(nameMarusama, marusamaTry(other))
	return nil
}
