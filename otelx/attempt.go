package otelx

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.39.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/spillway-go/spillway"
)

// attemptName is the name of every attempt's span.
const attemptName = "attempt"

// attemptObserver is an observer with spans for attempts.
type attemptObserver struct{ *observer }

// attempt is one under way.
type attempt struct {
	observer *observer
	call     spillway.Call
	span     trace.Span
}

// BeginAttempt implements spillway.AttemptObserver. The span has no attribute of a database
// call: whoever counts those by their spans would count them twice.
func (o attemptObserver) BeginAttempt(ctx context.Context, call spillway.Call, number int) (context.Context, spillway.Observation) {
	if !o.in.Enabled() || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, nil
	}
	ctx, span := o.in.tracer.Start(ctx, attemptName, trace.WithAttributes(attribute.Int(attrAttempt, number)))
	return ctx, &attempt{observer: o.observer, call: call, span: span}
}

// End implements spillway.Observation.
func (a *attempt) End(r spillway.CallResult) {
	all := appendNode(nil, r)
	if r.Err != nil {
		if f := failureOf(r.Err); a.observer.isError(a.call, f, r.Err) {
			all = append(all, semconv.ErrorTypeKey.String(f.kind))
			a.span.SetStatus(codes.Error, textOf(r.Err))
		}
	}
	a.span.SetAttributes(all...)
	a.span.End()
}
