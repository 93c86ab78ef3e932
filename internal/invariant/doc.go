// Package invariant tells whether the formulas that stand beside the atomics are
// checked at run time. They are in builds with the race detector or with the tag
// "invariants", which is every test run that matters; elsewhere the checks are
// compiled out.
package invariant
