package deadline

import (
	"context"
	"sync/atomic"
	"time"
)

// jobContext is the context that a job runs under. It ends when its parent does, at
// the job's deadline, when the job has returned, and when Close cuts the work off.
// Most of what runs never asks for Done, or only once, so there is nothing behind it
// but the clock until somebody does: then it makes a context of the standard library
// and becomes that. So it costs one small allocation instead of four and a timer.
//
// Where the parent's deadline is the job's, nothing in it belongs to one job, and a
// worker uses it again for the next job with the same parent.
type jobContext struct {
	core     *core
	parent   context.Context
	deadline int64 // 0 if the parent's is early enough

	// Where the parent's is: what the parent said when it was asked last.
	done  <-chan struct{}
	until int64

	ended atomic.Bool           // whether the job has returned
	inner atomic.Pointer[inner] // what it has become; nil until then

	linked     bool // whether it is in core.contexts; this and the links are guarded by the core's lock
	next, prev *jobContext
}

// of reports whether x is for jobs of the same caller, whose parent is a pointer: others
// might not be comparable at all. One from a pool is the next request's when it has another
// Done.
func (x *jobContext) of(parent context.Context, done <-chan struct{}) bool {
	return x != nil && x.parent == parent && x.done == done
}

type inner struct {
	context.Context
	cancel func(cause error)
}

// nestedKey finds the executor whose job a context belongs to.
type nestedKey struct{ core *core }

// isNested reports whether ctx is that of one of c's own jobs.
func (c *core) isNested(ctx context.Context) bool { return ctx.Value(nestedKey{c}) != nil }

// Deadline implements context.Context.
func (x *jobContext) Deadline() (time.Time, bool) {
	if x.deadline == 0 {
		return x.parent.Deadline()
	}
	return x.core.base.Add(time.Duration(x.deadline)), true
}

// Done implements context.Context.
func (x *jobContext) Done() <-chan struct{} { return x.become().Done() }

// Err implements context.Context. It makes the inner context before it says that
// time is up, because Done and context.Cause have to agree with it from then on.
func (x *jobContext) Err() error {
	if in := x.inner.Load(); in != nil {
		return in.Err()
	}
	if x.ended.Load() || x.core.cut.Load() || x.deadline != 0 && x.core.now() >= x.deadline {
		return x.become().Err()
	}
	return x.parent.Err()
}

// Value implements context.Context. The standard library finds the inner context
// through it, so contexts derived from this one need no goroutine.
func (x *jobContext) Value(key any) any {
	if k, ok := key.(nestedKey); ok && k.core == x.core {
		return x.core
	}
	if in := x.inner.Load(); in != nil {
		return in.Value(key)
	}
	return x.parent.Value(key)
}

// become makes the inner context, once. It calls the parent, which may be a user's
// own, so it holds no lock meanwhile; of two that do it at the same time one is
// thrown away. Whoever ends the job sets ended first and looks for inner then, and
// who makes inner looks for ended under the lock after that: one of the two sees the
// other, and cancels.
func (x *jobContext) become() *inner {
	if in := x.inner.Load(); in != nil {
		return in
	}
	ctx, cancel := context.WithCancelCause(x.parent)
	in := &inner{Context: ctx, cancel: cancel}
	if x.deadline != 0 {
		timed, stop := context.WithDeadline(ctx, x.core.base.Add(time.Duration(x.deadline)))
		in.Context = timed
		in.cancel = func(cause error) {
			cancel(cause)
			stop()
		}
	}
	if !x.inner.CompareAndSwap(nil, in) {
		in.cancel(nil)
		return x.inner.Load()
	}
	c := x.core
	c.mu.Lock()
	cut, ended := c.cutKnown, x.ended.Load()
	if !cut && !ended {
		x.linked = true
		x.next = c.contexts
		if x.next != nil {
			x.next.prev = x
		}
		c.contexts = x
	}
	c.mu.Unlock()
	switch {
	case ended:
		in.cancel(nil)
	case cut:
		in.cancel(c.closedErr)
	}
	return in
}

// end ends the context of a job that has returned, and frees what it holds.
func (x *jobContext) end() {
	x.ended.Store(true)
	in := x.inner.Load()
	if in == nil {
		return
	}
	x.core.mu.Lock()
	x.core.unlinkLocked(x)
	x.core.mu.Unlock()
	in.cancel(nil)
}

func (c *core) unlinkLocked(x *jobContext) {
	if !x.linked {
		return
	}
	if x.prev == nil {
		c.contexts = x.next
	} else {
		x.prev.next = x.next
	}
	if x.next != nil {
		x.next.prev = x.prev
	}
	x.linked, x.next, x.prev = false, nil, nil
}
