package retry

import (
	"errors"
	"time"

	"github.com/spillway-go/spillway"
)

// Permanent marks err as one that repeating won't change, whatever its class and
// whatever the policy says. The retrier that meets the mark takes it off: its
// caller gets err itself, on whichever attempt. Only if err was wrapped again with
// the mark inside does it stay there. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*permanentError); ok { //nolint:errorlint // marks that are wrapped keep their wrapping
		return err
	}
	return &permanentError{err}
}

// permanentError is the mark that Permanent makes.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Outcome returns the class of the marked error, or OutcomePermanent if it has none.
func (e *permanentError) Outcome() spillway.Outcome {
	if o := spillway.OutcomeOf(e.err); o != spillway.OutcomeUnknown {
		return o
	}
	return spillway.OutcomePermanent
}

// IsPermanent reports whether err, or an error that it wraps, is marked Permanent.
func IsPermanent(err error) bool {
	var mark *permanentError
	return errors.As(err, &mark)
}

// After marks err with a hint: whoever turned the operation away asked not to come
// back before d has passed. The hint is the least back-off after err. An error
// without a class becomes one of OutcomeOverload by it; one marked Permanent stays
// permanent. If d isn't positive After returns err itself. After(nil, d) is nil.
func After(err error, d time.Duration) error {
	if err == nil || d <= 0 || IsPermanent(err) {
		return err
	}
	return &afterError{err, d}
}

// afterError is the mark that After makes. It stays on the error, because those
// further up may pass the hint on.
type afterError struct {
	err   error
	after time.Duration
}

func (e *afterError) Error() string             { return e.err.Error() }
func (e *afterError) Unwrap() error             { return e.err }
func (e *afterError) RetryAfter() time.Duration { return e.after }

// Outcome returns the class of the marked error, or OutcomeOverload if it has none.
func (e *afterError) Outcome() spillway.Outcome {
	if o := spillway.OutcomeOf(e.err); o != spillway.OutcomeUnknown {
		return o
	}
	return spillway.OutcomeOverload
}

// Hint returns the least back-off that err asks for: the longer of what the
// outermost error with a method RetryAfter() time.Duration says, such as the mark of
// After, and of the RetryAfter of a spillway.Rejection. It is 0 if there is none.
func Hint(err error) time.Duration {
	if r, ok := err.(*spillway.Rejection); ok && r != nil { //nolint:errorlint // as nearly every refusal is; what is wrapped is looked for below
		return max(r.RetryAfter, 0)
	}
	var hint time.Duration
	var carrier interface{ RetryAfter() time.Duration }
	if errors.As(err, &carrier) {
		hint = carrier.RetryAfter()
	}
	var rejection *spillway.Rejection
	if errors.As(err, &rejection) && rejection != nil {
		hint = max(hint, rejection.RetryAfter)
	}
	return max(hint, 0)
}
