// Package monitoring holds the dashboard and the alerts against a real Prometheus that
// scrapes the examples under load: make test-prometheus. It has nothing but tests.
package monitoring
