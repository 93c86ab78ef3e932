package debugz

import (
	"context"
	"fmt"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/retry"
)

// Limiter returns hooks for a limiter's Config.Hooks. The name is what it is called in the
// log, as its own.
func (l *Log) Limiter(name string) limiter.Hooks {
	return limiter.Hooks{
		Rejected:     l.rejected("limiter", name),
		LimitChanged: l.changed("limiter", name, "limit"),
		ModeChanged:  l.modeChanged("limiter", name),
		HeldLong:     l.heldLong("limiter", name),
	}
}

// Lane returns hooks for a lane's Config.Hooks. The name is what it is called in the log:
// that of a lane in a set says nothing without the set's, as in "db/critical".
func (l *Log) Lane(name string) lane.Hooks {
	return lane.Hooks{
		Rejected:     l.rejected("lane", name),
		LimitChanged: l.changed("lane", name, "limit"),
		ModeChanged:  l.modeChanged("lane", name),
		HeldLong:     l.heldLong("lane", name),
	}
}

// Executor returns hooks for an executor's Config.Hooks. The name is what it is called in
// the log.
func (l *Log) Executor(name string) deadline.Hooks {
	return deadline.Hooks{
		Rejected:       l.rejected("executor", name),
		WorkersChanged: l.changed("executor", name, "workers"),
		ModeChanged:    l.modeChanged("executor", name),
	}
}

// Retry returns hooks for the Policy.Hooks of any number of retriers: their events have
// names. Of an error only its class is kept.
func (l *Log) Retry() retry.Hooks {
	return retry.Hooks{
		OnRetry: func(ctx context.Context, e retry.Event) {
			l.count(counted{"retry", e.Name, "retried after ", outcomeOf(e.Err).String(), classOf(ctx)})
		},
		OnGiveUp: func(ctx context.Context, e *retry.ExhaustedError) {
			l.count(counted{"retry", e.Name, "gave up: ", e.Reason.String(), classOf(ctx)})
		},
	}
}

// Transitions returns what a machine's OnTransition takes, or that of a client that has
// one inside. The name is what it is called in the log.
func (l *Log) Transitions(name string) func(lifecycle.Transition) {
	return func(t lifecycle.Transition) {
		what := fmt.Sprintf("%s → %s (%s)", t.From, t.To, t.Reason)
		if t.Generation > 0 {
			what += fmt.Sprintf(", connection %d", t.Generation)
		}
		e := event{At: t.At, Component: "lifecycle", Name: name, What: what}
		if t.Err != nil {
			e.Error, e.text = errorKind(t.Err), errorText(t.Err, true)
		}
		l.note(e)
	}
}

// Note keeps an event of yours, as that a configuration was loaded. What you say is shown
// to whoever sees the page, in a line of bounded length.
func (l *Log) Note(component, name, what string) {
	l.note(event{Component: printable(component), Name: printable(name), What: printable(what)})
}

func (l *Log) rejected(component, name string) func(context.Context, *spillway.Rejection) {
	return func(ctx context.Context, r *spillway.Rejection) {
		l.count(counted{component, name, "refused: ", r.Reason.String(), classOf(ctx)})
	}
}

func (l *Log) changed(component, name, what string) func(from, to int) {
	return func(from, to int) {
		l.note(event{Component: component, Name: name, What: fmt.Sprintf("%s %d → %d", what, from, to)})
	}
}

func (l *Log) modeChanged(component, name string) func(from, to spillway.Mode) {
	return func(from, to spillway.Mode) {
		l.note(event{Component: component, Name: name, What: fmt.Sprintf("mode %s → %s", from, to)})
	}
}

func (l *Log) heldLong(component, name string) func(spillway.Holder) {
	return func(h spillway.Holder) {
		p := placeOf(h.Site)
		l.note(event{Component: component, Name: name, What: fmt.Sprintf("a permit was held for %s by %s %s", human(h.Age), p.Function, p.Source)})
	}
}

func classOf(ctx context.Context) spillway.Class {
	c, _ := spillway.ClassFrom(ctx)
	return c
}
