package otelx

import (
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Recording shows the tests how measurements are given n attributes.
func Recording(n int) []metric.RecordOption {
	var all []attribute.KeyValue
	for i := range n {
		all = append(all, attribute.String(fmt.Sprint("key", i), "value"))
	}
	return recording(all...)
}
