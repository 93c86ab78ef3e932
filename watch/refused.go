package watch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/spillway-go/spillway"
)

// Rejected is a hook for limiters and lanes (Hooks.Rejected): at a refusal it logs one
// line with how things stand, permits free, callers that wait, the oldest holders with
// their stacks if those are tracked; at most one every Config.Every and guard, with how
// many were left out. It needs the guard to be added for more than the refusal itself. A
// lane of a set doesn't say whose it is: where several that were added have its name, the
// line names them, and doesn't say how things stand.
func (w *Watcher) Rejected(ctx context.Context, r *spillway.Rejection) {
	if r == nil {
		return
	}
	w.turnedAway(ctx, identity{r.Component, r.Name}, nil, "watch: refused", func() []slog.Attr {
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
		var s *subject
		if all := w.subjects.Load(); all != nil {
			s = (*all)[id]
		}
		w.turnedAway(ctx, id, s, "watch: timed out", func() []slog.Attr { return []slog.Attr{slog.Duration("waited", wait)} })
	}
}

// kin are the guards that a hook may mean by a name.
type kin struct {
	all      []*subject
	names    []string // theirs, in order
	refusals *gate    // of those that may be any one's of several
}

// kinOf groups guards by what their hooks call them. A group that was there before goes on
// counting.
func kinOf(all map[identity]*subject, before map[identity]*kin) *map[identity]*kin {
	groups := map[identity]*kin{}
	for id, s := range all {
		called := identity{id.component, s.hook(id.name)}
		k := groups[called]
		if k == nil {
			k = &kin{refusals: &gate{}}
			if old := before[called]; old != nil {
				k.refusals = old.refusals
			}
			groups[called] = k
		}
		k.all, k.names = append(k.all, s), append(k.names, id.name)
	}
	for _, k := range groups {
		slices.Sort(k.names)
	}
	return &groups
}

// hook is what the hooks of a guard of that name call it.
func (s *subject) hook(name string) string {
	if src, ok := s.source.(source); ok && src.hook != "" {
		return src.hook
	}
	return name
}

// turnedAway logs that a caller got no permit, if that may be logged now. Without a subject
// it finds out whose hook that was.
func (w *Watcher) turnedAway(ctx context.Context, id identity, s *subject, msg string, about func() []slog.Attr) {
	groups := w.kin.Load()
	if groups == nil {
		return
	}
	g, among := &w.unknown, []string(nil)
	if k := (*groups)[id]; s == nil && k != nil {
		if len(k.all) == 1 {
			s, id.name = k.all[0], k.names[0]
		} else {
			g, among = k.refusals, k.names
		}
	}
	if s != nil {
		g = &s.refusals
	}
	left, ok := g.pass(time.Now(), w.cfg.Every)
	if !ok {
		return
	}
	attrs := append(about(), slog.Uint64("suppressed", left))
	if among != nil {
		attrs = append(attrs, slog.Any("one_of", among))
	}
	if s != nil {
		if now, err := s.sample(w.cfg.Holders); err == nil {
			attrs = append(append(attrs, facts(now)...), holders(now.Holders))
		}
	}
	w.log(ctx, slog.LevelWarn, msg, id, attrs...)
}
