package otelx_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	api "go.opentelemetry.io/otel/metric"
	nometrics "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric"
	notraces "go.opentelemetry.io/otel/trace/noop"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/otelx"
)

func newLimiter(t testing.TB, name string) *limiter.Limiter[int] {
	t.Helper()
	l, err := limiter.New[int](limiter.Config{Name: name, Limit: 3})
	require.NoError(t, err)
	return l
}

const limitMetric = "spillway.limiter.permit.limit"

// several is an Observable whose components come and go.
type several struct {
	all   []observe.Observable
	panic bool
}

func (s *several) Observe(yield func(observe.Snapshot) bool) {
	observe.Join(s.all...).Observe(yield)
	if s.panic {
		panic("in the middle")
	}
}

// G-OTEL-2: two of one name aren't added up.
func TestDuplicateNamesAreRefused(t *testing.T) {
	b := newBench(t)
	first := b.register(t, observe.Limiter(newLimiter(t, "db")), nil)
	lanes := func(name string) observe.Observable {
		set, err := lane.NewSet[int](lane.SetConfig{Name: name, Default: "a", Lanes: []lane.Config{{Name: "a", Limit: 1}, {Name: "b", Limit: 1}}})
		require.NoError(t, err)
		return observe.Set(set)
	}
	alone, err := lane.New[int](lane.Config{Name: "db", Limit: 1})
	require.NoError(t, err)
	for _, c := range []struct {
		all  []observe.Observable
		want otelx.DuplicateError
	}{
		{[]observe.Observable{observe.Limiter(newLimiter(t, "db"))}, otelx.DuplicateError{Component: "limiter", Name: "db"}},
		{[]observe.Observable{observe.Lane(alone)}, otelx.DuplicateError{Component: "lane", Name: "db"}},
		{[]observe.Observable{observe.Limiter(newLimiter(t, "x")), observe.Limiter(newLimiter(t, "x"))}, otelx.DuplicateError{Component: "limiter", Name: "x"}},
		{[]observe.Observable{lanes("l"), lanes("l")}, otelx.DuplicateError{Component: "lane", Name: "l", Lane: "a"}},
	} {
		_, err := b.Register(c.all...)
		var duplicate *otelx.DuplicateError
		require.ErrorAs(t, err, &duplicate)
		require.Equal(t, c.want, *duplicate)
		require.ErrorContains(t, err, c.want.Name)
	}
	require.Equal(t, map[string]float64{"db": 3}, b.values(t, limitMetric), "what was refused left nothing behind")
	b.register(t, lanes("l"), observe.Limiter(newLimiter(t, "x")))
	require.Len(t, b.values(t, limitMetric), 4)

	require.NoError(t, first.Unregister())
	require.NoError(t, first.Unregister())
	require.NotContains(t, b.values(t, limitMetric), "db", "a series goes with its component")
	again := b.register(t, observe.Lane(alone))
	require.Equal(t, 1.0, b.values(t, limitMetric)["db"])
	require.NoError(t, again.Unregister())
	require.NoError(t, new(otelx.Registration).Unregister())
}

// G-OTEL-2: components that turn up later are collected, unless their name is taken, which
// is reported once; those that go take their series along.
func TestComponentsComeAndGo(t *testing.T) {
	told := faults(t)
	b := newBench(t)
	s := new(several)
	b.register(t, s)
	require.Empty(t, b.values(t, limitMetric))
	a, x := observe.Limiter(newLimiter(t, "a")), observe.Limiter(newLimiter(t, "x"))
	s.all = []observe.Observable{a, x}
	require.Equal(t, map[string]float64{"a": 3, "x": 3}, b.values(t, limitMetric))
	s.all = append(s.all, observe.Limiter(newLimiter(t, "a")))
	for range 3 {
		require.Equal(t, map[string]float64{"a": 3, "x": 3}, b.values(t, limitMetric))
	}
	require.Len(t, *told, 1)
	require.Contains(t, (*told)[0], `"a"`)
	s.all = []observe.Observable{x}
	require.Equal(t, map[string]float64{"x": 3}, b.values(t, limitMetric))

	elsewhere := b.register(t, a)
	s.all = []observe.Observable{a, x}
	require.Equal(t, map[string]float64{"a": 3, "x": 3}, b.values(t, limitMetric), "the name was free and went to somebody else")
	require.Len(t, *told, 2, "what is over is told anew when it comes back")
	require.NoError(t, elsewhere.Unregister())
	require.Len(t, b.values(t, limitMetric), 2)
}

// G-OTEL-3, M-01: a component that panics is left out for as long as it does, and told of
// once; the others are exported, and it keeps its name.
func TestAComponentThatPanicsHarmsNobody(t *testing.T) {
	told := faults(t)
	b := newBench(t)
	s := &several{all: []observe.Observable{observe.Limiter(newLimiter(t, "a"))}}
	b.register(t, s, observe.Limiter(newLimiter(t, "x")))
	require.Len(t, b.values(t, limitMetric), 2)
	s.panic = true
	for range 3 {
		require.Equal(t, map[string]float64{"x": 3}, b.values(t, limitMetric))
	}
	require.Len(t, *told, 1)
	require.Contains(t, (*told)[0], "in the middle")
	_, err := b.Register(observe.Limiter(newLimiter(t, "a")))
	require.Error(t, err, "its name is taken all the same")
	_, err = b.Register(s)
	require.ErrorContains(t, err, "panicked")
	s.panic = false
	require.Len(t, b.values(t, limitMetric), 2)
}

// Metrics of components' own are made once, and mean one thing; one that wasn't described is
// reported.
func TestOwnMetrics(t *testing.T) {
	told := faults(t)
	b := newBench(t)
	m := observe.Metric{Name: "own.count", Kind: observe.Counter, Unit: "{thing}", Description: "Things", Attributes: []string{"own.name"}}
	component := func(name string, m observe.Metric) own {
		return own{name, []observe.Metric{m}, []observe.Point{{Metric: m, Value: 7, Attributes: []observe.Attribute{{Key: "own.name", Value: name}}}}}
	}
	r := b.register(t, component("a", m))
	b.register(t, component("b", m))
	require.Equal(t, map[string]float64{"a": 7, "b": 7}, b.values(t, "own.count"))
	other := m
	other.Kind = observe.Gauge
	_, err := b.Register(component("c", other))
	require.ErrorContains(t, err, "own.count")
	require.NoError(t, r.Unregister())
	require.Equal(t, map[string]float64{"b": 7}, b.values(t, "own.count"))
	require.Empty(t, *told)

	silent := component("d", observe.Metric{Name: "own.secret", Kind: observe.Gauge, Unit: "1"})
	silent.metrics = nil
	b.register(t, silent)
	b.collect(t)
	b.collect(t)
	require.Len(t, *told, 1)
	require.Contains(t, (*told)[0], "own.secret")
	_, err = b.Register(component("e", observe.Metric{Name: "own bad name", Kind: observe.Gauge, Unit: "1"}))
	require.Error(t, err)
	b.register(t, component("e", m)) // the name is free
}

// M-05, G-OTEL-5: off is off for everything, and on again goes on.
func TestSwitchedOffExportsNothing(t *testing.T) {
	b := newBench(t)
	c := everything(t, b)
	b.register(t, c)
	b.SetEnabled(false)
	require.False(t, b.Enabled())
	before := len(b.collect(t)) // of histograms that were recorded before
	require.Equal(t, 6, before)
	busy2 := func() {
		ctx, o := b.Observer().Begin(t.Context(), spillway.Call{Operation: "x"})
		require.Equal(t, t.Context(), ctx)
		require.Nil(t, o)
		_, _ = otelx.Operation[int](b.Instrumentation, "x")(func(context.Context) (int, error) { return 0, nil })(t.Context())
		_ = b.Middleware()(t.Context(), spillway.Call{}, func(context.Context) error { return nil })
	}
	busy2()
	require.Len(t, b.collect(t), before)
	require.Empty(t, b.takeSpans())
	b.SetEnabled(true)
	require.Greater(t, len(b.collect(t)), 40)
}

// G-OTEL-5: providers that do nothing leave nothing to be done.
func TestNoopProvidersMakeEverythingEmpty(t *testing.T) {
	in, err := otelx.New(otelx.WithMeterProvider(nometrics.NewMeterProvider()), otelx.WithTracerProvider(notraces.NewTracerProvider()))
	require.NoError(t, err)
	var zero otelx.Instrumentation
	for _, in := range []*otelx.Instrumentation{in, &zero} {
		require.Nil(t, in.Observer())
		require.Nil(t, in.LaneHooks("a", "b").Waited)
		require.Nil(t, in.ExecutorHooks("a").Ran)
		require.Nil(t, in.RetryHooks().OnRetry)
		c := observe.Limiter(newLimiter(t, "a"))
		r, err := in.Register(c)
		require.NoError(t, err)
		_, err = in.Register(c)
		require.Error(t, err, "names are looked at all the same")
		require.NoError(t, r.Unregister())
		v, err := otelx.Operation[int](in, "x")(func(context.Context) (int, error) { return 7, nil })(t.Context())
		require.NoError(t, err)
		require.Equal(t, 7, v)
		require.NoError(t, in.Middleware()(t.Context(), spillway.Call{}, func(context.Context) error { return nil }))
	}
}

// M-09: each signal by itself.
func TestOneSignalAlone(t *testing.T) {
	metricsOnly := newBench(t, otelx.WithTracerProvider(notraces.NewTracerProvider()))
	busy(t, metricsOnly)
	require.Len(t, metricsOnly.collect(t), 3)
	spansOnly := newBench(t, otelx.WithMeterProvider(nometrics.NewMeterProvider()))
	busy(t, spansOnly)
	require.Empty(t, spansOnly.collect(t))
	require.Len(t, spansOnly.takeSpans(), 4)
}

// M-08: every fault of the options at once, and an error of the provider.
func TestNewRefusesWhatCannotBe(t *testing.T) {
	_, err := otelx.New(otelx.WithSpans(9), otelx.WithMaxSeries(0), otelx.WithDurationBuckets(1, 1), nil)
	var faults *spillway.ConfigError
	require.ErrorAs(t, err, &faults)
	require.Len(t, faults.Faults, 3)
	in, err := otelx.New(otelx.WithMeterProvider(nil), otelx.WithTracerProvider(nil))
	require.NoError(t, err, "the global ones")
	require.NotNil(t, in.Observer())
	_, err = otelx.New(otelx.WithMeterProvider(failing{}))
	require.ErrorIs(t, err, errFailing)
}

var errFailing = errors.New("no instruments today")

// failing is a provider whose meters make no counters.
type failing struct{ nometrics.MeterProvider }

func (failing) Meter(string, ...api.MeterOption) api.Meter { return failingMeter{} }

type failingMeter struct{ nometrics.Meter }

func (failingMeter) Int64ObservableCounter(string, ...api.Int64ObservableCounterOption) (api.Int64ObservableCounter, error) {
	return nil, errFailing
}

// Without options it is the global providers of the moment.
func TestGlobalProvidersAreTheDefault(t *testing.T) {
	b := newBench(t)
	meters, traces := otel.GetMeterProvider(), otel.GetTracerProvider()
	otel.SetMeterProvider(b.meters)
	otel.SetTracerProvider(b.traces)
	t.Cleanup(func() { // other tests, and this one again, find what they found
		otel.SetMeterProvider(meters)
		otel.SetTracerProvider(traces)
	})
	in, err := otelx.New()
	require.NoError(t, err)
	b.Instrumentation = in
	b.register(t, observe.Limiter(newLimiter(t, "global")))
	b.observe(t, get(), spillway.CallResult{})
	require.Equal(t, map[string]float64{"global": 3}, b.values(t, limitMetric))
	require.Len(t, b.takeSpans(), 1)
}

// Several readers at once take turns, and each sees everything.
func TestReadersConcurrentSafe(t *testing.T) {
	one, two := metric.NewManualReader(), metric.NewManualReader()
	meters := metric.NewMeterProvider(metric.WithReader(one), metric.WithReader(two))
	b := newBench(t, otelx.WithMeterProvider(meters))
	b.register(t, observe.Limiter(newLimiter(t, "a")))
	done := make(chan struct{})
	for _, r := range []*metric.ManualReader{one, two} {
		go func() {
			defer func() { done <- struct{}{} }()
			reading := &bench{reader: r}
			for range 50 {
				if got := reading.values(t, limitMetric)["a"]; got != 3 {
					t.Errorf("%v", got)
				}
			}
		}()
	}
	for range 50 {
		r, err := b.Register(observe.Limiter(newLimiter(t, "b")))
		require.NoError(t, err)
		require.NoError(t, r.Unregister())
	}
	<-done
	<-done
	require.NoError(t, meters.Shutdown(t.Context()))
}

// mute is a component that panics when it is asked what it has.
type mute struct{ observe.Observable }

func (mute) Metrics() []observe.Metric { panic("no") }

// G-OTEL-3: one that panics while it describes its metrics isn't registered, and leaves its name.
func TestAComponentThatCannotDescribeItself(t *testing.T) {
	b := newBench(t)
	c := observe.Limiter(newLimiter(t, "a"))
	for range 2 {
		_, err := b.Register(mute{c})
		require.ErrorContains(t, err, "panicked")
	}
	b.register(t, c)
	require.Len(t, b.values(t, limitMetric), 1)
}
