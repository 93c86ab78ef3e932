package otelx

import (
	"fmt"
	"math"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/spillway-go/spillway"
)

// SpanMode says which calls get a span. The zero SpanMode is SpansAlways.
type SpanMode uint8

// The modes of spans.
const (
	SpansAlways      SpanMode = iota // every call; the sampler decides
	SpansUnderParent                 // only calls whose context carries a span that is recorded
	SpansNever                       // none
)

// Option is a setting of [New].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	meters    metric.MeterProvider
	tracers   trace.TracerProvider
	spans     SpanMode
	buckets   []float64
	maxSeries int
	sets      bool // whether metrics name the collection
	rows      bool
	attempts  bool
	isError   func(spillway.Call, error) bool // nil is the default
	spanName  func(spillway.Call) string      // nil is the default
}

// WithMeterProvider has the metrics made by p. The default is the global one at the time
// of New; nil is the default, too.
func WithMeterProvider(p metric.MeterProvider) Option {
	return option(func(c *config) { c.meters = p })
}

// WithTracerProvider has the spans made by p. The default is the global one at the time of
// New; nil is the default, too.
func WithTracerProvider(p trace.TracerProvider) Option {
	return option(func(c *config) { c.tracers = p })
}

// WithSpans says which calls get a span. The default is SpansAlways.
func WithSpans(mode SpanMode) Option { return option(func(c *config) { c.spans = mode }) }

// WithDurationBuckets are the bounds of the histograms of calls and operations, in seconds,
// growing. The default has all nine bounds that the conventions recommend, and some
// between and below: many calls of a fast database take less than the lowest of the nine.
func WithDurationBuckets(seconds ...float64) Option {
	return option(func(c *config) { c.buckets = seconds })
}

// WithoutCollectionName leaves the collection's name out of metrics, where there are many
// of them; spans have it.
func WithoutCollectionName() Option { return option(func(c *config) { c.sets = false }) }

// WithReturnedRows also records how many items calls return.
func WithReturnedRows() Option { return option(func(c *config) { c.rows = true }) }

// WithAttemptSpans also makes a span for each attempt of a call that has one, a child of
// it, for clients that tell an observer of attempts, as the Aerospike adapter does. It is
// named "attempt", of kind internal, and says its number, the node that was asked, and how it
// failed.
func WithAttemptSpans() Option { return option(func(c *config) { c.attempts = true }) }

// WithMaxSeries bounds the sets of attributes that calls can bring about in a metric, those
// that stand for the rest included. A kind of calls (a client, an operation, a namespace, a
// collection) takes two, one of them for failures that are too many, and one more for each
// kind of failure; a system takes two for its calls that are too many. It must be at least 6;
// the default is 1500. An SDK has a limit of its own, 2000 by default, from version 1.44 on;
// before that it has none unless it is given one.
func WithMaxSeries(n int) Option { return option(func(c *config) { c.maxSeries = n }) }

// WithErrorClassifier says which errors of calls are errors in telemetry. isError is called
// with the error of every failed call, and must be quick. By default all are but, of
// Aerospike: a record that isn't there, for operations that may well find none, one that
// there is already, that was filtered out, or that has another generation. A call that
// ended with something that isn't an error has its status code and no error.type.
func WithErrorClassifier(isError func(call spillway.Call, err error) bool) Option {
	return option(func(c *config) { c.isError = isError })
}

// WithSpanNameFormatter names the spans of calls. By default it is the operation and the
// collection, or the namespace if there is none, as in "GET users". name is called
// for each call that gets a span, and must be quick; its names must be few.
func WithSpanNameFormatter(name func(spillway.Call) string) Option {
	return option(func(c *config) { c.spanName = name })
}

// defaultBuckets are a superset of those of the conventions, in seconds.
func defaultBuckets() []float64 {
	return []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10}
}

// waitBuckets are for waits and jobs, connectBuckets for connects and closes, rowBuckets
// for items.
func waitBuckets() []float64 {
	return []float64{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
}

func connectBuckets() []float64 {
	return []float64{0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60}
}

func rowBuckets() []float64 {
	return []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}
}

const (
	defaultMaxSeries = 1500
	minSeries        = 3 * perSeries // one kind of calls, the rest of its system, and of all others
)

func newConfig(opts []Option) (config, error) {
	c := config{buckets: defaultBuckets(), maxSeries: defaultMaxSeries, sets: true}
	for _, o := range opts {
		if o != nil {
			o.apply(&c)
		}
	}
	e := &spillway.ConfigError{Component: "otelx"}
	if c.spans > SpansNever {
		e.Add("WithSpans", uint8(c.spans), "must be SpansAlways, SpansUnderParent or SpansNever")
	}
	if c.maxSeries < minSeries {
		e.Add("WithMaxSeries", c.maxSeries, fmt.Sprintf("must be at least %d", minSeries))
	}
	for i, b := range c.buckets {
		if !(b > 0) || math.IsInf(b, 0) || i > 0 && b <= c.buckets[i-1] { // NaN too
			e.Add("WithDurationBuckets", c.buckets, "must be positive and grow")
			break
		}
	}
	if c.meters == nil {
		c.meters = otel.GetMeterProvider()
	}
	if c.tracers == nil {
		c.tracers = otel.GetTracerProvider()
	}
	return c, e.Err()
}
