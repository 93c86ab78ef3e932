package retry

import (
	"fmt"
	"time"
)

// StopReason says why an operation was not tried any more.
type StopReason uint8

// The reasons.
const (
	StopSuccess       StopReason = iota // it succeeded
	StopNotRetryable                    // its error says that repeating won't help
	StopNotIdempotent                   // it may have been executed, and the policy doesn't declare it idempotent
	StopAttempts                        // MaxAttempts were made
	StopElapsed                         // the next attempt would start at MaxElapsed or later
	StopDeadline                        // the next attempt would start at the context's deadline or later
	StopHint                            // it was asked to stay away for longer than MaxHint
	StopBudget                          // the budget has no retry left
	StopCanceled                        // its context was cancelled between two attempts

	stopCount
)

var stopNames = [...]string{
	"ok", "not_retryable", "not_idempotent", "attempts_exhausted", "elapsed_exhausted",
	"deadline_exceeded", "hint_too_long", "budget_exhausted", "canceled",
}

// String returns the reason's name, as telemetry uses it.
func (r StopReason) String() string {
	if r < stopCount {
		return stopNames[r]
	}
	return fmt.Sprintf("stop(%d)", uint8(r))
}

// text says the same to somebody who reads an error.
func (r StopReason) text() string {
	switch r {
	case StopAttempts:
		return "no more are allowed"
	case StopElapsed:
		return "the next would start after the longest time"
	case StopDeadline:
		return "the next would start after the deadline"
	case StopHint:
		return "it was asked to stay away for too long"
	case StopBudget:
		return "the retry budget is used up"
	case StopCanceled:
		return "the context ended"
	default:
		return r.String()
	}
}

// Report says what became of an operation.
type Report struct {
	Attempts    int           // attempts that were made; of a batch, how often it was sent
	MaxAttempts int           // attempts that were allowed
	Reason      StopReason    // why it ended
	Delay       time.Duration // the back-offs together, as they were drawn
	Unresolved  int           // items of a batch that were given up; 0 for a single operation
	Err         error         // what the last failed attempt ended with; nil if none failed
}

// CutByTime reports whether the operation was given up for lack of time, with
// attempts left.
func (r Report) CutByTime() bool {
	return r.Reason == StopElapsed || r.Reason == StopDeadline || r.Reason == StopHint
}

// StopCounts counts ended operations by the reason of their end.
type StopCounts [stopCount]uint64

// Of returns how many operations ended for r; 0 if there is no such reason.
func (c StopCounts) Of(r StopReason) uint64 {
	if r >= stopCount {
		return 0
	}
	return c[r]
}

// Total returns how many operations ended.
func (c StopCounts) Total() uint64 {
	var sum uint64
	for _, n := range c {
		sum += n
	}
	return sum
}
