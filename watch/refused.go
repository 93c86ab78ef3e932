package watch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/spillway-go/spillway"
)

// Rejected is a hook for limiters and lanes (Hooks.Rejected): at a refusal it logs one
// line with how things stand, permits free, callers that wait, the oldest holders with
// their stacks if those are tracked; at most one every Config.Every and guard, with how
// many were left out. It needs the guard to be added for more than the refusal itself.
func (w *Watcher) Rejected(ctx context.Context, r *spillway.Rejection) {
	if r == nil {
		return
	}
	w.turnedAway(ctx, identity{r.Component, r.Name}, "watch: refused", func() []slog.Attr {
		return []slog.Attr{slog.String("why", r.Reason.String()), slog.Int("limit", r.Limit), slog.Duration("waited", r.Wait)}
	})
}

// Waited returns a hook for the lane of that name (Hooks.Waited): it logs the same line for
// a caller whose own deadline came while it waited. The two hooks share what they may log.
// The name of a lane of a set is the set's and its own, as in "orders/critical".
func (w *Watcher) Waited(lane string) func(ctx context.Context, wait time.Duration, err error) {
	id := identity{"lane", lane}
	return func(ctx context.Context, wait time.Duration, err error) {
		// Who got a permit has nothing to complain of; a refusal is told to Rejected.
		if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, spillway.ErrBackpressure) {
			return
		}
		w.turnedAway(ctx, id, "watch: timed out", func() []slog.Attr { return []slog.Attr{slog.Duration("waited", wait)} })
	}
}

// turnedAway logs that a caller got no permit, if that may be logged now.
func (w *Watcher) turnedAway(ctx context.Context, id identity, msg string, about func() []slog.Attr) {
	all := w.subjects.Load()
	if all == nil {
		return
	}
	s, g := (*all)[id], &w.unknown
	if s != nil {
		g = &s.refusals
	}
	left, ok := g.pass(time.Now(), w.cfg.Every)
	if !ok {
		return
	}
	attrs := append(about(), slog.Uint64("suppressed", left))
	if s != nil {
		if now, err := s.sample(w.cfg.Holders); err == nil {
			attrs = append(append(attrs, facts(now)...), holders(now.Holders))
		}
	}
	w.log(ctx, slog.LevelWarn, msg, id, attrs...)
}
