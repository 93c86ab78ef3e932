package observe

import "strings"

// PrometheusName returns the metric's name in Prometheus, as OpenTelemetry's exporter
// translates it with underscores and suffixes. Buckets, sum and count of a Histogram have
// their own suffix behind it.
func (m Metric) PrometheusName() string {
	name := PrometheusLabel(m.Name)
	if m.Unit == "s" {
		name += "_seconds"
	}
	if m.Kind == Counter {
		name += "_total"
	}
	return name
}

// PrometheusLabel returns the name of an attribute in Prometheus.
func PrometheusLabel(attribute string) string {
	return strings.ReplaceAll(attribute, ".", "_")
}
