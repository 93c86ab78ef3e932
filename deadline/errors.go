package deadline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// component is the executor's kind in errors.
const component = "executor"

// ErrExpired is what the error of everybody matches whose deadline passed, or came
// too near, before the start: nothing was done. It matches
// [spillway.ErrBackpressure] and [context.DeadlineExceeded].
var ErrExpired error = &ExpiredError{Rejection: spillway.Rejection{Component: component, Reason: spillway.ReasonExpired}}

// ErrNoDeadline is the error of a job that has no deadline, where neither its context
// nor Config.TTL gives one. It is no backpressure: the code has to change.
var ErrNoDeadline error = &misuseError{"deadline: the context has no deadline and the executor has no TTL", "no_deadline"}

// ErrNilOp is the error of a job whose function is nil.
var ErrNilOp error = &misuseError{"deadline: the operation is nil", "nil_operation"}

// ErrPending is what [Future.Result] returns as long as there is no result.
var ErrPending = errors.New("deadline: the job has not ended yet")

// ExpiredError says that the deadline of a job passed before its start, or that a
// call came to a gate with too little time left. It matches [ErrExpired],
// [spillway.ErrBackpressure] and [context.DeadlineExceeded], and unwraps to its
// Rejection, whose reason is ReasonExpired.
type ExpiredError struct {
	spillway.Rejection               // who refused it, and how long it had waited
	Least              time.Duration // what a gate asks for; 0 in an executor
}

// Error implements error.
func (e *ExpiredError) Error() string {
	if e.Least > 0 {
		return fmt.Sprintf("gate refused the call: less than %v left of its time", e.Least)
	}
	return e.Rejection.Error()
}

// Is reports whether target is ErrExpired, spillway.ErrBackpressure or
// context.DeadlineExceeded.
func (e *ExpiredError) Is(target error) bool {
	return target == ErrExpired || e.Rejection.Is(target)
}

// Unwrap returns the Rejection.
func (e *ExpiredError) Unwrap() error { return &e.Rejection }

// misuseError is the error of a call that can't work whatever the load.
type misuseError struct{ text, kind string }

func (e *misuseError) Error() string { return e.text }

// Outcome returns OutcomePermanent: the same call fails again.
func (e *misuseError) Outcome() spillway.Outcome { return spillway.OutcomePermanent }

// ErrorType returns the value of the error.type attribute.
func (e *misuseError) ErrorType() string { return e.kind }

// CloseError is what [Executor.Close] reports if accepted jobs were left undone. The
// executor is closed all the same.
type CloseError struct {
	Name      string // the executor's name
	Unstarted int    // jobs that were waiting and never started
	Cut       int    // jobs that were running when the time to drain was over, and were canceled
	Running   int    // jobs that still ran when Close returned, which the executor can't stop
	Cause     error  // why Close didn't wait any longer; nil if it saw every worker out
}

// Error implements error.
func (e *CloseError) Error() string {
	text := fmt.Sprintf("%s %q: closed with %d jobs never started, %d cut off, %d still running",
		component, e.Name, e.Unstarted, e.Cut, e.Running)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the cause, which may be nil.
func (e *CloseError) Unwrap() error { return e.Cause }

// Outcome returns OutcomeLocal: it is about the executor, not about a call.
func (e *CloseError) Outcome() spillway.Outcome { return spillway.OutcomeLocal }

// ErrorType returns "close_incomplete", the value of the error.type attribute.
func (e *CloseError) ErrorType() string { return "close_incomplete" }

// A verdict is how a job that wasn't started ended, or how it was admitted.
type verdict uint8

const (
	admitted     verdict = iota
	parkIt               // to wait for room, with its caller
	refusedMode          // RefuseAll
	refusedFull          // no room
	predicted            // would not be served in time
	expired              // its deadline passed
	dropped              // made way for a newer one
	canceled             // its context was done
	closedOut            // Close was there first
	closedBefore         // it came after Close
	invalid              // it can't work whatever the load; order.bad says why
)

// errorOf makes the error of a job that wasn't started. It asks the context for its
// cause, which may be a user's code, so no lock may be held.
func (c *core) errorOf(ctx context.Context, v verdict, waited time.Duration) error {
	switch v {
	case canceled:
		return causeOf(ctx)
	case closedOut, closedBefore:
		return c.closedErr
	case expired:
		return &ExpiredError{Rejection: *c.rejection(v, waited)}
	default:
		return c.rejection(v, waited)
	}
}

// causeOf asks a context why it is done. That is a user's code, and runs on workers, too:
// what panics was canceled.
func causeOf(ctx context.Context) (err error) {
	err = context.Canceled
	defer func() { _ = recover() }()
	return cause.Of(ctx)
}

// rejection returns the shared value where nobody has waited, because refusing must
// not allocate.
func (c *core) rejection(v verdict, waited time.Duration) *spillway.Rejection {
	shared := c.rejections[v]
	if waited <= 0 {
		return shared
	}
	r := *shared
	r.Wait = waited
	return &r
}

// reasonOf gives the reason of a refusal; ok is false if the verdict isn't one.
func reasonOf(v verdict) (reason spillway.Reason, ok bool) {
	switch v {
	case refusedMode:
		return spillway.ReasonRefuseAll, true
	case refusedFull:
		return spillway.ReasonQueueFull, true
	case predicted:
		return spillway.ReasonPredicted, true
	case expired:
		return spillway.ReasonExpired, true
	case dropped:
		return spillway.ReasonDropped, true
	default:
		return 0, false
	}
}
