package otelx

import (
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Attributes are n attributes.
func Attributes(n int) (all []attribute.KeyValue) {
	for i := range n {
		all = append(all, attribute.String(fmt.Sprint("key", i), "value"))
	}
	return all
}

// Recording shows the tests how measurements are given attributes.
func Recording(attributes []attribute.KeyValue) []metric.RecordOption {
	return recording(attributes...)
}
