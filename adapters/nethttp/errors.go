package nethttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spillway-go/spillway"
)

// errNoAnswer is what a Base gets wrong that returns nothing at all.
var errNoAnswer = errors.New("the base transport returned neither an answer nor an error")

// StatusError is an answer that says that a call failed, as a retrier and its hooks see
// it: of a transport's caller it is the answer itself, unless the request was given up
// in a back-off.
type StatusError struct {
	Code  int           // the HTTP status
	After time.Duration // what its Retry-After asks for; 0 if nothing

	exchange *exchange
}

// Error implements error.
func (e *StatusError) Error() string {
	if e.After > 0 {
		return fmt.Sprintf("nethttp: answered with %d %s, to come back after %v", e.Code, http.StatusText(e.Code), e.After)
	}
	return fmt.Sprintf("nethttp: answered with %d %s", e.Code, http.StatusText(e.Code))
}

// Outcome returns the class of the status: see [OutcomeOfStatus].
func (e *StatusError) Outcome() spillway.Outcome { return OutcomeOfStatus(e.Code) }

// ErrorType returns the status, the value of the error.type attribute.
func (e *StatusError) ErrorType() string { return fmt.Sprint(e.Code) }

// RetryAfter returns After, the hint that retry.Hint finds.
func (e *StatusError) RetryAfter() time.Duration { return e.After }

// CallError says that a call brought no answer: the connection failed, or Base returned
// an error that has no class of its own. It unwraps to that.
type CallError struct {
	Name string // the transport's name
	Err  error  // what Base returned
}

// Error implements error.
func (e *CallError) Error() string { return fmt.Sprintf("http %q: %v", e.Name, e.Err) }

// Unwrap returns Err.
func (e *CallError) Unwrap() error { return e.Err }

// Outcome returns OutcomePermanent for a certificate that isn't valid and a host that
// doesn't exist, and OutcomeNetwork for everything else: it may have been executed.
func (e *CallError) Outcome() spillway.Outcome {
	if hopeless(e.Err) {
		return spillway.OutcomePermanent
	}
	return spillway.OutcomeNetwork
}

// ErrorType returns the class's name, the value of the error.type attribute.
func (e *CallError) ErrorType() string { return e.Outcome().String() }

// TimeoutError says that something of a request took longer than the transport lets it.
// It matches context.DeadlineExceeded.
type TimeoutError struct {
	Name  string        // the transport's name
	What  string        // "attempt", "request" or "body"
	Limit time.Duration // how long it might take
}

// Error implements error.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("http %q: the %s took longer than %v", e.Name, e.What, e.Limit)
}

// Is reports whether target is context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout returns true.
func (e *TimeoutError) Timeout() bool { return true }

// Outcome returns OutcomeTimeout: it may have been executed.
func (e *TimeoutError) Outcome() spillway.Outcome { return spillway.OutcomeTimeout }

// ErrorType returns "timeout", the value of the error.type attribute.
func (e *TimeoutError) ErrorType() string { return "timeout" }

// outcomeOf is how an attempt ended that brought no whole answer. One whose error panics when
// it is asked has no class; its permit comes back all the same. What has no class is the network's
// fault, unless the caller has gone: the cause that he gave may be anything.
func (h *hold) outcomeOf(err error) spillway.Outcome {
	if o := askOutcome(err); o != spillway.OutcomeUnknown {
		return o
	}
	switch h.ctx.Err() {
	case nil:
		return spillway.OutcomeNetwork
	case context.DeadlineExceeded:
		return spillway.OutcomeTimeout
	default:
		return spillway.OutcomeLocal
	}
}

// askOutcome is spillway.OutcomeOf for errors of others, whose methods may panic: a nil pointer
// in an error does.
func askOutcome(err error) (o spillway.Outcome) {
	o = spillway.OutcomeUnknown
	defer func() { _ = recover() }()
	return spillway.OutcomeOf(err)
}
