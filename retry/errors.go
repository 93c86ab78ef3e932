package retry

import (
	"fmt"

	"github.com/spillway-go/spillway"
)

// ErrResultCount says that the function given to Each returned another number of
// results than it was given items. Nothing is repeated then: which items were
// executed is unknown.
var ErrResultCount error = &resultCountError{}

type resultCountError struct{}

func (*resultCountError) Error() string {
	return "retry: a batch has another number of results than of items"
}

// Outcome returns OutcomePermanent: the function is wrong.
func (*resultCountError) Outcome() spillway.Outcome { return spillway.OutcomePermanent }

// ExhaustedError says that an operation failed, was worth repeating, and was given
// up all the same: one of its bounds was reached. It wraps the last error, and the
// context's cause if the context ended. So it matches what the last attempt ended with,
// and no earlier one: if that was refused, it matches spillway.ErrBackpressure although
// earlier attempts were sent; Outcome then tells. Errors that aren't worth repeating
// are returned as they are.
type ExhaustedError struct {
	Name   string // the retrier's name
	Report        // attempts, the reason, and the last error
	Cause  error  // the context's cause, if the context ended between two attempts

	doubt spillway.Outcome // of an attempt that may have been executed; OutcomeOK if there was none
}

// Error implements error.
func (e *ExhaustedError) Error() string {
	made := fmt.Sprintf("%d of %d attempts", e.Attempts, e.MaxAttempts)
	if e.MaxAttempts == Unlimited {
		made = fmt.Sprintf("attempt %d", e.Attempts)
	}
	why := e.Reason.text()
	if e.Cause != nil {
		why = fmt.Sprintf("the context ended (%v)", e.Cause)
	}
	return fmt.Sprintf("retry %q: gave up after %s, %s: %v", e.Name, made, why, e.Err)
}

// Unwrap returns the last error and, if there is one, the context's cause.
func (e *ExhaustedError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Cause}
}

// Outcome returns the class of the last error, or of the context's cause if the
// context ended. OutcomeLocal, which says that nothing was sent, is only returned if no
// attempt may have been executed; otherwise it is the class of that one, and
// OutcomeUnknown if items of a batch were answered.
func (e *ExhaustedError) Outcome() spillway.Outcome {
	last := e.Err
	if e.Cause != nil {
		last = e.Cause
	}
	if o := spillway.OutcomeOf(last); o != spillway.OutcomeLocal || e.doubt == spillway.OutcomeOK {
		return o
	}
	return e.doubt
}

// Timeout reports whether Outcome is OutcomeTimeout, for those who ask a url.Error or os.IsTimeout.
func (e *ExhaustedError) Timeout() bool { return e.Outcome() == spillway.OutcomeTimeout }

// ErrorType returns the reason's name, the value of the error.type attribute.
func (e *ExhaustedError) ErrorType() string { return e.Reason.String() }
