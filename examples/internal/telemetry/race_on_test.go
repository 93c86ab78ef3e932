//go:build race

package telemetry_test

// race says that the race detector looks on, under which pools forget and allocations are
// its own.
const race = true
