// Package otelx gives the toolkit's components OpenTelemetry metrics and spans.
//
// What components count anyway is read when somebody collects, in one callback for all
// that were registered together: a call costs nothing for it. Only what a counter can't
// tell is recorded as it happens, and only where time is spent already: waits, back-offs,
// connects, jobs that ran, calls to a database.
//
//	telemetry, err := otelx.New() // the global providers
//	registration, err := telemetry.Register(observe.Limiter(db), client)
//	defer registration.Unregister()
//
//	cfg := aerospike.DefaultConfig("127.0.0.1:3000")
//	cfg.Observer = telemetry.Observer() // db.client.* spans and metrics
//
// The names are those of observe.Table, and [Metrics] for what is beyond it;
// docs/metrics.md has all of them. This package knows OpenTelemetry's API alone: which
// SDK, exporter and sampler there are is up to the program.
//
// # Guarantees
//
//   - G-OTEL-1: what is exported is the table: the names, kinds, units and attributes of
//     observe.Table, of Describers and of Metrics, and nothing else.
//   - G-OTEL-2: two components of one kind with one name are never added up: the second is
//     refused, or left out if it only turns up later.
//   - G-OTEL-3: a component that panics, an error that panics and a function of the user's
//     that panics harm neither the call nor other components' telemetry.
//   - G-OTEL-4: whatever calls carry, no metric of theirs has more sets of attributes than
//     WithMaxSeries says; what is beyond is counted as _OTHER.
//   - G-OTEL-5: off, and with providers that do nothing, a call costs nothing, and nothing
//     is exported.
//   - G-OTEL-6: a call that is measured but not traced allocates nothing.
//   - G-OTEL-7: every call has one span and one duration, also if it is refused, panics, or
//     is a stream, whose span ends when the stream does.
//
// There is no goroutine, no init, no global state and no variable of the environment.
//
// # When not to use it
//
// Without OpenTelemetry, package debugz has the same table as text.
package otelx
