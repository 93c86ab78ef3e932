package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"

	"github.com/spillway-go/spillway/deadline"
)

const (
	nameGo         = "`Executor.Go`"
	nameDo         = "`Executor.Do`"
	nameDoShort    = "`Executor.Do`, context shortened"
	namePondGo     = "pond `Go`"
	namePondWait   = "pond `Submit().Wait()`"
	nameAnts       = "ants `Submit`"
	nameWorkers    = "channel and 2 workers"
	nameWorkersAsk = "channel and 2 workers, answered"
)

// The pools have two workers. A burst is handed in and then one job more that is waited for,
// so that what is measured is jobs done, not jobs piled up.
const (
	poolWorkers = 2
	burst       = 500
)

// poolQueue has room for two bursts of each caller, so that no queue is ever full: one of
// ours would refuse, which is done sooner than a job. ants has no queue.
func poolQueue() int { return 2 * burst * runtime.GOMAXPROCS(0) }

// handIn is for what no pool may refuse.
func handIn(err error) {
	if err != nil {
		panic(fmt.Errorf("a job was refused: %w", err))
	}
}

// executor is what a job costs that workers do.
func executor(o *opened) (*family, error) {
	f := &family{name: "executor", modes: []mode{serial(), parallel()}}
	if err := f.addPools(o); err != nil {
		return nil, err
	}
	f.rows = []row{
		{ours: nameGo, its: namePondGo, most: 1, allocs: 0},
		versus(nameGo, nameWorkers),
		versus(nameGo, nameAnts),
		{ours: nameDo, its: namePondWait, most: 1.0 / 3, allocs: 2},
		{ours: nameDoShort, its: namePondWait, most: 1.0 / 3, allocs: 3},
		versus(nameDo, nameWorkersAsk),
	}
	return f, nil
}

func (f *family) addPools(o *opened) error {
	ctx, cancel := context.WithTimeout(o.ctx, time.Hour)
	o.onClose(func() error { cancel(); return nil })
	if err := f.addExecutors(ctx, o); err != nil {
		return err
	}
	pool := pond.NewPool(poolWorkers, pond.WithQueueSize(poolQueue()))
	o.onClose(func() error { pool.StopAndWait(); return nil })
	nothing := func() {}
	f.addBursts(namePondGo, func() { handIn(pool.Go(nothing)) }, func() { handIn(pool.Submit(nothing).Wait()) })
	f.add(namePondWait, func(times int) {
		for range times {
			_ = pool.Submit(nothing).Wait()
		}
	})
	other, err := ants.NewPool(poolWorkers)
	if err != nil {
		return err
	}
	o.onClose(func() error { other.Release(); return nil })
	f.addBursts(nameAnts, func() { handIn(other.Submit(nothing)) }, func() {
		done := make(chan struct{})
		handIn(other.Submit(func() { close(done) }))
		<-done
	})
	f.addChannels(o)
	return nil
}

// addExecutors adds ours. The context of the first two is tight enough already; the
// third one's has to be shortened for each job.
func (f *family) addExecutors(ctx context.Context, o *opened) error {
	for name, ttl := range map[string]time.Duration{nameDo: 2 * time.Hour, nameDoShort: time.Minute} {
		e, err := deadline.New[int](deadline.Config{
			Name: "bench", Workers: poolWorkers, Queue: poolQueue(), MaxSubmitters: 64, TTL: ttl, Drain: time.Minute,
		})
		if err != nil {
			return err
		}
		o.onClose(func() error { return e.Close(o.ctx) })
		f.add(name, func(times int) {
			for range times {
				_, _ = e.Do(ctx, op)
			}
		})
		if name == nameDo {
			f.addBursts(nameGo, func() { handIn(e.Go(ctx, op)) }, func() { _, _ = e.Do(ctx, op) })
		}
	}
	return nil
}

// addChannels adds what one writes by hand, and what knows no deadline, answers nobody
// and counts nothing.
func (f *family) addChannels(o *opened) {
	jobs := make(chan func(), poolQueue())
	var all sync.WaitGroup
	for range poolWorkers {
		all.Go(func() {
			for job := range jobs {
				job()
			}
		})
	}
	o.onClose(func() error { close(jobs); all.Wait(); return nil })
	ask := func() {
		done := make(chan struct{}, 1)
		jobs <- func() { done <- struct{}{} }
		<-done
	}
	nothing := func() {}
	f.addBursts(nameWorkers, func() { jobs <- nothing }, ask)
	f.add(nameWorkersAsk, func(times int) {
		for range times {
			ask()
		}
	})
}

// addBursts adds a side that hands in jobs, a burst at a time, and waits after each for one
// job more.
func (f *family) addBursts(name string, hand, wait func()) {
	f.add(name, func(times int) {
		for times > 0 {
			n := min(times, burst)
			for range n - 1 {
				hand()
			}
			wait()
			times -= n
		}
	})
	f.sides[len(f.sides)-1].unit = burst
}
