package model

import (
	"context"

	"github.com/spillway-go/spillway"
)

// Error is what the backend, or the lack of its answer, tells a caller.
type Error struct {
	class spillway.Outcome
	text  string
	cause error
}

// Error implements error.
func (e *Error) Error() string { return "model: " + e.text }

// Outcome returns the class, which is all that the toolkit reads.
func (e *Error) Outcome() spillway.Outcome { return e.class }

// Unwrap returns the context's error of a call that was not waited for; rivals look for it.
func (e *Error) Unwrap() error { return e.cause }

// The answers of the backend, and what callers get who don't wait for one.
var (
	ErrOverload = &Error{spillway.OutcomeOverload, "the queue is full", nil}
	ErrKeyBusy  = &Error{spillway.OutcomeKeyOverload, "too many wait for the key", nil}
	ErrDown     = &Error{spillway.OutcomeNetwork, "connection refused", nil}
	ErrExpired  = &Error{spillway.OutcomeTimeout, "expired in the server's queue", nil}
	errTimeout  = &Error{spillway.OutcomeTimeout, "no answer in time", context.DeadlineExceeded}
	errCanceled = &Error{spillway.OutcomeLocal, "canceled", context.Canceled}
)
