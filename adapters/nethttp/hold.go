package nethttp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// hold is what an attempt holds until the body of its answer has ended: its permit, its
// context, and the timer that bounds it.
type hold struct {
	t      *Transport
	permit spillway.Permit
	outer  context.Context // RoundTrip's
	ctx    context.Context // the attempt's; it outlives RoundTrip with the answer's body
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil if nothing bounds what goes on now
	apart  func() bool // parts ctx from outer, or from what is to be done at its end
	ended  atomic.Bool
}

// hold returns what an attempt holds. Its context has the request's values and ends with
// it; until the answer is there it also ends with ctx, which is RoundTrip's, and after
// AttemptTimeout.
func (t *Transport) hold(ctx, request context.Context, p spillway.Permit) *hold {
	h := &hold{t: t, permit: p, outer: ctx}
	h.ctx, h.cancel = context.WithCancelCause(request)
	h.apart = context.AfterFunc(ctx, func() { h.cancel(cause.Of(ctx)) })
	h.limit("attempt", t.cfg.AttemptTimeout)
	t.open.Add(1)
	return h
}

// limit has the context end after d; if that isn't positive, nothing does.
func (h *hold) limit(what string, d time.Duration) {
	h.timer = nil
	if d > 0 {
		h.timer = time.AfterFunc(d, func() { h.cancel(h.t.timeout(what, d)) })
	}
}

// answered ends the bounds of the attempt, and is false if one of them came first.
func (h *hold) answered() bool {
	// Those who come at this very moment cancel on goroutines of their own.
	if h.timer != nil && !h.timer.Stop() {
		h.cancel(h.t.timeout("attempt", h.t.cfg.AttemptTimeout))
	}
	if !h.apart() {
		h.cancel(cause.Of(h.outer))
	}
	return h.ctx.Err() == nil
}

// end gives everything back. The first call counts.
func (h *hold) end(o spillway.Outcome) {
	h.giveBack(o)
	if h.timer != nil {
		h.timer.Stop()
	}
	h.apart()
	h.cancel(nil)
}

func (h *hold) giveBack(o spillway.Outcome) {
	if h.ended.CompareAndSwap(false, true) {
		h.permit.ReleaseWith(o)
		h.t.open.Add(-1)
	}
}
