package retry

import (
	"context"

	"github.com/spillway-go/spillway"
)

// Retrier repeats failed operations with the result type T as its policy says.
// Several Retriers of different result types can share one policy's statistics: see
// [Share]. All its methods are safe for concurrent use. It holds nothing that must be
// freed, starts no goroutine, and keeps nothing of a call once that has ended. The
// zero Retrier makes one attempt and counts nothing; make one with [New].
//
// Only one layer should repeat: turn off the retries of the driver below and don't
// put one retrier inside another.
type Retrier[T any] struct {
	core *core
}

// New returns a retrier. A wrong policy gives a *spillway.ConfigError that lists
// every fault.
func New[T any](p Policy) (*Retrier[T], error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Retrier[T]{core: newCore(p)}, nil
}

// Share returns a retrier for operations with the result type U that uses r's
// policy and statistics.
func Share[U, T any](r *Retrier[T]) *Retrier[U] {
	return &Retrier[U]{core: r.core}
}

// Name returns the retrier's name.
func (r *Retrier[T]) Name() string {
	if r.core == nil {
		return ""
	}
	return r.core.policy.Name
}

// Do runs op until it succeeds, fails with an error that isn't worth repeating, or
// a bound of the policy or the context is reached, and returns the last value. An
// error that isn't worth repeating, or after which op may have been executed although
// the policy isn't Idempotent, is returned as it is, without the mark of [Permanent];
// at a bound it is an *[ExhaustedError], unless the policy allows one attempt only. A
// context that is done before the first attempt gives its cause, and a policy of
// [Unlimited] attempts without any bound in time a *spillway.ConfigError; op isn't run
// then. Between attempts Do sleeps and holds nothing; it returns at once when ctx
// ends, and doesn't begin a sleep that ctx's deadline wouldn't let it follow by an
// attempt. Attempts don't overlap. A panic or Goexit of op goes through.
//
// If the first attempt succeeds, Do allocates nothing and costs less than 10 ns over the
// call itself, some two pairs of a bare counter's steps (BenchmarkRetrierDo).
func (r *Retrier[T]) Do(ctx context.Context, op spillway.Op[T]) (v T, err error) {
	c := r.core
	if c == nil || c.careful || ctx.Err() != nil {
		v, _, err = r.DoReport(ctx, op)
		return v, err
	}
	running := c // one captured variable, because this is the hot path; nil when op is through
	defer func() {
		if running != nil {
			running.counters.aborted[0].Add(1)
		}
	}()
	v, err = op(ctx)
	running = nil
	if err != nil {
		return rerun(ctx, c, op, &call{attempts: 1}, v, err)
	}
	c.succeed(0)
	return v, err
}

// DoReport is Do that also says how often op was run and why no more, on success,
// too.
func (r *Retrier[T]) DoReport(ctx context.Context, op spillway.Op[T]) (T, Report, error) {
	c := r.core
	if c == nil {
		c = single()
	}
	var s call
	v, err := run(ctx, c, op, &s)
	return v, c.report(&s, 0), err
}

// Wrap returns op with retries: each call of it is a Do.
func (r *Retrier[T]) Wrap(op spillway.Op[T]) spillway.Op[T] {
	return func(ctx context.Context) (T, error) { return r.Do(ctx, op) }
}

// run makes the first attempt and all others. Like rerun and Do it only calls op, so
// that what op closes over can stay on the caller's stack.
func run[T any](ctx context.Context, c *core, op spillway.Op[T], s *call) (v T, err error) {
	if err := c.begin(ctx, s); err != nil {
		return v, err
	}
	aborted := true
	defer func() {
		if aborted {
			c.counters.aborted[0].Add(1)
		}
	}()
	s.attempts = 1
	v, err = op(ctx)
	aborted = false
	if err == nil {
		c.succeed(0)
		return v, nil
	}
	return rerun(ctx, c, op, s, v, err)
}

// rerun does all that comes after a first attempt that ended with v and err.
func rerun[T any](ctx context.Context, c *core, op spillway.Op[T], s *call, v T, err error) (T, error) {
	aborted := true
	defer func() {
		if aborted {
			c.abort(s)
		}
	}()
	for {
		again, out := c.next(ctx, s, c.judge(err))
		if !again {
			aborted = false
			return v, out
		}
		s.attempts++
		if v, err = op(ctx); err == nil {
			aborted = false
			c.succeed(s.phase)
			return v, nil
		}
	}
}

// single returns the core of the zero Retrier.
func single() *core { return newCore(Policy{MaxAttempts: 1}) }
