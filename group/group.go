package group

import (
	"context"
	"math"
	"slices"

	"github.com/spillway-go/spillway"
)

// Result is what became of one member.
type Result[T any] struct {
	Value   T     // what the member returned; zero if it panicked or wasn't started
	Err     error // nil on success; a *spillway.PanicError for a panic or Goexit
	Started bool  // whether the member was run: if not, Err says why
}

// Group runs operations with the result type T, each under a permit and on a goroutine
// of its own, and sees all of them end. All its methods are safe for concurrent use. The
// zero Group takes nothing; make one with [New], and call [Group.Wait], or its context
// stays with its parent until that ends. It keeps a result for each member: for
// millions use [Each] or [Map].
type Group[T any] struct {
	crew    *crew
	results []Result[T] // in the order of submission; guarded by crew.mu
}

// New returns a group without members, whose members run under a context that descends
// from ctx: it has ctx's values and deadline, and ends when Wait returns. A wrong
// configuration, a nil context or a nil admission gives a *spillway.ConfigError that
// lists every fault. It starts nothing.
func New[T any](ctx context.Context, a Admission, cfg Config) (*Group[T], error) {
	c, err := newCrew(ctx, a, cfg, math.MaxInt)
	if err != nil {
		return nil, err
	}
	return &Group[T]{crew: c}, nil
}

// Go takes a permit on the caller's goroutine and then runs op on one of its own; it
// returns nil as soon as op is under way. If there is no permit it returns the
// admission's error, or the context's cause, and nothing was started. Such a member has
// its place in Results and in the error of Wait all the same, so that work is never lost
// because nobody looked at the error of Go.
//
// Go waits as long as the admission lets it, and no longer than the group's context: a
// full lane slows the caller down, a full limiter doesn't. Members may call it, but one
// that waits in it holds its own permit meanwhile. A nil op is a *spillway.ConfigError
// and no member; after Wait has returned Go returns a *spillway.ClosedError. A panic of
// the admission goes through to the caller.
//
// The permit comes back, and the context of Config.MemberTimeout ends, when op returns,
// panics or calls runtime.Goexit.
func (g *Group[T]) Go(op spillway.Op[T]) error {
	if g.crew == nil {
		return &spillway.ClosedError{Component: "group", Name: ""}
	}
	if op == nil {
		e := &spillway.ConfigError{Component: "group", Name: g.crew.cfg.Name}
		e.Add("op", nil, "must not be nil")
		return e
	}
	c, i := g.crew, 0
	if !c.submit(func() { i = len(g.results); g.results = append(g.results, Result[T]{}) }) {
		return &spillway.ClosedError{Component: "group", Name: c.cfg.Name}
	}
	refuse := func(err error) { c.refuse(err, func() { g.results[i].Err = err }) }
	returned := false
	defer func() {
		if !returned {
			refuse(errNotReturned)
		}
	}()
	permit, err := c.admit()
	returned = true
	if err != nil {
		refuse(err)
		return err
	}
	c.start()
	go func() {
		var v T
		c.run(permit, func(ctx context.Context) (err error) {
			v, err = op(ctx)
			return err
		}, func(err error) {
			g.results[i] = Result[T]{Value: v, Err: err, Started: true}
		})
	}()
	return nil
}

// Cancel ends the context of all members with a cause, and keeps further ones from
// starting. It doesn't wait: that is for Wait. A nil cause is context.Canceled; only the
// first counts.
func (g *Group[T]) Cancel(cause error) {
	if g.crew != nil {
		g.crew.cancel(cause)
	}
}

// Wait returns when every member has ended and its permit is back: nil if all
// succeeded, else an *[Error] that matches each failure. There is no bound but the
// members' own: they should heed their context. Afterwards that context is done and the
// group takes no more. Until then members and others may go on calling Go. Wait may be
// called any number of times, but not by a member, which would wait for itself.
func (g *Group[T]) Wait() error {
	if g.crew == nil {
		return nil
	}
	return g.crew.end()
}

// Results waits like [Group.Wait] and returns what became of each call of Go, in the
// order of the calls: values, errors, and those that weren't started. Calls by several
// goroutines at once are in one order or another. The slice is the caller's.
func (g *Group[T]) Results() []Result[T] {
	if g.crew == nil {
		return nil
	}
	_ = g.crew.end()
	g.crew.mu.Lock()
	defer g.crew.mu.Unlock()
	return slices.Clone(g.results)
}

// Stats returns a snapshot of what has become of the members so far.
func (g *Group[T]) Stats() Stats {
	if g.crew == nil {
		return Stats{}
	}
	return g.crew.snapshot()
}
