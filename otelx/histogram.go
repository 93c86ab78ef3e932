package otelx

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/semconv/v1.39.0/dbconv"

	"github.com/spillway-go/spillway/observe"
)

// The histograms of the table that are recorded as things happen.
const (
	waitMetric    = "spillway.limiter.wait.duration"
	queueMetric   = "spillway.executor.wait.duration"
	runMetric     = "spillway.executor.task.duration"
	delayMetric   = "spillway.retry.delay.duration"
	connectMetric = "spillway.lifecycle.connect.duration"
	drainMetric   = "spillway.lifecycle.drain.duration"
)

// The metrics beyond the table.
const (
	backendMetric   = "spillway.backend.duration"
	operationMetric = "spillway.operation.duration"
)

// Recorded returns the names of the histograms of observe.Table that the hooks of this
// package record. The table's others can't be had through OpenTelemetry.
func Recorded() []string {
	return []string{waitMetric, queueMetric, runMetric, delayMetric, connectMetric, drainMetric}
}

// Metrics returns the metrics beyond observe.Table: of calls and of operations.
func Metrics() []observe.Metric {
	call := []string{"db.system.name", "db.operation.name", "db.namespace", "db.collection.name", "server.address", "server.port", attrClient}
	ended := append(slices.Clip(call), "db.response.status_code", "error.type")
	duration, rows := dbconv.ClientOperationDuration{}, dbconv.ClientResponseReturnedRows{}
	return []observe.Metric{
		{Name: duration.Name(), Kind: observe.Histogram, Unit: duration.Unit(), Description: duration.Description(), Attributes: ended},
		{Name: rows.Name(), Kind: observe.Histogram, Unit: rows.Unit(), Description: rows.Description(), Attributes: call},
		{
			Name: backendMetric, Kind: observe.Histogram, Unit: "s", Description: "Time that calls spent in the backend alone, without waits, back-offs and refusals",
			Attributes: []string{attrClient, "db.operation.name", attrOutcome},
		},
		{
			Name: operationMetric, Kind: observe.Histogram, Unit: "s", Description: "How long operations took, by what they ended with",
			Attributes: []string{attrOperation, "error.type"},
		},
	}
}

// histograms are what is recorded as it happens. None of them is nil if anything is
// measured, but for rows.
type histograms struct {
	wait, queue, run, delay, connect, drain metric.Float64Histogram

	call, backend, operation metric.Float64Histogram
	rows                     metric.Int64Histogram // nil unless it is asked for
}

func (h *histograms) make(meter metric.Meter, cfg config) (err error) {
	rows := map[string]observe.Metric{}
	for _, row := range append(observe.Table(), Metrics()...) {
		rows[row.Name] = row
	}
	made := func(name string, buckets []float64) metric.Float64Histogram {
		row := rows[name]
		made, fault := meter.Float64Histogram(name, metric.WithUnit(row.Unit), metric.WithDescription(row.Description),
			metric.WithExplicitBucketBoundaries(buckets...))
		err = errors.Join(err, fault)
		return made
	}
	h.wait, h.queue, h.run, h.delay = made(waitMetric, waitBuckets()), made(queueMetric, waitBuckets()), made(runMetric, waitBuckets()), made(delayMetric, waitBuckets())
	h.connect, h.drain = made(connectMetric, connectBuckets()), made(drainMetric, connectBuckets())
	h.call, h.backend, h.operation = made(dbconv.ClientOperationDuration{}.Name(), cfg.buckets), made(backendMetric, cfg.buckets), made(operationMetric, cfg.buckets)
	if cfg.rows {
		row := rows[dbconv.ClientResponseReturnedRows{}.Name()]
		var fault error
		h.rows, fault = meter.Int64Histogram(row.Name, metric.WithUnit(row.Unit), metric.WithDescription(row.Description),
			metric.WithExplicitBucketBoundaries(rowBuckets()...))
		err = errors.Join(err, fault)
	}
	return err
}

// seconds records a duration, if anything is to be recorded.
func (in *Instrumentation) seconds(ctx context.Context, h metric.Float64Histogram, d time.Duration, opts []metric.RecordOption) {
	if in.Enabled() {
		h.Record(ctx, d.Seconds(), opts...)
	}
}
