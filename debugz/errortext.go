package debugz

import (
	"errors"
	"fmt"

	"github.com/spillway-go/spillway"
)

// The errors that are shown come from drivers, and so do their methods, which may panic: a
// nil pointer that a dial returned as an error does, at every look. What is said of such an
// error is its type, for which nobody has to be asked.

// errorText says what kind of error it is, and its text only if that is allowed.
func errorText(err error, text bool) string {
	if err == nil {
		return "–"
	}
	if text {
		if said, ok := textOf(err); ok {
			return printable(said)
		}
	}
	return errorKind(err)
}

// textOf returns an error's text, if it gives one.
func textOf(err error) (text string, ok bool) {
	defer func() { _ = recover() }()
	return err.Error(), true
}

// errorKind is the class of an error, and its type by which it is known in telemetry.
func errorKind(err error) (kind string) {
	defer func() {
		if recover() != nil {
			kind = printable(fmt.Sprintf("%s (%T)", spillway.OutcomeUnknown, err))
		}
	}()
	kind = spillway.OutcomeOf(err).String()
	var typed interface{ ErrorType() string }
	if errors.As(err, &typed) {
		return printable(kind + " (" + typed.ErrorType() + ")")
	}
	root := err
	for {
		next := errors.Unwrap(root)
		if next == nil {
			return printable(fmt.Sprintf("%s (%T)", kind, root))
		}
		root = next
	}
}

// outcomeOf is the class of an error.
func outcomeOf(err error) (o spillway.Outcome) {
	o = spillway.OutcomeUnknown
	defer func() { _ = recover() }()
	return spillway.OutcomeOf(err)
}
