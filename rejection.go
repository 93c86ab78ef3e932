package spillway

import (
	"context"
	"fmt"
	"time"
)

// Reason says why a call was refused before its start.
type Reason uint8

// The reasons of a refusal.
const (
	ReasonLimit       Reason = iota // every permit was in use
	ReasonRefuseAll                 // the guard's mode is RefuseAll
	ReasonQueueFull                 // the waiting room or queue was full
	ReasonMaxWait                   // waited as long as the guard lets anyone wait
	ReasonPredicted                 // would not have been served in time
	ReasonExpired                   // its deadline had passed, or came too soon to start it
	ReasonDropped                   // made way for a newer one
	ReasonLimitShrunk               // the limit fell below the weight it waited for
	ReasonPaced                     // calls go one at a time, with a pause between them

	reasonCount
)

// The names are the values of the error.type attribute in telemetry.
var reasonNames = [...]string{
	"limit_reached", "refuse_all", "queue_full", "max_wait_exceeded",
	"deadline_insufficient", "deadline_exceeded", "dropped", "limit_reduced",
	"paced",
}

var reasonTexts = [...]string{
	"all permits are in use", "the mode is refuse-all", "the waiting room is full",
	"the longest wait is over", "it would not be served in time",
	"too little of its time was left to start it", "it made way for a newer call",
	"the limit fell below its weight", "the next call isn't due yet",
}

// String returns the reason's name, as telemetry uses it.
func (r Reason) String() string {
	if r < reasonCount {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// Rejection is the error of a call that was refused before its start. It matches
// [ErrBackpressure], and [context.DeadlineExceeded] if its reason is
// ReasonExpired. Rejections are shared between callers to keep a refusal free of
// allocations: they must not be changed.
type Rejection struct {
	Component  string        // the kind of the guard, as in "limiter"
	Name       string        // the guard's name
	Reason     Reason        // why
	Limit      int           // the limit at that time, in permits or places; of no meaning with ReasonExpired
	Wait       time.Duration // how long the call had waited; 0 if it was refused at once
	RetryAfter time.Duration // a hint when to try again; 0 if there is none
}

// Error implements error.
func (r *Rejection) Error() string {
	text := "unknown reason"
	if r.Reason < reasonCount {
		text = reasonTexts[r.Reason]
	}
	after, limit := "", ""
	if r.Wait > 0 {
		after = fmt.Sprintf(" after %v", r.Wait)
	}
	if r.Reason != ReasonExpired { // which has nothing to do with one
		limit = fmt.Sprintf(" (limit %d)", r.Limit)
	}
	return fmt.Sprintf("%s %q refused the call%s: %s%s", r.Component, r.Name, after, text, limit)
}

// Is reports whether target is ErrBackpressure, or context.DeadlineExceeded for a
// call that expired.
func (r *Rejection) Is(target error) bool {
	return target == ErrBackpressure ||
		r.Reason == ReasonExpired && target == context.DeadlineExceeded
}

// Outcome returns OutcomeLocal: nothing was sent.
func (r *Rejection) Outcome() Outcome { return OutcomeLocal }

// ErrorType returns the reason's name, the value of the error.type attribute.
func (r *Rejection) ErrorType() string { return r.Reason.String() }

// RefusalCounts counts refused calls by reason.
type RefusalCounts [reasonCount]uint64

// Of returns how many calls were refused for r; 0 if there is no such reason.
func (c RefusalCounts) Of(r Reason) uint64 {
	if r >= reasonCount {
		return 0
	}
	return c[r]
}

// Total returns how many calls were refused.
func (c RefusalCounts) Total() uint64 {
	var sum uint64
	for _, n := range c {
		sum += n
	}
	return sum
}
