package group

import (
	"context"
	"iter"

	"github.com/spillway-go/spillway"
)

// Each runs fn for every item of seq, each under a permit and on a goroutine of its own,
// and returns when all have ended: what became of them, and an *[Error] if any failed or
// wasn't started. Nothing is kept of an item that has ended, so there may be millions.
//
// seq is read on the caller's goroutine, one item ahead of the permits: it is slowed down
// by them. A refusal ([spillway.ErrBackpressure]) while items are under way isn't the
// item's outcome yet: Each waits until one of them ends and asks again, which the
// admission counts as another call. So a limiter of its own slows seq down like a lane;
// only an item that is refused while no other is under way is given up. Any other error
// of the admission (closed, wrongly configured, a done context) would meet every item,
// and ends the run: that item is counted as refused, and no further one is read.
//
// A wrong configuration, a nil seq or a nil fn gives a *spillway.ConfigError. If seq
// panics or calls runtime.Goexit, the items under way are cancelled and waited for, and
// it goes through to the caller.
func Each[In any](ctx context.Context, a Admission, cfg Config, seq iter.Seq[In], fn func(context.Context, In) error) (Stats, error) {
	c, err := newRun(ctx, a, cfg, seq == nil, fn == nil)
	if err != nil {
		return Stats{}, err
	}
	defer c.abandon() // nothing is left to abandon if all went well
	for in := range seq {
		op := func(ctx context.Context) error { return fn(ctx, in) }
		permit, err := c.await(func() bool { return true })
		if err != nil {
			c.refuse(err, func() {})
			if c.ends(err) {
				break
			}
			continue
		}
		c.start()
		go c.run(permit, op, func(error) {})
	}
	err = c.end()
	return c.snapshot(), err
}

// Map is Each for a function with a result: it yields every item with its result, in the
// order in which they end. The run takes place while the sequence is ranged over, and
// each range is a run of its own; results are handed on whenever one is there, but not
// while seq or the admission is waited for. There are never more of them on the way than
// permits.
//
// Items that weren't started are yielded too, with the reason; the last one says why the
// run ended early, if it did. A wrong configuration is yielded as the only result, with
// the zero item. If the consumer breaks off, the items under way are cancelled and waited
// for, and their results are dropped.
func Map[In, Out any](ctx context.Context, a Admission, cfg Config, seq iter.Seq[In], fn func(context.Context, In) (Out, error)) iter.Seq2[In, Result[Out]] {
	return func(yield func(In, Result[Out]) bool) {
		c, err := newRun(ctx, a, cfg, seq == nil, fn == nil)
		if err != nil {
			var none In
			yield(none, Result[Out]{Err: err})
			return
		}
		m := &mapping[In, Out]{crew: c, fn: fn, yield: yield}
		defer c.abandon() // nothing is left to abandon if all went well
		for in := range seq {
			if !m.one(in) {
				return
			}
		}
		m.rest()
	}
}

// mapping is one run of a Map.
type mapping[In, Out any] struct {
	crew    *crew
	fn      func(context.Context, In) (Out, error)
	yield   func(In, Result[Out]) bool
	stopped bool            // the consumer wants no more
	ready   []pair[In, Out] // results not handed on yet; guarded by crew.mu
}

type pair[In, Out any] struct {
	in  In
	out Result[Out]
}

// one starts an item, hands on what has ended, and reports whether to go on.
func (m *mapping[In, Out]) one(in In) bool {
	permit, err := m.crew.await(m.deliver)
	if err != nil {
		m.crew.refuse(err, func() { m.ready = append(m.ready, pair[In, Out]{in, Result[Out]{Err: err}}) })
		if m.crew.ends(err) {
			m.rest()
			return false
		}
		return m.deliver()
	}
	m.crew.start()
	go func() {
		var v Out
		m.crew.run(permit, func(ctx context.Context) (err error) {
			v, err = m.fn(ctx, in)
			return err
		}, func(err error) {
			m.ready = append(m.ready, pair[In, Out]{in, Result[Out]{Value: v, Err: err, Started: true}})
		})
	}()
	return m.deliver()
}

// deliver hands on the results that are there, and reports whether more are wanted.
func (m *mapping[In, Out]) deliver() bool {
	for !m.stopped {
		m.crew.mu.Lock()
		ready := m.ready
		m.ready = nil
		m.crew.mu.Unlock()
		if len(ready) == 0 {
			break
		}
		for _, p := range ready {
			if !m.yield(p.in, p.out) {
				m.stopped = true
				break
			}
		}
	}
	return !m.stopped
}

// rest hands on what is still under way.
func (m *mapping[In, Out]) rest() {
	for m.deliver() {
		m.crew.mu.Lock()
		over := m.crew.stats.Running == 0 && len(m.ready) == 0
		m.crew.mu.Unlock()
		if over {
			return
		}
		<-m.crew.ended
	}
}

// newRun is newCrew for a sequence.
func newRun(ctx context.Context, a Admission, cfg Config, noSeq, noFn bool) (*crew, error) {
	if noSeq || noFn {
		e := &spillway.ConfigError{Component: "group", Name: cfg.Name}
		if noSeq {
			e.Add("seq", nil, "must not be nil")
		}
		if noFn {
			e.Add("fn", nil, "must not be nil")
		}
		return nil, e
	}
	return newCrew(ctx, a, cfg, keptErrors)
}

// await submits an item and gets it a permit: now, or after one of the items under way
// has ended. Whenever one may have ended it calls between, which may say that no more
// are wanted. If the admission panics, the item is refused.
func (c *crew) await(between func() bool) (p spillway.Permit, err error) {
	c.submit(func() {})
	returned := false
	defer func() {
		if !returned {
			c.refuse(errNotReturned, func() {})
		}
	}()
	for {
		// The token is taken before the question: whoever ends after this leaves another,
		// and whoever ended before has given its permit back already.
		select {
		case <-c.ended:
		default:
		}
		running := c.running()
		p, err = c.admit()
		if err == nil || c.ends(err) || running == 0 {
			break
		}
		select {
		case <-c.ended:
		case <-c.ctx.Done():
		}
		if !between() {
			break
		}
	}
	returned = true
	return p, err
}

// ends reports whether an admission's error would meet every further item, too. One that
// panics when it is asked does.
func (c *crew) ends(err error) bool {
	return c.ctx.Err() != nil || !classify(err).refused
}

func (c *crew) running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats.Running
}

// abandon cancels what is under way and waits for it.
func (c *crew) abandon() {
	c.cancel(nil)
	_ = c.end()
}
