package otelx

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.39.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/spillway-go/spillway"
)

// maxFailures bounds the values of error.type of one operation.
const maxFailures = 64

// Middleware returns a middleware that makes of calls to a database what
// [Instrumentation.Observer] makes of those of the Aerospike adapter, for clients that tell
// no observer:
//
//	read := spillway.Lift[Row](telemetry.Middleware(), spillway.Call{System: "postgresql", Operation: "SELECT", Collection: "users"})(query)
//
// What is within it is the call: waits and attempts, if limiter and retries are. It goes
// straight on if there is nothing to make.
func (in *Instrumentation) Middleware() spillway.Middleware {
	o := in.observer
	return func(ctx context.Context, call spillway.Call, next func(context.Context) error) (err error) {
		if o == nil {
			return next(ctx)
		}
		ctx, b := o.Begin(ctx, call)
		if b == nil {
			return next(ctx)
		}
		err = error(aborted{}) // unless next returns
		defer func() { b.End(spillway.CallResult{Err: err, Outcome: outcomeOf(err), Rows: -1}) }()
		err = next(ctx)
		return err
	}
}

// aborted is the error of what a panic or Goexit has gone through, on its way out.
type aborted struct{}

func (aborted) Error() string     { return "otelx: a panic, or runtime.Goexit" }
func (aborted) ErrorType() string { return "panic" }

// Operation returns a decorator that makes a span of that name of each run of an operation,
// and records how long it took, by what it ended with. The name must come from few names.
// A panic goes through, and is noted. Without anything to make it returns the operation as
// it is.
func Operation[T any](in *Instrumentation, name string) spillway.Decorator[T] {
	if in.meter == nil && in.tracer == nil {
		return func(op spillway.Op[T]) spillway.Op[T] { return op }
	}
	o := newOperation(in, name)
	return func(op spillway.Op[T]) spillway.Op[T] {
		return func(ctx context.Context) (v T, err error) {
			if !in.Enabled() {
				return op(ctx)
			}
			ctx, span := o.begin(ctx)
			began := time.Now()
			err = error(aborted{}) // unless op returns
			defer func() { o.end(ctx, span, time.Since(began), err) }()
			v, err = op(ctx)
			return v, err
		}
	}
}

// operation is what runs of one operation have in common.
type operation struct {
	in     *Instrumentation
	name   string
	start  []trace.SpanStartOption
	well   []metric.RecordOption
	failed cache[string, []metric.RecordOption]
	room   allowance
	beyond []metric.RecordOption
}

func newOperation(in *Instrumentation, name string) *operation {
	named := attribute.String(attrOperation, name)
	o := &operation{
		in: in, name: name, start: []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(named)},
		well: recording(named), beyond: recording(named, semconv.ErrorTypeKey.String(other)),
	}
	o.room.left.Store(maxFailures)
	return o
}

// begin starts the span, if there is to be one.
func (o *operation) begin(ctx context.Context) (context.Context, trace.Span) {
	if o.in.tracer == nil || o.in.cfg.spans == SpansUnderParent && !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, nil
	}
	return o.in.tracer.Start(ctx, o.name, o.start...)
}

func (o *operation) end(ctx context.Context, span trace.Span, took time.Duration, err error) {
	opts, kind := o.well, ""
	if err != nil {
		kind = failureOf(err).kind
		opts = o.failedAs(kind)
	}
	if o.in.meter != nil {
		o.in.recorded.operation.Record(ctx, took.Seconds(), opts...)
	}
	if span == nil {
		return
	}
	if kind != "" && span.IsRecording() {
		span.SetAttributes(semconv.ErrorTypeKey.String(kind))
		span.SetStatus(codes.Error, textOf(err))
	}
	span.End()
}

// failedAs returns the attributes of runs that failed so.
func (o *operation) failedAs(kind string) []metric.RecordOption {
	if opts, ok := o.failed.get(kind); ok {
		return opts
	}
	if o.room.has(1) {
		if opts, ok := o.failed.add(kind, recording(attribute.String(attrOperation, o.name), semconv.ErrorTypeKey.String(kind)), &o.room, 1); ok {
			return opts
		}
	}
	return o.beyond
}
