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

// perSeries is how many sets of attributes a series takes at once: that of calls that ended
// well and that of failures that are too many, so that it can always say of a call that it
// failed. Each kind of failure takes one more.
const perSeries = 2

// series is everything about calls of one kind that can be made ahead.
type series struct {
	base    []attribute.KeyValue
	well    []metric.RecordOption // of calls that ended with no error
	beyond  []metric.RecordOption // of failures that are too many
	backend [outcomes]atomic.Pointer[[]metric.RecordOption]
	failed  cache[failure, []metric.RecordOption]

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
	rest := o.restOf(call.System)
	if !o.room.has(perSeries) {
		return rest
	}
	made := o.newSeries(call)
	if o.in.cfg.sets || call.Collection == "" {
		made.ready, made.spanName, made.start = true, spanNameOf(call), startOptions(call, made.base)
	}
	if s, ok := o.series.add(key, made, &o.room, perSeries); ok {
		return s
	}
	return rest
}

// restOf returns the series of a system's calls that are too many, which has its room before
// any of them.
func (o *observer) restOf(system string) *series {
	if s, ok := o.rest.get(system); ok {
		return s
	}
	if o.room.has(perSeries) {
		if s, ok := o.rest.add(system, o.newSeries(spillway.Call{System: system, Operation: other}), &o.room, perSeries); ok {
			return s
		}
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
	s.beyond = recording(append(failure{kind: other}.attributes(), s.base...)...)
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

// failedAs returns the attributes of calls that failed so. An answer that is no error has no
// error.type, and doesn't get one for want of room.
func (o *observer) failedAs(s *series, f failure) []metric.RecordOption {
	if f == (failure{kind: other}) {
		return s.beyond
	}
	if opts, ok := s.failed.get(f); ok {
		return opts
	}
	if o.room.has(1) {
		if opts, ok := s.failed.add(f, recording(append(f.attributes(), s.base...)...), &o.room, 1); ok {
			return opts
		}
	}
	if f.kind == "" {
		return s.well
	}
	return s.beyond
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

// backendKey is what tells calls apart in the time in the backend.
type backendKey struct {
	client, operation string
	outcome           spillway.Outcome
}

// backendOf returns the attributes of the time in the backend. Series that differ in what
// these don't have, as collections, share them.
func (o *observer) backendOf(s *series, outcome spillway.Outcome) []metric.RecordOption {
	if int(outcome) >= outcomes {
		outcome = spillway.OutcomeUnknown
	}
	if opts := s.backend[outcome].Load(); opts != nil {
		return *opts
	}
	key := backendKey{outcome: outcome}
	attributes := []attribute.KeyValue{attribute.String(attrOutcome, outcome.String())}
	for _, a := range s.base {
		switch a.Key {
		case semconv.DBOperationNameKey:
			key.operation = a.Value.AsString()
		case attrClient:
			key.client = a.Value.AsString()
		default:
			continue
		}
		attributes = append(attributes, a)
	}
	opts, ok := o.backends.add(key, recording(attributes...), &o.backendRoom, 1)
	if !ok {
		opts = o.backend
	}
	s.backend[outcome].Store(&opts)
	return opts
}
