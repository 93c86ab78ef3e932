package otelx

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.39.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/spillway-go/spillway"
)

// observer is the spillway.Observer of an Instrumentation.
type observer struct {
	in      *Instrumentation
	series  cache[seriesKey, *series]
	rest    cache[string, *series] // by system, of calls that are too many
	unknown *series                // of systems that are too many
	room    allowance              // in the metrics of whole calls

	backends    cache[backendKey, []metric.RecordOption]
	backend     []metric.RecordOption // of those that are too many
	backendRoom allowance             // in the metric of the time in the backend

	pool sync.Pool // of observations
}

// Observer returns an observer that makes spans and metrics of calls by the stable database
// conventions, for Config.Observer of the Aerospike adapter and whoever else tells one of
// his calls. It is nil if there is nothing to make. One observer may be given to any number
// of clients.
//
// A call's duration, and its span, are those that its caller sees, with all waits, back-offs
// and attempts; spillway.backend.duration is the time in the backend alone, of calls that
// came that far. A refusal is a call that failed, with its reason as error.type.
func (in *Instrumentation) Observer() spillway.Observer {
	switch {
	case in.observer == nil:
		return nil
	case in.cfg.attempts && in.tracer != nil:
		return attemptObserver{in.observer}
	}
	return in.observer
}

func newObserver(in *Instrumentation) *observer {
	o := &observer{in: in}
	o.room.left.Store(int64(in.cfg.maxSeries) - perSeries) // that of unknown
	o.unknown = o.newSeries(spillway.Call{System: other, Operation: other})
	o.backendRoom.left.Store(int64(in.cfg.maxSeries) - 1)
	o.backend = recording(semconv.DBOperationNameKey.String(other), attribute.String(attrOutcome, other))
	o.pool.New = func() any { return new(observation) }
	return o
}

// observation is a call under way. It is used again for others when it has ended.
type observation struct {
	observer *observer // nil when it has ended
	call     spillway.Call
	ctx      context.Context
	span     trace.Span // nil if there is none
	series   *series
	began    time.Time
	extra    [12]attribute.KeyValue
}

// Begin implements spillway.Observer.
func (o *observer) Begin(ctx context.Context, call spillway.Call) (context.Context, spillway.Observation) {
	if !o.in.Enabled() {
		return ctx, nil
	}
	b, _ := o.pool.Get().(*observation)
	b.observer, b.call, b.series = o, call, o.seriesOf(call)
	b.began = time.Now()
	if o.traces(ctx) {
		ctx, b.span = o.startSpan(ctx, call, b.series)
	}
	b.ctx = ctx
	return ctx, b
}

// traces reports whether a call gets a span.
func (o *observer) traces(ctx context.Context) bool {
	return o.in.tracer != nil && (o.in.cfg.spans == SpansAlways || trace.SpanFromContext(ctx).IsRecording())
}

func (o *observer) startSpan(ctx context.Context, call spillway.Call, s *series) (context.Context, trace.Span) {
	if !s.ready || !o.in.cfg.sets && call.Collection != "" {
		return o.in.tracer.Start(ctx, o.spanName(call), startOptions(call, baseAttributes(call))...)
	}
	name := s.spanName
	if o.in.cfg.spanName != nil {
		name = o.spanName(call) // which may go by more than what makes a series
	}
	return o.in.tracer.Start(ctx, name, s.start...)
}

// spanName names a call's span, by the user's function if there is one and it returns.
func (o *observer) spanName(call spillway.Call) (name string) {
	if o.in.cfg.spanName == nil {
		return spanNameOf(call)
	}
	defer func() {
		if recover() != nil {
			name = spanNameOf(call)
		}
	}()
	return o.in.cfg.spanName(call)
}

// isError reports whether telemetry counts a call as failed, by the user's function if
// there is one and it returns.
func (o *observer) isError(call spillway.Call, f failure, err error) (is bool) {
	if o.in.cfg.isError == nil {
		return isError(call, f)
	}
	defer func() {
		if recover() != nil {
			is = true
		}
	}()
	return o.in.cfg.isError(call, err)
}

// End implements spillway.Observation.
func (b *observation) End(r spillway.CallResult) {
	o := b.observer
	if o == nil {
		return // it has ended already
	}
	took := time.Since(b.began)
	var f failure
	opts := b.series.well
	if r.Err != nil {
		f = failureOf(r.Err)
		if !o.isError(b.call, f, r.Err) {
			f.kind = ""
		}
		if f != (failure{}) {
			opts = o.failedAs(b.series, f)
		}
	}
	if o.in.meter != nil {
		b.record(took, r, opts)
	}
	if b.span != nil {
		b.endSpan(r, f)
	}
	*b = observation{}
	o.pool.Put(b)
}

func (b *observation) record(took time.Duration, r spillway.CallResult, opts []metric.RecordOption) {
	h := &b.observer.in.recorded
	h.call.Record(b.ctx, took.Seconds(), opts...)
	if r.Backend > 0 {
		h.backend.Record(b.ctx, r.Backend.Seconds(), b.observer.backendOf(b.series, r.Outcome)...)
	}
	if h.rows != nil && r.Rows >= 0 && r.Err == nil {
		h.rows.Record(b.ctx, int64(r.Rows), b.series.well...)
	}
}

// endSpan adds to the span what is only known at the end.
func (b *observation) endSpan(r spillway.CallResult, f failure) {
	span := b.span
	if !span.IsRecording() {
		span.End()
		return
	}
	all := b.extra[:0]
	if isBatch(b.call) && b.call.BatchSize != 1 {
		all = append(all, semconv.DBOperationBatchSizeKey.Int(b.call.BatchSize))
	}
	all = appendNode(all, r)
	if r.Attempts > 1 {
		all = append(all, attribute.Int(attrAttempts, r.Attempts))
	}
	if r.Waited > time.Millisecond {
		all = append(all, attribute.Float64(attrWait, r.Waited.Seconds()))
	}
	if r.Failed > 0 {
		all = append(all, attribute.Int(b.call.System+".batch.failed_records", r.Failed))
	}
	if b.observer.in.cfg.rows && r.Rows >= 0 && r.Err == nil {
		all = append(all, semconv.DBResponseReturnedRowsKey.Int(r.Rows))
	}
	if f.status != "" {
		all = append(all, semconv.DBResponseStatusCodeKey.String(f.status))
	}
	if f.kind != "" {
		all = append(all, semconv.ErrorTypeKey.String(f.kind))
		span.SetStatus(codes.Error, textOf(r.Err))
	}
	if r.Err != nil {
		all = appendAnswer(all, b.call.System, r.Err)
	}
	span.SetAttributes(all...)
	span.End()
}

// appendNode adds which node was asked.
func appendNode(all []attribute.KeyValue, r spillway.CallResult) []attribute.KeyValue {
	if r.Node != "" {
		all = append(all, attribute.String(attrNode, r.Node))
	}
	if r.Peer != "" {
		all = append(all, semconv.NetworkPeerAddress(r.Peer), semconv.NetworkPeerPort(r.PeerPort))
	}
	return all
}

// appendAnswer adds what an error of a backend says beside its class.
func appendAnswer(before []attribute.KeyValue, system string, err error) (all []attribute.KeyValue) {
	all = before
	defer func() { _ = recover() }() // its methods are somebody else's
	var coded interface{ ResultCode() int }
	if errors.As(err, &coded) {
		all = append(all, attribute.Int(system+".result_code", coded.ResultCode()))
	}
	var doubtful interface{ Doubtful() bool }
	if errors.As(err, &doubtful) && doubtful.Doubtful() {
		all = append(all, attribute.Bool(system+".in_doubt", true))
	}
	return all
}
