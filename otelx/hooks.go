package otelx

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.39.0"

	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/retry"
)

// maxRetriers bounds the names of retriers, which hooks learn only from what they are told.
const maxRetriers = 256

// LaneHooks returns hooks for a lane, which record how long calls wait in it, of those that
// do: the limiter is the set's name, or, with an empty lane, that of a lane without a set.
// They are empty if nothing is measured.
func (in *Instrumentation) LaneHooks(limiter, name string) lane.Hooks {
	if in.meter == nil {
		return lane.Hooks{}
	}
	attributes := []attribute.KeyValue{attribute.String(attrLimiter, limiter)}
	if name != "" {
		attributes = append(attributes, attribute.String(attrLane, name))
	}
	opts := recording(attributes...)
	return lane.Hooks{Waited: func(ctx context.Context, wait time.Duration, _ error) {
		in.seconds(ctx, in.recorded.wait, wait, opts)
	}}
}

// ExecutorHooks returns hooks for the executor of that name, which record how long jobs
// wait and run: those that its statistics have the times of. They are empty if nothing is
// measured.
func (in *Instrumentation) ExecutorHooks(name string) deadline.Hooks {
	if in.meter == nil {
		return deadline.Hooks{}
	}
	opts := recording(attribute.String(attrExecutor, name))
	return deadline.Hooks{Ran: func(ctx context.Context, wait, run time.Duration, _ error) {
		in.seconds(ctx, in.recorded.queue, wait, opts)
		in.seconds(ctx, in.recorded.run, run, opts)
	}}
}

// RetryHooks returns hooks for retriers, which record their back-offs. They are empty if
// nothing is measured.
func (in *Instrumentation) RetryHooks() retry.Hooks {
	if in.meter == nil {
		return retry.Hooks{}
	}
	var names cache[string, []metric.RecordOption]
	room := new(allowance)
	room.left.Store(maxRetriers)
	beyond := recording(attribute.String(attrRetry, other))
	return retry.Hooks{OnRetry: func(ctx context.Context, e retry.Event) {
		opts, ok := names.get(e.Name)
		if !ok && room.has(1) {
			opts, ok = names.add(e.Name, recording(attribute.String(attrRetry, e.Name)), room, 1)
		}
		if !ok {
			opts = beyond
		}
		in.seconds(ctx, in.recorded.delay, e.Delay, opts)
	}}
}

// Transitions returns a function for lifecycle.Machine.OnTransition of the machine of that
// name, and of no other, which records how long connects and closes take. It does nothing
// if nothing is measured.
func (in *Instrumentation) Transitions(name string) func(lifecycle.Transition) {
	if in.meter == nil {
		return func(lifecycle.Transition) {}
	}
	machine := attribute.String(attrClient, name)
	well, failed := recording(machine), recording(machine, semconv.ErrorTypeKey.String("failed"))
	var since time.Time // transitions come one at a time
	return func(t lifecycle.Transition) {
		began := since
		since = t.At
		if began.IsZero() {
			return // it may have been in that state for long
		}
		took := t.At.Sub(began)
		ctx := context.Background() //nolint:forbidigo // a transition belongs to no caller
		switch {
		case t.To == lifecycle.Connected:
			in.seconds(ctx, in.recorded.connect, took, well)
		case t.From == lifecycle.Connecting:
			in.seconds(ctx, in.recorded.connect, took, failed)
		case t.From == lifecycle.Closing:
			in.seconds(ctx, in.recorded.drain, took, well)
		}
	}
}
