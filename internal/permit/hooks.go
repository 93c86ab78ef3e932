package permit

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
)

// Hooks are told of what happens off the fast path. They are called outside the
// lock, may call back in, and may panic without harm to the call or to each other.
// A nil field is not called.
type Hooks struct {
	Rejected     func(context.Context, *spillway.Rejection)
	LimitChanged func(from, to int)
	ModeChanged  func(from, to spillway.Mode)
	HeldLong     func(spillway.Holder)
	Waited       func(ctx context.Context, wait time.Duration, err error)
}

// tell calls one function of each of the hooks, if it is there.
func (c *Core) tell(call func(Hooks)) {
	for _, h := range c.opts.Hooks {
		quietly(call, h)
	}
}

func quietly(call func(Hooks), h Hooks) {
	defer func() { _ = recover() }()
	call(h)
}

func (c *Core) tellRejected(ctx context.Context, r *spillway.Rejection) {
	c.tell(func(h Hooks) {
		if h.Rejected != nil {
			h.Rejected(ctx, r)
		}
	})
}

// tellWaited tells that a caller has waited. It may hold permits by now, and they come
// back should a hook end the goroutine.
func (c *Core) tellWaited(ctx context.Context, u Use, wait time.Duration, err error) {
	if len(c.opts.Hooks) == 0 {
		return
	}
	told := false
	defer func() {
		if !told && err == nil {
			c.Abort(u)
		}
	}()
	c.tell(func(h Hooks) {
		if h.Waited != nil {
			h.Waited(ctx, wait, err)
		}
	})
	told = true
}

func (c *Core) tellLimit(from, to int) {
	if from == to {
		return
	}
	c.tell(func(h Hooks) {
		if h.LimitChanged != nil {
			h.LimitChanged(from, to)
		}
	})
}

func (c *Core) tellMode(from, to spillway.Mode) {
	if from == to {
		return
	}
	c.tell(func(h Hooks) {
		if h.ModeChanged != nil {
			h.ModeChanged(from, to)
		}
	})
}

func (c *Core) tellHeldLong(holder spillway.Holder) {
	c.tell(func(h Hooks) {
		if h.HeldLong != nil {
			h.HeldLong(holder)
		}
	})
}
