package telemetry_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/otelx"
)

func patient(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// station is an Instrumentation with an SDK that keeps everything in memory.
type station struct {
	*otelx.Instrumentation
	reader *metric.ManualReader
	spans  *tracetest.InMemoryExporter
}

func newStation(t testing.TB, opts ...otelx.Option) *station {
	t.Helper()
	s := &station{reader: metric.NewManualReader(), spans: tracetest.NewInMemoryExporter()}
	meters, traces := metric.NewMeterProvider(metric.WithReader(s.reader)), trace.NewTracerProvider(trace.WithSyncer(s.spans))
	t.Cleanup(func() {
		require.NoError(t, meters.Shutdown(context.Background()))
		require.NoError(t, traces.Shutdown(context.Background()))
	})
	in, err := otelx.New(append([]otelx.Option{otelx.WithMeterProvider(meters), otelx.WithTracerProvider(traces)}, opts...)...)
	require.NoError(t, err)
	s.Instrumentation = in
	return s
}

// connect returns a client with all that s can see of it, connected to the server, and closed
// after the test.
func (s *station) connect(t testing.TB, srv *aerospiketest.Server, name string, change ...func(*aerospike.Config)) *aerospike.Client {
	t.Helper()
	cfg := aerospike.DefaultConfig(srv.Hosts()...)
	cfg.Name, cfg.WarmUp = name, 2
	s.configure(&cfg)
	for _, f := range change {
		f(&cfg)
	}
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	client.OnTransition(s.Transitions(name))
	require.NoError(t, client.Connect(patient(t)))
	t.Cleanup(func() { require.NoError(t, client.Close(patient(t))) })
	registration, err := s.Register(client)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, registration.Unregister()) })
	return client
}

// configure gives a client's configuration all that s has for it.
func (s *station) configure(cfg *aerospike.Config) {
	name := cfg.Name
	cfg.Observer = s.Observer()
	cfg.LaneHooks = func(l string) lane.Hooks { return s.LaneHooks(name, l) }
}

// collect returns every point as "metric key=value …", with its value: of a histogram, its
// count.
func (s *station) collect(t testing.TB) map[string]float64 {
	t.Helper()
	points := map[string]float64{}
	for name, m := range s.metrics(t) {
		each(t, m, func(set attribute.Set, v float64) {
			id := name
			for _, a := range set.ToSlice() {
				id += " " + string(a.Key) + "=" + fmt.Sprint(a.Value.AsInterface())
			}
			points[id] = v
		})
	}
	return points
}

func (s *station) metrics(t testing.TB) map[string]metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, s.reader.Collect(context.Background(), &all))
	found := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			found[m.Name] = m
		}
	}
	return found
}

func each(t testing.TB, m metricdata.Metrics, f func(attribute.Set, float64)) {
	t.Helper()
	switch d := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, float64(p.Value))
		}
	case metricdata.Sum[float64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, p.Value)
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, p.Value)
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, float64(p.Count))
		}
	case metricdata.Histogram[int64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, float64(p.Count))
		}
	default:
		require.Fail(t, "unknown data", "%T", d)
	}
}

// sum adds up the points of a metric that have all the attributes.
func sum(points map[string]float64, metric string, attributes ...string) (n float64) {
	for id, v := range points {
		name, rest, _ := strings.Cut(id+" ", " ")
		if name == metric && !slices.ContainsFunc(attributes, func(a string) bool { return !strings.Contains(rest, a+" ") }) {
			n += v
		}
	}
	return n
}

// take returns the spans that have ended, and forgets them.
func (s *station) take() tracetest.SpanStubs {
	defer s.spans.Reset()
	return slices.Clone(s.spans.GetSpans())
}

// attributesOf returns a span's attributes.
func attributesOf(s tracetest.SpanStub) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[string(a.Key)] = fmt.Sprint(a.Value.AsInterface())
	}
	return all
}

func newKey(t testing.TB, value any) *as.Key {
	t.Helper()
	key, err := as.NewKey("test", "s", value)
	if err != nil {
		require.NoError(t, err)
	}
	return key
}

func fill(t testing.TB, client *aerospike.Client, n int) {
	t.Helper()
	for i := range n {
		require.NoError(t, client.Put(patient(t), nil, newKey(t, i), as.BinMap{"i": i}))
	}
}
