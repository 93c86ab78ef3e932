package deadline

import (
	"context"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// Future is a job's result to be. It is resolved on every path, once and for good,
// however many wait. Its methods are safe for concurrent use. Resolving it
// synchronizes before whatever returns the result. A Future needs no release: who
// loses interest drops it, and the job goes on. The zero Future is resolved as
// closed; executors make the others.
type Future[T any] struct {
	j     job
	op    spillway.Op[T]
	core  *core
	value T
}

// run implements task.
func (f *Future[T]) run(ctx context.Context) error {
	op := f.op
	f.op = nil
	v, err := op(ctx)
	f.value = v
	return err
}

// job implements task.
func (f *Future[T]) job() *job { return &f.j }

// forget implements task.
func (f *Future[T]) forget() {
	var zero T
	f.op, f.value = nil, zero
}

// Wait returns the job's result once there is one. If ctx ends first it returns ctx's
// cause, and the job goes on. So it does if Wait would wait for itself: with the ctx of a
// job of the same executor, or called by a sink or a hook on a worker, while this job has
// no worker yet and none is free, it returns a *spillway.NestedError. It blocks until one
// of these, and allocates a channel at most. A job whose own context is canceled while it
// waits leaves the queue at that moment if somebody is in Wait, or has called Done.
func (f *Future[T]) Wait(ctx context.Context) (v T, err error) {
	if f.core == nil {
		return v, errZero
	}
	nested := f.core.isNested(ctx) || f.core.telling.Load() > 0 && !f.isSettled() && f.core.isToldHere()
	for {
		over, canceled, ended := f.watch(nested)
		if ended != nil {
			return v, ended
		}
		if over == nil {
			return f.result()
		}
		select {
		case <-over:
		case <-canceled:
			f.core.withdraw(&f.j, false)
		case <-ctx.Done():
			if f.isSettled() {
				return f.result()
			}
			return v, cause.Of(ctx)
		}
	}
}

// watch gives the channels to wait on: over, which is nil if the job is settled, and
// canceled, which is nil unless the job still waits for its start.
func (f *Future[T]) watch(nested bool) (over, canceled <-chan struct{}, err error) {
	c, j := f.core, &f.j
	c.mu.Lock()
	defer c.mu.Unlock()
	if j.state == settled {
		return nil, nil, nil
	}
	if j.state == queued || j.state == parked {
		if nested && c.freeLocked() == 0 {
			return nil, nil, &spillway.NestedError{Component: component, Name: c.name}
		}
		canceled = j.done
	}
	if j.over == nil {
		j.over = make(chan struct{})
	}
	return j.over, canceled, nil
}

// Done returns a channel that is closed when the job has its result. It never blocks.
// With a context that can be canceled, the first call registers with it, so that a
// cancellation is heard at once; who wants to spare that uses Wait.
func (f *Future[T]) Done() <-chan struct{} {
	if f.core == nil {
		over := make(chan struct{})
		close(over)
		return over
	}
	c, j := f.core, &f.j
	c.mu.Lock()
	if j.over == nil {
		j.over = make(chan struct{})
		if j.state == settled {
			close(j.over)
		}
	}
	over, ctx := j.over, j.ctx
	watch := j.done != nil && j.stop == nil && (j.state == queued || j.state == parked)
	c.mu.Unlock()
	if watch {
		f.hear(ctx)
	}
	return over
}

// hear makes the job leave the queue as soon as its context is canceled. Two callers
// of Done may both come here: the second registration is ended again.
func (f *Future[T]) hear(ctx context.Context) {
	c, j := f.core, &f.j
	stop := context.AfterFunc(ctx, func() {
		var out fallout
		now := c.now()
		c.mu.Lock()
		c.withdrawLocked(j, now, &out)
		c.unlockAside(&out)
	})
	c.mu.Lock()
	kept := j.stop == nil && j.state != settled
	if kept {
		j.stop = stop
	}
	c.mu.Unlock()
	if !kept {
		stop()
	}
}

// Result returns the job's result, or [ErrPending] if there is none yet. It never
// blocks.
func (f *Future[T]) Result() (v T, err error) {
	if f.core == nil {
		return v, errZero
	}
	if f.lapsed() {
		f.core.withdraw(&f.j, false)
	}
	if !f.isSettled() {
		return v, ErrPending
	}
	return f.result()
}

// lapsed reports whether the job waits although its context is done.
func (f *Future[T]) lapsed() bool {
	f.core.mu.Lock()
	defer f.core.mu.Unlock()
	return (f.j.state == queued || f.j.state == parked) && isClosed(f.j.done)
}

func (f *Future[T]) isSettled() bool {
	f.core.mu.Lock()
	defer f.core.mu.Unlock()
	return f.j.state == settled
}

// result is for settled futures. What Close gave up may still be running, and its
// value being written: nobody reads it.
func (f *Future[T]) result() (v T, err error) {
	f.core.mu.Lock()
	orphaned := f.j.orphaned
	f.core.mu.Unlock()
	if orphaned {
		return v, f.core.closedErr
	}
	return f.value, f.j.err
}
