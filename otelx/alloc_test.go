package otelx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	nometrics "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"
	notraces "go.opentelemetry.io/otel/trace/noop"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/otelx"
	"github.com/spillway-go/spillway/retry"
)

func requireNoAllocs(t *testing.T, what string, f func()) {
	t.Helper()
	f() // what is made once
	if n := testing.AllocsPerRun(1000, f); !race {
		require.Zero(t, n, what)
	}
}

// G-OTEL-6, M-11: what is measured and not traced allocates nothing, whether it succeeds, is
// refused or waits; neither does what is off.
func TestMeasuringAllocatesNothing(t *testing.T) {
	ctx := t.Context()
	measured := newBench(t, otelx.WithTracerProvider(notraces.NewTracerProvider()), otelx.WithReturnedRows())
	call := func(b *bench, r spillway.CallResult) func() {
		o := b.Observer()
		return func() {
			if _, observation := o.Begin(ctx, get()); observation != nil {
				observation.End(r)
			}
		}
	}
	well := spillway.CallResult{Node: "A1", Attempts: 1, Backend: time.Millisecond, Rows: 1}
	refused := spillway.CallResult{Err: &spillway.Rejection{Reason: spillway.ReasonQueueFull}, Outcome: spillway.OutcomeLocal}
	requireNoAllocs(t, "a call", call(measured, well))
	requireNoAllocs(t, "a refusal", call(measured, refused))
	requireNoAllocs(t, "a call without a parent", call(newBench(t, otelx.WithSpans(otelx.SpansUnderParent)), well))

	hooks := measured.LaneHooks("db", "read")
	requireNoAllocs(t, "a wait", func() { hooks.Waited(ctx, time.Millisecond, nil) })
	jobs := measured.ExecutorHooks("jobs")
	requireNoAllocs(t, "a job", func() { jobs.Ran(ctx, time.Millisecond, time.Millisecond, nil) })
	retries := measured.RetryHooks()
	e := retry.Event{Name: "reads", Delay: time.Millisecond}
	requireNoAllocs(t, "a back-off", func() { retries.OnRetry(ctx, e) })

	op := func(context.Context) (int, error) { return 1, nil }
	work := otelx.Operation[int](measured.Instrumentation, "work")(op)
	requireNoAllocs(t, "an operation", func() { _, _ = work(ctx) })

	measured.SetEnabled(false)
	requireNoAllocs(t, "a call, off", call(measured, well))
	requireNoAllocs(t, "an operation, off", func() { _, _ = work(ctx) })
}

// performance.md, telemetry: at most a microsecond for a call that is measured, and 2.5 for
// one that is traced; nothing when it is off.
func BenchmarkObserver(b *testing.B) {
	well := spillway.CallResult{Node: "A1", Attempts: 1, Backend: time.Millisecond, Rows: 1}
	refused := spillway.CallResult{Err: &spillway.Rejection{Reason: spillway.ReasonQueueFull}, Outcome: spillway.OutcomeLocal}
	for _, c := range []struct {
		name string
		opts []otelx.Option
		r    spillway.CallResult
		off  bool
	}{
		{"signal=metrics", []otelx.Option{otelx.WithTracerProvider(notraces.NewTracerProvider())}, well, false},
		{"signal=metrics,refused", []otelx.Option{otelx.WithTracerProvider(notraces.NewTracerProvider())}, refused, false},
		{"signal=unsampled", []otelx.Option{otelx.WithTracerProvider(unsampled())}, well, false},
		{"signal=spans", []otelx.Option{otelx.WithMeterProvider(nometrics.NewMeterProvider()), otelx.WithTracerProvider(sampled())}, well, false},
		{"signal=both", []otelx.Option{otelx.WithTracerProvider(sampled())}, well, false},
		{"signal=none", nil, well, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := newBench(b, c.opts...)
			s.SetEnabled(!c.off)
			o := s.Observer()
			call, ctx := get(), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				if _, observation := o.Begin(ctx, call); observation != nil {
					observation.End(c.r)
				}
			}
		})
	}
}

// What the SDK alone takes for the two histograms, and for a span: the part of
// BenchmarkObserver that is not ours.
func BenchmarkSDK(b *testing.B) {
	b.Run("signal=metrics", func(b *testing.B) {
		h, err := newBench(b).meters.Meter("x").Float64Histogram("h", metric.WithExplicitBucketBoundaries(1, 2))
		require.NoError(b, err)
		opts := otelx.Recording(otelx.Attributes(7))
		for b.Loop() {
			h.Record(b.Context(), 1, opts...)
			h.Record(b.Context(), 1, opts...)
		}
	})
	b.Run("signal=spans", func(b *testing.B) {
		tracer := sampled().Tracer("x")
		start := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(otelx.Attributes(6)...)}
		end := otelx.Attributes(1)
		for b.Loop() {
			_, span := tracer.Start(b.Context(), "x", start...)
			span.SetAttributes(end...)
			span.End()
		}
	})
}

// A collection of a hundred limiters, which happens every few seconds.
func BenchmarkCollect(b *testing.B) {
	s := newBench(b)
	for i := range 100 {
		s.register(b, limiterNamed(b, i))
	}
	var all metricdata.ResourceMetrics
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, s.reader.Collect(b.Context(), &all))
	}
}

var errSome = errors.New("x")

func BenchmarkOperation(b *testing.B) {
	s := newBench(b, otelx.WithTracerProvider(notraces.NewTracerProvider()))
	work := otelx.Operation[int](s.Instrumentation, "work")(func(context.Context) (int, error) { return 0, errSome })
	b.ReportAllocs()
	for b.Loop() {
		_, _ = work(b.Context())
	}
}
