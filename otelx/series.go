package otelx

import (
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.39.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/spillway-go/spillway"
)

// outcomes is how many outcomes there are.
const outcomes = len(spillway.OutcomeCounts{})

// seriesKey is what tells calls apart in metrics.
type seriesKey struct {
	client, server        string
	system, operation     string
	namespace, collection string
	port                  int
	single                bool // a batch of one
}

// series is everything about calls of one kind that can be made ahead.
type series struct {
	base    []attribute.KeyValue
	well    []metric.RecordOption // of calls that ended with no error
	backend [outcomes]atomic.Pointer[[]metric.RecordOption]
	failed  cache[failure, []metric.RecordOption]
	beyond  atomic.Pointer[[]metric.RecordOption] // of failures that are too many

	// The span's, unless it has to be made for each call.
	ready    bool
	spanName string
	start    []trace.SpanStartOption
}

// seriesOf returns the series of a call.
func (o *observer) seriesOf(call spillway.Call) *series {
	key := seriesKey{
		client: call.Client, server: call.Server, port: call.Port, system: call.System, operation: call.Operation,
		namespace: call.Namespace, single: call.BatchSize == 1,
	}
	if o.in.cfg.sets {
		key.collection = call.Collection
	}
	if s, ok := o.series.get(key); ok {
		return s
	}
	if o.room.any() {
		made := o.newSeries(call)
		if o.in.cfg.sets || call.Collection == "" {
			made.ready, made.spanName, made.start = true, o.spanName(call), startOptions(call, made.base)
		}
		if s, ok := o.series.add(key, made, &o.room); ok {
			o.beyond.add(call.System, o.newSeries(spillway.Call{System: call.System, Operation: other}), nil)
			return s
		}
	}
	// There are no more systems beyond than were among those that had room.
	if s, ok := o.beyond.get(call.System); ok {
		return s
	}
	return o.unknown
}

// newSeries makes the series of a call; it has the collection only if metrics may.
func (o *observer) newSeries(call spillway.Call) *series {
	if !o.in.cfg.sets {
		call.Collection = ""
	}
	s := &series{base: baseAttributes(call)}
	s.well = recording(s.base...)
	return s
}

// baseAttributes are what a call has from the start: in a span, and in metrics.
func baseAttributes(call spillway.Call) []attribute.KeyValue {
	system := call.System
	if system == "" {
		system = other
	}
	all := []attribute.KeyValue{semconv.DBSystemNameKey.String(system)}
	add := func(key attribute.Key, value string) {
		if value != "" {
			all = append(all, key.String(value))
		}
	}
	add(semconv.DBOperationNameKey, operationOf(call))
	add(semconv.DBNamespaceKey, call.Namespace)
	add(semconv.DBCollectionNameKey, call.Collection)
	add(semconv.ServerAddressKey, call.Server)
	if call.Port != 0 && (call.System != aerospike || call.Port != aerospikePort) {
		all = append(all, semconv.ServerPortKey.Int(call.Port))
	}
	add(attrClient, call.Client)
	return all
}

// startOptions are those of a call's span.
func startOptions(call spillway.Call, base []attribute.KeyValue) []trace.SpanStartOption {
	if call.System == "" {
		return []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(base...)}
	}
	return []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(base...)}
}

// failedAs returns the attributes of calls that failed so.
func (o *observer) failedAs(s *series, f failure) []metric.RecordOption {
	if opts, ok := s.failed.get(f); ok {
		return opts
	}
	if o.room.any() {
		if opts, ok := s.failed.add(f, recording(append(f.attributes(), s.base...)...), &o.room); ok {
			return opts
		}
	}
	if opts := s.beyond.Load(); opts != nil {
		return *opts
	}
	opts := recording(append(failure{kind: other}.attributes(), s.base...)...)
	s.beyond.Store(&opts)
	return opts
}

// attributes are those of a failure, in a slice of its own.
func (f failure) attributes() []attribute.KeyValue {
	var all []attribute.KeyValue
	if f.status != "" {
		all = append(all, semconv.DBResponseStatusCodeKey.String(f.status))
	}
	if f.kind != "" {
		all = append(all, semconv.ErrorTypeKey.String(f.kind))
	}
	return all
}

// backendOf returns the attributes of the time in the backend.
func (s *series) backendOf(o spillway.Outcome) []metric.RecordOption {
	if int(o) >= outcomes {
		o = spillway.OutcomeUnknown
	}
	if opts := s.backend[o].Load(); opts != nil {
		return *opts
	}
	attributes := []attribute.KeyValue{attribute.String(attrOutcome, o.String())}
	for _, a := range s.base {
		if a.Key == semconv.DBOperationNameKey || a.Key == attrClient {
			attributes = append(attributes, a)
		}
	}
	opts := recording(attributes...)
	s.backend[o].Store(&opts)
	return opts
}
