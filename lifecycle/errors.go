package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
)

// The sentinels that a StateError matches, by what was asked and in which state,
// and those of a Connect and a Close that didn't go through. None of them is
// backpressure, and none is worth a retry without a change of state.
var (
	// ErrNotConnected: there is no connection to take a lease of.
	ErrNotConnected error = &sentinel{"not connected", "not_connected", spillway.OutcomeLocal}
	// ErrConnecting: another Connect is under way.
	ErrConnecting error = &sentinel{"already connecting", "connecting", spillway.OutcomeLocal}
	// ErrAlreadyConnected: Connect was called with a connection in place, which
	// stays as it is.
	ErrAlreadyConnected error = &sentinel{"already connected", "connected", spillway.OutcomeLocal}
	// ErrClosing: a Close is under way.
	ErrClosing error = &sentinel{"closing", "closing", spillway.OutcomeLocal}
	// ErrConnectAborted: Close was called while Connect was under way.
	ErrConnectAborted error = &sentinel{"connect aborted by Close", "aborted", spillway.OutcomeLocal}
	// ErrNoConnection: a dial returned neither a connection nor an error.
	ErrNoConnection error = &sentinel{"dial returned no connection and no error", "no_connection", spillway.OutcomePermanent}
	// ErrOrphaned: Close ended with leases still out; the last one closes the
	// connection.
	ErrOrphaned error = &sentinel{"closed with leases still out", "orphaned", spillway.OutcomeLocal}
	// ErrStillClosing: Close ended while the Close function was still at work.
	ErrStillClosing error = &sentinel{"closing the connection took too long", "still_closing", spillway.OutcomeLocal}
)

// StateError says that the machine's state doesn't allow what was asked.
type StateError struct {
	Name  string // the machine's name
	Op    string // what was asked: "connect" or "lease"
	State State  // the state at that moment
}

// Error implements error. Who gets it for the lease in a call may never have heard of leases.
func (e *StateError) Error() string {
	switch {
	case e.Op == opLease && e.State == Disconnected:
		return fmt.Sprintf("lifecycle %q: not connected: call Connect first", e.Name)
	case e.Op == opLease:
		return fmt.Sprintf("lifecycle %q: not connected: it is %v", e.Name, e.State)
	}
	return fmt.Sprintf("lifecycle %q: can't %s while %v", e.Name, e.Op, e.State)
}

// Is reports whether target is the sentinel of what was asked in this state.
func (e *StateError) Is(target error) bool {
	switch target {
	case ErrNotConnected:
		return e.Op == opLease
	case ErrConnecting:
		return e.State == Connecting
	case ErrAlreadyConnected:
		return e.Op == opConnect && e.State == Connected
	case ErrClosing:
		return e.State == Closing
	}
	return false
}

// Outcome returns OutcomeLocal: nothing was sent.
func (e *StateError) Outcome() spillway.Outcome { return spillway.OutcomeLocal }

// ErrorType returns "not_connected" or the state's name, the value of the
// error.type attribute.
func (e *StateError) ErrorType() string {
	if e.Op == opLease {
		return "not_connected"
	}
	return e.State.String()
}

const (
	opConnect = "connect"
	opLease   = "lease"
)

// TimeoutError says that a dial took longer than Config.ConnectTimeout. It matches
// context.DeadlineExceeded.
type TimeoutError struct {
	Name  string        // the machine's name
	Limit time.Duration // the longest time
}

// Error implements error.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("lifecycle %q: connecting took longer than %v", e.Name, e.Limit)
}

// Is reports whether target is context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout returns true.
func (e *TimeoutError) Timeout() bool { return true }

// What a machine was doing when it failed, as its errors say it.
var (
	errConnect = errors.New("connect")
	errClose   = errors.New("close")
)

// causedError says what failed, and why. It unwraps to both. Its text is made when somebody
// asks for it: the methods of the cause are a stranger's code, and may panic, exit, or call
// the machine, which must not happen on its goroutines or under its lock.
type causedError struct {
	name        string // the machine's
	what, cause error
}

// Error implements error.
func (e *causedError) Error() string {
	return fmt.Sprintf("lifecycle %q: %v: %v", e.name, e.what, e.cause)
}

// Unwrap returns what failed and why.
func (e *causedError) Unwrap() []error { return []error{e.what, e.cause} }

// sentinel is an error that has a class, so that nobody repeats what it is about.
type sentinel struct {
	text, kind string
	outcome    spillway.Outcome
}

func (e *sentinel) Error() string { return "lifecycle: " + e.text }

// Outcome returns the class.
func (e *sentinel) Outcome() spillway.Outcome { return e.outcome }

// ErrorType returns the value of the error.type attribute.
func (e *sentinel) ErrorType() string { return e.kind }
