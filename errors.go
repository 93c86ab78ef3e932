package spillway

import (
	"cmp"
	"errors"
	"fmt"
)

// ErrBackpressure is what every refusal matches: the call was not started, nothing
// was sent, and trying again at once would make things worse.
var ErrBackpressure = errors.New("spillway: refused by backpressure")

// ErrClosed is what every error of a closed component matches. It is no
// backpressure: waiting won't help.
var ErrClosed = errors.New("spillway: closed")

// ClosedError says which component was closed. It matches [ErrClosed].
type ClosedError struct {
	Component string // the component's kind, as in "limiter"
	Name      string // its name; empty if it is a zero value, which no constructor made
}

// Error implements error.
func (e *ClosedError) Error() string {
	if e.Name == "" {
		return "a zero " + e.Component + " is closed: make it with its constructor"
	}
	return fmt.Sprintf("%s %q is closed", e.Component, e.Name)
}

// Is reports whether target is ErrClosed.
func (e *ClosedError) Is(target error) bool { return target == ErrClosed }

// Outcome returns OutcomeLocal: nothing was sent.
func (e *ClosedError) Outcome() Outcome { return OutcomeLocal }

// ErrorType returns "closed", the value of the error.type attribute.
func (e *ClosedError) ErrorType() string { return "closed" }

// PanicError is a panic, or a [runtime.Goexit], of a function that ran on a
// goroutine of a component and so couldn't reach its caller as a panic.
type PanicError struct {
	Component string // the component's kind, as in "executor"; empty where what wraps the error says it
	Name      string // its name
	Value     any    // what was given to panic; nil for a Goexit
	Stack     []byte // the stack of the goroutine at that moment
}

// Error implements error. It holds the panic's value but not the stack.
func (e *PanicError) Error() string {
	whose := cmp.Or(e.Component, "spillway")
	if e.Name != "" {
		whose += fmt.Sprintf(" %q", e.Name)
	}
	if e.Value == nil {
		return whose + ": function called runtime.Goexit"
	}
	return fmt.Sprintf("%s: function panicked: %v", whose, e.Value)
}

// Unwrap returns the panic's value if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ErrorType returns "panic", the value of the error.type attribute.
func (e *PanicError) ErrorType() string { return "panic" }
