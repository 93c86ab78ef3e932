package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
)

// providers sets OpenTelemetry's global providers up. The handler is what Prometheus
// scrapes, nil with otlp; shutdown sends what is left, and must be called.
func providers(ctx context.Context, exporter string) (metrics http.Handler, shutdown func(context.Context) error, err error) {
	var reader metric.Reader
	var tracing []trace.TracerProviderOption
	switch exporter {
	case "prometheus":
		// The names that dashboard and alerts go by, whatever the default will be.
		reader, err = prometheus.New(prometheus.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes), prometheus.WithoutScopeInfo())
		if err != nil {
			return nil, nil, err
		}
		metrics = promhttp.Handler()
	case "otlp":
		// Where to is said by OTEL_EXPORTER_OTLP_ENDPOINT and the like.
		measured, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return nil, nil, err
		}
		traced, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, nil, err
		}
		reader = metric.NewPeriodicReader(measured)
		tracing = append(tracing, trace.WithBatcher(traced))
	default:
		return nil, nil, fmt.Errorf("-exporter is %q: must be prometheus or otlp", exporter)
	}
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	traces := trace.NewTracerProvider(tracing...)
	otel.SetMeterProvider(meters)
	otel.SetTracerProvider(traces)
	return metrics, func(ctx context.Context) error {
		return errors.Join(meters.Shutdown(ctx), traces.Shutdown(ctx))
	}, nil
}
