package group

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spillway-go/spillway"
)

// The bounds of an error's text: how many failures it shows, and how much of each.
const (
	shownErrors = 8
	shownBytes  = 256
)

// keptErrors is how many failures Each keeps.
const keptErrors = 32

// errNotReturned is the outcome of a member whose Admit panicked or called
// runtime.Goexit: that goes through to whoever submitted it.
var errNotReturned = errors.New("group: the admission did not return")

// Error is what Wait and Each return if a member failed or wasn't started. It unwraps to
// the failures, in the order in which they happened, so [errors.Is] and [errors.As] see
// all of a Group's, and the first 32 of an Each's. Members that only ended because another
// one's failure cancelled them are counted, not listed.
type Error struct {
	// Name is the group's name.
	Name string
	// Stats is what became of all the members.
	Stats Stats
	// Canceled is how many of them another's failure cancelled, or kept from starting.
	Canceled uint64

	errs     []error
	failures spillway.OutcomeCounts // of all that aren't Canceled
	refusals uint64                 // of them, those that match ErrBackpressure
}

// Error implements error. It shows the first failures and says how many there are.
func (e *Error) Error() string {
	var b strings.Builder
	total := e.failures.Total()
	fmt.Fprintf(&b, "%s: %d of %d failed", label(e.Name), total, e.Stats.Submitted)
	if e.Canceled > 0 {
		fmt.Fprintf(&b, ", which canceled %d", e.Canceled)
	}
	sep := ": "
	for i, err := range e.errs {
		if i == shownErrors {
			break
		}
		b.WriteString(sep + textOf(err))
		sep = "; "
	}
	if total > shownErrors {
		fmt.Fprintf(&b, "; and %d more", total-shownErrors)
	}
	return b.String()
}

// Unwrap returns the failures.
func (e *Error) Unwrap() []error { return e.errs }

// Outcome returns the class of the whole, seen by someone who might repeat it: the class
// that all failures share, if nothing succeeded, or if it is one after which a call may
// have been executed anyway (timeout, network). Otherwise it is OutcomePermanent:
// repeating the group would repeat what succeeded, so retries belong into the members.
func (e *Error) Outcome() spillway.Outcome {
	total := e.failures.Total()
	for i, n := range e.failures {
		if n == 0 || n != total {
			continue
		}
		switch o := spillway.Outcome(i); o {
		case spillway.OutcomeTimeout, spillway.OutcomeNetwork:
			return o
		case spillway.OutcomeOverload, spillway.OutcomeKeyOverload, spillway.OutcomeQuota, spillway.OutcomeLocal:
			if total == e.Stats.Submitted && (e.refusals == 0 || e.refusals == total) {
				return o
			}
		default:
		}
	}
	return spillway.OutcomePermanent
}

// ErrorType returns "group_failed", the value of the error.type attribute.
func (e *Error) ErrorType() string { return "group_failed" }

// CanceledError is the cause of a group's context after the first failure, with
// Config.CancelOnError. It matches [context.Canceled] alone. It doesn't unwrap to the
// failure, which was another's: who gets it wasn't refused, and didn't panic or time out.
type CanceledError struct {
	// Name is the group's name.
	Name string
	// Err is the failure that cancelled the rest.
	Err error
}

// Error implements error.
func (e *CanceledError) Error() string {
	return label(e.Name) + ": canceled because a member failed: " + textOf(e.Err)
}

// Is reports whether target is context.Canceled.
func (e *CanceledError) Is(target error) bool { return target == context.Canceled }

// Outcome returns OutcomeLocal: whoever gets it wasn't sent.
func (e *CanceledError) Outcome() spillway.Outcome { return spillway.OutcomeLocal }

// MemberTimeoutError is the cause of a member's context whose time is over, so that it
// can be told from the budget of the whole. It matches [context.DeadlineExceeded].
type MemberTimeoutError struct {
	// Name is the group's name.
	Name string
	// Limit is Config.MemberTimeout.
	Limit time.Duration
}

// Error implements error.
func (e *MemberTimeoutError) Error() string {
	return fmt.Sprintf("%s: member took longer than %v", label(e.Name), e.Limit)
}

// Is reports whether target is context.DeadlineExceeded.
func (e *MemberTimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout returns true.
func (e *MemberTimeoutError) Timeout() bool { return true }

func label(name string) string {
	if name == "" {
		return "group"
	}
	return fmt.Sprintf("group %q", name)
}

// textOf is the text of an error, bounded between two runes. It is a stranger's: fmt says so
// if making it panics.
func textOf(err error) string {
	s := fmt.Sprint(err)
	if len(s) <= shownBytes {
		return s
	}
	n := shownBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
