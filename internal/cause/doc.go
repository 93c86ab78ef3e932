// Package cause says why a context is done. It is for every place that returns the
// cause instead of a value: nil there would look like a success.
package cause
