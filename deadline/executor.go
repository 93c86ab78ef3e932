package deadline

import (
	"context"

	"github.com/spillway-go/spillway"
)

// Executor runs operations with the result type T on a fixed number of workers behind
// a bounded queue. Several Executors of different result types can share workers and
// queue: see [Share]. All its methods are safe for concurrent use; Do, Submit and
// Close may block, as they say. What a caller did before it handed in a job
// synchronizes before the job starts, and the job's end synchronizes before whatever
// tells of it. Workers are started when there is work for them; an Executor that was
// used must be closed, or they stay. The zero Executor refuses everything as closed;
// make one with [New].
//
// Where the caller waits for the answer anyway and may do the work himself, package
// lane is simpler. Don't let a job wait for another one of the same Executor: where
// it can be seen from the context it is an error, and elsewhere it lasts until a
// deadline ends it.
type Executor[T any] struct {
	core *core
	view *spares
}

// New returns an executor that runs nothing yet and has no goroutine. A wrong
// configuration gives a *spillway.ConfigError that lists every fault.
func New[T any](cfg Config) (*Executor[T], error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Executor[T]{core: newCore(cfg), view: new(spares)}, nil
}

// Share returns an executor for operations with the result type U that uses e's
// workers, queue, settings and statistics. Closing one closes all.
func Share[U, T any](e *Executor[T]) *Executor[U] {
	return &Executor[U]{core: e.core, view: new(spares)}
}

// Do submits op and returns what op returns, untouched, once it has returned. Its
// context ends with ctx, at the job's deadline, and when Close cuts it off.
//
// If op can't run, Do returns why and op isn't run: a *spillway.Rejection if it was
// refused (no room and nobody may be parked any more, not to be served in time,
// dropped, mode RefuseAll), an *[ExpiredError] if its deadline passed first, ctx's
// cause if it was canceled first, a *spillway.ClosedError, a *spillway.NestedError
// if ctx is that of a job of the same executor, or it is called by a sink or a hook on a
// worker, and no worker is free, [ErrNoDeadline] or [ErrNilOp]. A panic or Goexit of op
// comes back as a *spillway.PanicError.
//
// Do waits for room like Submit, and for its turn, both only while ctx lives. An op
// that has started is waited for until it returns, so that it may use what belongs to
// the caller: it has to heed its context. To leave earlier, use Submit and
// [Future.Wait]. Do allocates one context, and nothing where the job's deadline is ctx's
// own and its worker comes straight from another job of the same ctx.
func (e *Executor[T]) Do(ctx context.Context, op spillway.Op[T]) (v T, err error) {
	f, err := e.put(&order{slot: slot{ctx: ctx, kind: kindDo}, weight: 1, waits: true}, op)
	if err != nil {
		return v, err
	}
	j := &f.j
	e.await(ctx, j)
	v, err = f.value, j.err
	f.forget()
	e.core.mu.Lock()
	e.view.recycleLocked(j)
	e.core.mu.Unlock()
	return v, err
}

// await waits for the end of a job of Do. (To give the worker a turn first and look then
// would be faster on an idle machine, and cost a slice of the scheduler's, 10 ms and more,
// beside goroutines that compute.)
func (e *Executor[T]) await(ctx context.Context, j *job) {
	select {
	case <-j.wake:
	case <-ctx.Done():
		e.core.withdraw(j, false) // if it still waits; a running op has seen it, too
		<-j.wake
	}
}

// Wrap returns op run by the executor: each call of it is a Do.
func (e *Executor[T]) Wrap(op spillway.Op[T]) spillway.Op[T] {
	return func(ctx context.Context) (T, error) { return e.Do(ctx, op) }
}

// Submit hands in op and returns its future as soon as it is in the queue. On failure
// there is no future, op isn't run, and the error is as with Do.
//
// If the queue is full, Submit waits for room while ctx and the job's deadline live,
// first come first served, unless MaxSubmitters callers are parked already: then it
// is refused like TrySubmit. So producers go no faster than the workers. Canceling
// ctx afterwards cancels the job. The future needs no release.
func (e *Executor[T]) Submit(ctx context.Context, op spillway.Op[T]) (*Future[T], error) {
	f, err := e.put(&order{slot: slot{ctx: ctx, kind: kindFuture}, weight: 1, waits: true}, op)
	if err != nil {
		return nil, err
	}
	// Only a parked job has somebody to wake, and nobody else knows of f yet.
	if wake := f.j.wake; wake != nil {
		in := false
		select {
		case in = <-wake:
		case <-ctx.Done():
			e.core.withdraw(&f.j, true)
			in = <-wake // it may have got in at the same moment
		}
		if !in {
			return nil, f.j.err
		}
	}
	return f, nil
}

// TrySubmit is Submit that never waits: if the queue is full it returns a
// *spillway.Rejection with the reason QueueFull at once.
func (e *Executor[T]) TrySubmit(ctx context.Context, op spillway.Op[T]) (*Future[T], error) {
	return e.put(&order{slot: slot{ctx: ctx, kind: kindFuture}, weight: 1}, op)
}

// Go hands in op and forgets it. It returns nil if the job is in the queue; from then
// on Config.Sink is told if it fails, expires, is dropped, canceled or closed. On
// failure op isn't run, the error is as with TrySubmit, and the sink isn't told: each
// job is reported once. Go never waits. It allocates nothing in the long run, but for
// one context as with Do.
func (e *Executor[T]) Go(ctx context.Context, op spillway.Op[T]) error {
	return e.GoN(ctx, 1, op)
}

// GoN is Go for a job that carries so many items, from 1 to MaxItems, such as the
// records of a batch: the sink is told how many were lost, and Stats.LostItems counts
// them. They don't count against the queue. Another number gives a
// *spillway.WeightError.
func (e *Executor[T]) GoN(ctx context.Context, items int, op spillway.Op[T]) error {
	c := e.core
	if c == nil {
		return errZero
	}
	l := c.look(ctx)
	c.mu.Lock()
	if op != nil && items == 1 && l.tight && !l.canceled {
		if s := c.quickLocked(l.deadline); s != nil {
			// Field by field: a literal is put together elsewhere and copied, which
			// costs as much as the lock.
			s.ctx, s.done = ctx, l.done
			s.task = quick[T](op)
			s.deadline, s.since = l.deadline, c.clock
			s.items, s.tight, s.rough = 1, true, true
			c.mu.Unlock()
			return nil
		}
	}
	return c.goLocked(l.order(ctx, quick[T](op), items, badOp(op == nil)))
}

// badOp is what is wrong with an operation.
func badOp(isNil bool) error {
	if isNil {
		return ErrNilOp
	}
	return nil
}

// put gets a job that somebody waits for in, or parked.
func (e *Executor[T]) put(o *order, op spillway.Op[T]) (*Future[T], error) {
	c := e.core
	if c == nil {
		return nil, errZero
	}
	o.bad = badOp(op == nil)
	l := c.look(o.ctx)
	o.done, o.deadline, o.tight, o.canceled = l.done, l.deadline, l.tight, l.canceled
	if o.waits {
		o.nested = c.isNested(o.ctx)
	}
	var f *Future[T]
	if o.kind == kindFuture {
		f = e.fresh() // its holder's for good
	}
	var out fallout
	c.mu.Lock()
	if o.waits && !o.nested && c.telling.Load() > 0 && !c.mayNestLocked(o) {
		c.mu.Unlock()
		o.nested = c.isToldHere()
		c.mu.Lock()
	}
	v := c.judgeLocked(o, &out)
	if v != admitted && v != parkIt {
		c.mu.Unlock()
		c.fire(&out)
		return nil, c.refusal(o, v)
	}
	if f == nil {
		if j := e.view.takeLocked(); j != nil {
			f = j.self.(*Future[T])
		} else {
			f = e.fresh()
		}
	}
	f.op = op
	o.task = f
	c.placeLocked(o, &f.j, v, &out)
	c.mu.Unlock()
	c.fire(&out)
	return f, nil
}

func (e *Executor[T]) fresh() *Future[T] {
	f := &Future[T]{core: e.core}
	f.j.self, f.j.view = f, e.view
	return f
}

// Close closes the executor for new jobs and parked callers, lets the accepted ones go
// on for Config.Drain, cancels the rest, and returns when the last worker is gone and the
// sink and the hooks have been told, on whichever goroutine of the executor's. It returns
// nil if everything accepted was run to its end. Otherwise it returns a *[CloseError]: jobs
// that were never started end with a *spillway.ClosedError, and running ones had their
// context canceled.
//
// If ctx ends first, Close cancels the rest at once and returns without waiting any
// longer. What still runs then can't be stopped and goes on; futures of it say closed.
// Close may be called any number of times, also at the same time: the first to run out
// of time cuts the work off for all, and all report the same. Called by one of the
// executor's own jobs, that is with its context or on its goroutine, or by a sink or a
// hook on a goroutine of the executor, it changes nothing and returns a
// *spillway.NestedError: it would wait for itself. A closed executor stays closed.
func (e *Executor[T]) Close(ctx context.Context) error {
	if e.core == nil {
		return nil
	}
	return e.core.close(ctx)
}

// errZero is the error of an Executor that wasn't made by New.
var errZero error = &spillway.ClosedError{Component: component, Name: ""}
