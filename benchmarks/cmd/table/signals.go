package main

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	nometrics "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	notraces "go.opentelemetry.io/otel/trace/noop"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/otelx"
)

const (
	nameMeasured = "`otelx`, the metrics of a call"
	nameTraced   = "`otelx`, the span of a call"
	nameRecords  = "OpenTelemetry SDK, two histograms"
	nameSpan     = "OpenTelemetry SDK, a span"

	mostMeasured = time.Microsecond
	mostTraced   = 2500 * time.Nanosecond
)

// signals is what OpenTelemetry costs a call to a database, beside what the SDK takes for
// the same measurements and the same span by itself. Nothing is exported.
func signals(o *opened) (*family, error) {
	f := &family{name: "signals", modes: []mode{serial(), parallel()}}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	traces := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample()))
	o.onClose(func() error { return meters.Shutdown(o.ctx) })
	o.onClose(func() error { return traces.Shutdown(o.ctx) })

	measured, err := otelx.New(otelx.WithMeterProvider(meters), otelx.WithTracerProvider(notraces.NewTracerProvider()))
	if err != nil {
		return nil, err
	}
	traced, err := otelx.New(otelx.WithMeterProvider(nometrics.NewMeterProvider()), otelx.WithTracerProvider(traces))
	if err != nil {
		return nil, err
	}
	f.add(nameMeasured, observe(o.call, measured.Observer()))
	f.add(nameTraced, observe(o.call, traced.Observer()))
	histogram, err := meters.Meter("bench").Float64Histogram("bench")
	if err != nil {
		return nil, err
	}
	f.add(nameRecords, records(o.call, histogram))
	f.add(nameSpan, span(o.call, traces.Tracer("bench")))
	f.rows = []row{
		{ours: nameMeasured, its: nameRecords, within: mostMeasured, allocs: 0},
		{ours: nameTraced, its: nameSpan, within: mostTraced, allocs: noBudget},
	}
	return f, nil
}

// observe tells an observer of calls that go well.
func observe(ctx context.Context, o spillway.Observer) work {
	call := spillway.Call{
		System: "aerospike", Client: "main", Server: "db.example", Port: 3000,
		Operation: "Get", Namespace: "test", Collection: "users", Kind: spillway.KindRead,
	}
	result := spillway.CallResult{Node: "A1", Attempts: 1, Backend: time.Millisecond, Rows: 1}
	return func(times int) {
		for range times {
			_, observation := o.Begin(ctx, call)
			observation.End(result)
		}
	}
}

// records makes two measurements with as many attributes as those of a call have.
func records(ctx context.Context, histogram metric.Float64Histogram) work {
	set := attribute.NewSet(attributes(7)...)
	options := []metric.RecordOption{metric.WithAttributeSet(set)}
	return func(times int) {
		for range times {
			histogram.Record(ctx, 1, options...)
			histogram.Record(ctx, 1, options...)
		}
	}
}

// span makes a span with as many attributes as that of a call has.
func span(ctx context.Context, tracer trace.Tracer) work {
	start := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes(6)...)}
	end := attributes(1)
	return func(times int) {
		for range times {
			_, s := tracer.Start(ctx, "bench", start...)
			s.SetAttributes(end...)
			s.End()
		}
	}
}

func attributes(n int) (all []attribute.KeyValue) {
	for i := range n {
		all = append(all, attribute.String(fmt.Sprint("key", i), "value"))
	}
	return all
}
