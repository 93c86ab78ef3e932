package otelx_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/otelx"
)

// The metrics of a limiter, read by a reader of the program's own.
func Example() {
	reader := metric.NewManualReader() // in a service the exporter's
	telemetry, err := otelx.New(otelx.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))
	if err != nil {
		fmt.Println(err)
		return
	}
	db, err := limiter.New[string](limiter.Config{Name: "db", Limit: 32})
	if err != nil {
		fmt.Println(err)
		return
	}
	registration, err := telemetry.Register(observe.Limiter(db))
	if err != nil {
		fmt.Println(err)
		return
	}
	query := otelx.Operation[string](telemetry, "query")(db.Wrap(func(context.Context) (string, error) { return "a row", nil }))
	fmt.Println(query(context.Background()))

	var all metricdata.ResourceMetrics
	err = reader.Collect(context.Background(), &all)
	fmt.Println(len(all.ScopeMetrics[0].Metrics) > 5, err)
	fmt.Println(registration.Unregister())
	// Output:
	// a row <nil>
	// true <nil>
	// <nil>
}

// Calls to a database by a client that knows nothing of observers.
func ExampleInstrumentation_Middleware() {
	telemetry, err := otelx.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	selectUsers := spillway.Call{System: "postgresql", Operation: "SELECT", Collection: "users", Kind: spillway.KindRead}
	query := spillway.Lift[int](telemetry.Middleware(), selectUsers)(func(context.Context) (int, error) { return 7, nil })
	fmt.Println(query(context.Background()))
	// Output: 7 <nil>
}
