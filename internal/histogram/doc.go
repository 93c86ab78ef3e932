// Package histogram records durations in the buckets of spillway.Distribution,
// with atomics alone. A recorder has no lock and never allocates after it was
// made; it is meant for slow paths and samples, not for every call.
package histogram
