package otelx

import (
	"errors"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/metric"
	nometrics "go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.39.0"
	"go.opentelemetry.io/otel/trace"
	notraces "go.opentelemetry.io/otel/trace/noop"

	"github.com/spillway-go/spillway/observe"
)

// ScopeName is the name of the instrumentation scope, Version its version.
const (
	ScopeName = "github.com/spillway-go/spillway/otelx"
	Version   = "0.0.0"
)

// Instrumentation makes metrics and spans of components, for one MeterProvider and one
// TracerProvider. All its methods are safe for concurrent use. The zero Instrumentation
// makes none; make one with [New].
type Instrumentation struct {
	cfg    config
	meter  metric.Meter // nil if nothing is measured
	tracer trace.Tracer // nil if nothing is traced
	off    atomic.Bool

	recorded histograms
	observer *observer // nil if there is nothing to see

	registering sync.Mutex // serialises Register and Unregister; no lock is taken before it

	// mu guards what follows. No function of a component or of OpenTelemetry runs under it.
	mu     sync.Mutex
	rows   map[string]instrument
	owners map[identity]*Registration
}

// New returns an Instrumentation. With an impossible option it returns a
// *spillway.ConfigError that lists every fault; an error of the provider is returned as it
// is. If the providers are OpenTelemetry's noop ones, all it gives is empty and costs
// nothing.
func New(opts ...Option) (*Instrumentation, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	in := &Instrumentation{cfg: cfg, rows: map[string]instrument{}, owners: map[identity]*Registration{}}
	if _, noop := cfg.meters.(nometrics.MeterProvider); !noop {
		in.meter = cfg.meters.Meter(ScopeName, metric.WithInstrumentationVersion(Version), metric.WithSchemaURL(semconv.SchemaURL))
	}
	if _, noop := cfg.tracers.(notraces.TracerProvider); !noop && cfg.spans != SpansNever {
		in.tracer = cfg.tracers.Tracer(ScopeName, trace.WithInstrumentationVersion(Version), trace.WithSchemaURL(semconv.SchemaURL))
	}
	if in.meter != nil {
		for _, row := range observe.Table() {
			err = errors.Join(err, in.addRow(row))
		}
		err = errors.Join(err, in.recorded.make(in.meter, cfg))
	}
	if err != nil {
		return nil, err
	}
	if in.meter != nil || in.tracer != nil {
		in.observer = newObserver(in)
	}
	return in, nil
}

// SetEnabled turns everything on, which it is from the start, or off: calls and components
// are then not looked at, and collectors find nothing of them. Counts go on meanwhile, as
// the components count. Calls under way end as they began.
func (in *Instrumentation) SetEnabled(on bool) { in.off.Store(!on) }

// Enabled reports what SetEnabled said.
func (in *Instrumentation) Enabled() bool { return !in.off.Load() }
