package spillway

import "fmt"

// NestedError says that an operation called its own guard again, which would hold
// one permit while asking for a second: with a limit of one it can never succeed,
// and with more it can block everybody at once. It is found only where looking for
// it was asked for. It is no backpressure: the code has to change.
type NestedError struct {
	Component string // the kind of the guard, as in "limiter"
	Name      string // its name
}

// Error implements error.
func (e *NestedError) Error() string {
	return fmt.Sprintf("%s %q: called again from within an operation that it admitted", e.Component, e.Name)
}

// Outcome returns OutcomePermanent: the same call fails again.
func (e *NestedError) Outcome() Outcome { return OutcomePermanent }

// ErrorType returns "nested_call", the value of the error.type attribute.
func (e *NestedError) ErrorType() string { return "nested_call" }
