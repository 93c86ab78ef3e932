package otelx_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/otelx"
)

// bench is an Instrumentation with an SDK that keeps everything in memory.
type bench struct {
	*otelx.Instrumentation
	reader *metric.ManualReader
	meters *metric.MeterProvider
	traces *trace.TracerProvider
	spans  *tracetest.InMemoryExporter
}

func newBench(t testing.TB, opts ...otelx.Option) *bench {
	t.Helper()
	b := &bench{reader: metric.NewManualReader(), spans: tracetest.NewInMemoryExporter()}
	b.meters = metric.NewMeterProvider(metric.WithReader(b.reader))
	b.traces = trace.NewTracerProvider(trace.WithSyncer(b.spans))
	t.Cleanup(func() {
		require.NoError(t, b.meters.Shutdown(context.Background()))
		require.NoError(t, b.traces.Shutdown(context.Background()))
	})
	in, err := otelx.New(append([]otelx.Option{otelx.WithMeterProvider(b.meters), otelx.WithTracerProvider(b.traces)}, opts...)...)
	require.NoError(t, err)
	b.Instrumentation = in
	return b
}

func (b *bench) register(t testing.TB, components ...observe.Observable) *otelx.Registration {
	t.Helper()
	r, err := b.Register(components...)
	require.NoError(t, err)
	return r
}

// collect returns the metrics by name.
func (b *bench) collect(t testing.TB) map[string]metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, b.reader.Collect(context.Background(), &all))
	found := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		require.Equal(t, otelx.ScopeName, scope.Scope.Name)
		require.Equal(t, otelx.Version, scope.Scope.Version)
		for _, m := range scope.Metrics {
			require.NotContains(t, found, m.Name)
			found[m.Name] = m
		}
	}
	return found
}

// values returns the points of a metric by the values of their attributes, sorted by key: of
// a histogram, their counts.
func (b *bench) values(t testing.TB, name string) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	each(t, b.collect(t)[name], func(set attribute.Set, v float64, _ []float64) {
		var text []string
		for _, a := range set.ToSlice() {
			text = append(text, fmt.Sprint(a.Value.AsInterface()))
		}
		found[strings.Join(text, ",")] = v
	})
	return found
}

// each calls f for every point of a metric: of a histogram with its count and bounds.
func each(t testing.TB, m metricdata.Metrics, f func(set attribute.Set, v float64, bounds []float64)) {
	t.Helper()
	switch d := m.Data.(type) {
	case nil:
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, float64(p.Value), nil)
		}
	case metricdata.Sum[float64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, p.Value, nil)
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, p.Value, nil)
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, float64(p.Count), p.Bounds)
		}
	case metricdata.Histogram[int64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, float64(p.Count), p.Bounds)
		}
	default:
		require.Fail(t, "unknown data", "%T", d)
	}
}

// kindOf is the kind of a metric, in the words of package observe.
func kindOf(t testing.TB, m metricdata.Metrics) string {
	t.Helper()
	sum := func(monotonic bool, temporality metricdata.Temporality) string {
		require.Equal(t, metricdata.CumulativeTemporality, temporality)
		if monotonic {
			return "counter"
		}
		return "updowncounter"
	}
	switch d := m.Data.(type) {
	case metricdata.Sum[int64]:
		return sum(d.IsMonotonic, d.Temporality)
	case metricdata.Sum[float64]:
		return sum(d.IsMonotonic, d.Temporality)
	case metricdata.Gauge[float64]:
		return "gauge"
	case metricdata.Histogram[float64], metricdata.Histogram[int64]:
		return "histogram"
	}
	return fmt.Sprintf("%T", m.Data)
}

// takeSpans returns the spans that have ended, and forgets them.
func (b *bench) takeSpans() tracetest.SpanStubs {
	defer b.spans.Reset()
	return slices.Clone(b.spans.GetSpans())
}

// attributesOf returns a span's attributes as key=value, sorted.
func attributesOf(s tracetest.SpanStub) []string {
	var all []string
	for _, a := range s.Attributes {
		all = append(all, string(a.Key)+"="+fmt.Sprint(a.Value.AsInterface()))
	}
	slices.Sort(all)
	return all
}

// faults has OpenTelemetry's error handler keep what it is told until the test ends.
func faults(t testing.TB) *[]string {
	t.Helper()
	var told []string
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { told = append(told, err.Error()) }))
	t.Cleanup(func() { otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) })
	return &told
}

// sampled and unsampled are tracers whose spans go nowhere.
func sampled() *trace.TracerProvider {
	return trace.NewTracerProvider(trace.WithSampler(trace.AlwaysSample()))
}

func unsampled() *trace.TracerProvider {
	return trace.NewTracerProvider(trace.WithSampler(trace.NeverSample()))
}

// limiterNamed is the i-th of many limiters.
func limiterNamed(t testing.TB, i int) observe.Observable {
	t.Helper()
	return observe.Limiter(newLimiter(t, fmt.Sprint("limiter", i)))
}
