package retry

import (
	"context"
	"time"
)

// Hooks are told of what happens after a first attempt failed. They are called with
// the operation's context on its caller's goroutine, which waits for them, outside
// of any lock; they may call the retrier and may panic without harm. A nil hook is
// not called.
type Hooks struct {
	// OnRetry is told of every retry before its back-off. If the context ends in the
	// hook or in the back-off, the retry isn't made.
	OnRetry func(ctx context.Context, e Event)
	// OnGiveUp is told of every operation that ends with an ExhaustedError.
	OnGiveUp func(ctx context.Context, e *ExhaustedError)
}

// Event describes a failed attempt that will be followed by another.
type Event struct {
	Name     string        // the retrier's name
	Attempt  int           // the number of the attempt that failed, from 1
	Delay    time.Duration // the back-off that follows
	Pushback bool          // whether the attempt was turned away for load
	Err      error         // what it ended with
}

// tell calls one function of each of the hooks, if it is there.
func (c *core) tell(call func(Hooks)) {
	for _, h := range c.policy.Hooks {
		quietly(call, h)
	}
}

func quietly(call func(Hooks), h Hooks) {
	defer func() { _ = recover() }()
	call(h)
}

func (c *core) tellRetry(ctx context.Context, s *call, f failure, d time.Duration) {
	if len(c.policy.Hooks) == 0 {
		return
	}
	e := Event{Name: c.policy.Name, Attempt: s.attempts, Delay: d, Pushback: f.pushed, Err: f.err}
	c.tell(func(h Hooks) {
		if h.OnRetry != nil {
			h.OnRetry(ctx, e)
		}
	})
}

func (c *core) tellGiveUp(ctx context.Context, e *ExhaustedError) {
	c.tell(func(h Hooks) {
		if h.OnGiveUp != nil {
			h.OnGiveUp(ctx, e)
		}
	})
}
