package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
)

const (
	nameWatched        = "`limiter.Do`, with hooks and read 100 times a second"
	nameRefusedWatched = "`limiter.Do`, refused, with a hook that counts"
)

// scrapeEvery is how often the statistics are read: a hundred times as often as anybody
// who scrapes them.
const scrapeEvery = 10 * time.Millisecond

// telemetry is what watching costs a primitive. Its numbers are read from outside, so an
// admitted call pays nothing; within a tenth is what can be told apart from nothing.
func telemetry(o *opened) (*family, error) {
	f := &family{name: "telemetry", modes: []mode{serial(), parallel()}}
	bare, err := limiter.New[int](limiter.Config{Name: "bench", Limit: many})
	if err != nil {
		return nil, err
	}
	watched, err := newWatched(many)
	if err != nil {
		return nil, err
	}
	o.scrape(func() { _ = watched.Stats() })
	f.add(nameLimiter, limited(o.call, bare))
	f.add(nameWatched, limited(o.call, watched))

	refusing, err := limiter.New[int](limiter.Config{Name: "bench", Limit: 1})
	if err != nil {
		return nil, err
	}
	refusingWatched, err := newWatched(1)
	if err != nil {
		return nil, err
	}
	for _, l := range []*limiter.Limiter[int]{refusing, refusingWatched} {
		if err := o.hold(l); err != nil {
			return nil, err
		}
	}
	f.add(nameRefused, limited(o.call, refusing))
	f.add(nameRefusedWatched, limited(o.call, refusingWatched))
	f.rows = []row{
		{ours: nameWatched, its: nameLimiter, most: 1.1, allocs: 0},
		{ours: nameRefusedWatched, its: nameRefused, allocs: 0},
	}
	return f, nil
}

// newWatched is a limiter with a hook for everything there is.
func newWatched(limit int) (*limiter.Limiter[int], error) {
	var told atomic.Uint64
	return limiter.New[int](limiter.Config{Name: "bench", Limit: limit, Hooks: []limiter.Hooks{{
		Rejected:     func(context.Context, *spillway.Rejection) { told.Add(1) },
		LimitChanged: func(int, int) { told.Add(1) },
		ModeChanged:  func(spillway.Mode, spillway.Mode) { told.Add(1) },
		HeldLong:     func(spillway.Holder) { told.Add(1) },
	}}})
}

// scrape calls read again and again until the end.
func (o *opened) scrape(read func()) {
	over := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		ticker := time.NewTicker(scrapeEvery)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				read()
			}
		}
	})
	o.onClose(func() error { close(over); all.Wait(); return nil })
}
