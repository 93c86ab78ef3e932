package retry

import (
	"errors"
	"fmt"

	"github.com/spillway-go/spillway"
)

// Verdict says what an error means for those who would repeat the operation. The
// zero Verdict is Stop.
type Verdict uint8

// The verdicts.
const (
	Stop      Verdict = iota // repeating won't help, or would do harm
	Ambiguous                // it may help, but the operation may have been executed: only if idempotent
	Transient                // it may help, and the operation surely wasn't executed
	Pushback                 // as Transient, and it was turned away for load: not before the floor
)

var verdictNames = [...]string{"stop", "ambiguous", "transient", "pushback"}

// String returns the verdict's name in lower case.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// Classify is the verdict on an error where a policy has no other. It reads marks,
// the sentinels of the toolkit and [spillway.OutcomeOf], in this order:
//
//   - marked Permanent, a gave-up error of an inner retrier (one owner of retries
//     is enough: two of three attempts each are nine), a panic on a goroutine of the
//     toolkit, a closed component: Stop;
//   - a refusal, which matches [spillway.ErrBackpressure]: Pushback, unless its reason
//     is ReasonExpired (the caller's time is up) or ReasonLimitShrunk (the weight is too
//     high now): Stop;
//   - OutcomeOverload, OutcomeKeyOverload, OutcomeQuota: Pushback, because the
//     backend refuses these before it executes anything;
//   - OutcomeTimeout and OutcomeNetwork: Ambiguous, because the answer is missing,
//     not necessarily the deed;
//   - OutcomeUnknown: Ambiguous, or Pushback if the error carries a hint: whoever
//     says when to come back has turned the call away;
//   - OutcomePermanent (configuration errors, too), OutcomeStopWrites (not within
//     10 s, which is longer than anyone waits here), OutcomeLocal (cancelled, not
//     connected, an impossible weight, a nested call), OutcomeOK and OutcomeLate
//     (the deed is done): Stop.
func Classify(err error) Verdict {
	if r, refused := err.(*spillway.Rejection); refused { //nolint:errorlint // a short cut: the tree is searched below
		return classifyRejection(r)
	}
	if err == nil || settled(err) || hopeless(err) {
		return Stop
	}
	if errors.Is(err, spillway.ErrBackpressure) {
		var r *spillway.Rejection
		errors.As(err, &r)
		return classifyRejection(r)
	}
	switch spillway.OutcomeOf(err) {
	case spillway.OutcomeOverload, spillway.OutcomeKeyOverload, spillway.OutcomeQuota:
		return Pushback
	case spillway.OutcomeTimeout, spillway.OutcomeNetwork:
		return Ambiguous
	case spillway.OutcomeUnknown:
		if Hint(err) > 0 {
			return Pushback
		}
		return Ambiguous
	default:
		return Stop
	}
}

// classifyRejection is the verdict on a refusal, of which r says more if it isn't nil.
func classifyRejection(r *spillway.Rejection) Verdict {
	if r != nil && (r.Reason == spillway.ReasonExpired || r.Reason == spillway.ReasonLimitShrunk) {
		return Stop
	}
	return Pushback
}

// settled reports whether err says on its outside that the backend gave an answer
// that won't change. Most errors of a busy client are of this kind ("not found"),
// and looking for anything else in them costs more than the call did.
func settled(err error) bool {
	carrier, ok := err.(interface{ Outcome() spillway.Outcome })
	if !ok {
		return false
	}
	switch carrier.Outcome() {
	case spillway.OutcomePermanent, spillway.OutcomeStopWrites, spillway.OutcomeOK, spillway.OutcomeLate:
		return true
	default:
		return false
	}
}

// hopeless reports whether err is one that must never be repeated, whatever class
// it carries.
func hopeless(err error) bool {
	var exhausted *ExhaustedError
	var panicked *spillway.PanicError
	return IsPermanent(err) || errors.Is(err, spillway.ErrClosed) ||
		errors.As(err, &exhausted) || errors.As(err, &panicked)
}
