package deadline

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
)

// Failure is the end of a job of [Executor.Go] that didn't succeed.
type Failure struct {
	Err   error         // why; as a future would have returned it
	Items int           // how many items were lost with it; 1 unless GoN said otherwise
	Wait  time.Duration // how long it waited; 0 if that isn't known, where jobs come by microseconds
	Run   time.Duration // how long it ran; 0 if it was never started
}

// Hooks are told of what happens off the fast path. They are called on the
// goroutine that caused it, outside of any lock; they may call the executor, as
// Config.Sink may, and may panic without harm. A nil hook is not called.
type Hooks struct {
	// Rejected is told of every refusal, at submission or later, with the context that
	// the job was submitted with.
	Rejected func(ctx context.Context, r *spillway.Rejection)
	// WorkersChanged is told of every change by SetWorkers. Changes made at the same
	// time may be told in any order; this holds for ModeChanged too.
	WorkersChanged func(from, to int)
	// ModeChanged is told of every change by SetMode.
	ModeChanged func(from, to spillway.Mode)
	// Ran is told of the jobs that ran and are in the statistics of times, where jobs
	// come by microseconds not of each: with the context that the job was submitted with,
	// how long it waited, how long it ran, and what it ended with. Whoever waits for the
	// job, and the worker, wait for the hook.
	Ran func(ctx context.Context, wait, run time.Duration, err error)
}

// quietly calls a function of the user's, whose panic harms nobody else.
func quietly(f func()) {
	defer func() { _ = recover() }()
	f()
}

func (c *core) tellRejected(ctx context.Context, r *spillway.Rejection) {
	if len(c.hooks) == 0 {
		return // nothing may be allocated here: this is every refusal
	}
	for _, h := range c.hooks {
		if h.Rejected != nil {
			quietly(func() { h.Rejected(ctx, r) })
		}
	}
}

func (c *core) tellRan(j *job) {
	for _, h := range c.hooks {
		if h.Ran != nil {
			quietly(func() { h.Ran(j.ctx, time.Duration(j.started-j.since), time.Duration(j.ended-j.started), j.err) })
		}
	}
}

func (c *core) tellWorkers(from, to int) {
	for _, h := range c.hooks {
		if h.WorkersChanged != nil && from != to {
			quietly(func() { h.WorkersChanged(from, to) })
		}
	}
}

func (c *core) tellMode(from, to spillway.Mode) {
	for _, h := range c.hooks {
		if h.ModeChanged != nil && from != to {
			quietly(func() { h.ModeChanged(from, to) })
		}
	}
}
