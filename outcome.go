package spillway

import (
	"context"
	"errors"
	"fmt"
)

// Outcome is the class of an ended call, seen from the one who sent it. Retry,
// adaptive limits, HTTP mapping and telemetry read nothing else of an error, so
// that each backend is classified in one place, its adapter.
type Outcome uint8

// The outcomes. The classes are those of the overload literature, told apart by
// what the caller must do next.
const (
	OutcomeOK          Outcome = iota // done, in time
	OutcomeLate                       // done, but after its deadline: the work was wasted
	OutcomeOverload                   // the node said that it is overloaded: slow down there
	OutcomeKeyOverload                // one key is hot: the node itself is well
	OutcomeTimeout                    // no answer in time; the work may still go on
	OutcomeNetwork                    // the connection failed; it may have been executed
	OutcomeQuota                      // the caller's own quota is used up
	OutcomePermanent                  // an answer that repeating won't change
	OutcomeStopWrites                 // out of space: no write will succeed for a while
	OutcomeLocal                      // never sent: refused, cancelled or closed on our side
	OutcomeUnknown                    // an error that carries no class

	outcomeCount
)

var outcomeNames = [...]string{
	"ok", "late", "overload", "key_overload", "timeout", "network", "quota",
	"permanent", "stop_writes", "local", "unknown",
}

// String returns the outcome's name, as telemetry uses it.
func (o Outcome) String() string {
	if o < outcomeCount {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// OutcomeOf returns the class of an operation's error. A nil error is OutcomeOK.
// The outermost error in err's tree that has a method Outcome() Outcome decides;
// failing that, a cancelled context, a closed component and a refusal are OutcomeLocal,
// anything that says of itself that it timed out is OutcomeTimeout, and the rest is
// OutcomeUnknown.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return OutcomeOK
	}
	// Most errors that carry a class carry it on the outside, and errors.As with an
	// interface costs as much as ten calls of a limiter.
	if carrier, ok := err.(interface{ Outcome() Outcome }); ok {
		return known(carrier.Outcome())
	}
	var carrier interface{ Outcome() Outcome }
	if errors.As(err, &carrier) {
		return known(carrier.Outcome())
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrClosed) || errors.Is(err, ErrBackpressure) {
		return OutcomeLocal
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return OutcomeTimeout
	}
	return OutcomeUnknown
}

// known returns o, or OutcomeUnknown if there is no such outcome.
func known(o Outcome) Outcome {
	if o >= outcomeCount {
		return OutcomeUnknown
	}
	return o
}

// OutcomeCounts counts ended calls by outcome.
type OutcomeCounts [outcomeCount]uint64

// Of returns how many calls ended with o; 0 if there is no such outcome.
func (c OutcomeCounts) Of(o Outcome) uint64 {
	if o >= outcomeCount {
		return 0
	}
	return c[o]
}

// Total returns how many calls ended.
func (c OutcomeCounts) Total() uint64 {
	var sum uint64
	for _, n := range c {
		sum += n
	}
	return sum
}
