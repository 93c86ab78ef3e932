// Package telemetry holds the tests of package otelx and the Aerospike adapter together,
// which know nothing of each other, and writes docs/metrics.md. There is nothing to
// import.
package telemetry
