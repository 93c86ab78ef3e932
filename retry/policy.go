package retry

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spillway-go/spillway"
)

// Unlimited is the MaxAttempts of a policy whose operations are bounded by time
// alone: by MaxElapsed or by the deadline of each context.
const Unlimited = math.MaxInt

// Policy are the settings of a retrier. It is a value: once given to New it isn't
// changed any more, holds nothing of any call, and may be given to any number of
// retriers. The zero Policy is invalid. A start is [DefaultPolicy], [ReadPolicy] or
// [WritePolicy].
type Policy struct {
	// Name is the retrier's name in errors, statistics and telemetry, where it has
	// to be unique. Zero means that it has none of its own and is called "retry".
	Name string
	// MaxAttempts is how often an operation is tried at most, the first time
	// included. 1 means that nothing is ever repeated; Unlimited means that time
	// alone bounds it. Zero is an error.
	MaxAttempts int
	// Base is what the back-off grows from: after attempt n its ceiling is Base·2ⁿ.
	// Zero is an error, unless MaxAttempts is 1.
	Base time.Duration
	// Cap is the longest back-off, jitter included. Only a hint makes one longer.
	// It must not be less than Base.
	Cap time.Duration
	// Jitter is how back-offs are spread. Zero is FullJitter.
	Jitter Jitter
	// Floor is the shortest back-off after a [Pushback]: it is then drawn from
	// Floor to 2·Floor·2ⁿ, within Cap, whatever Jitter says, unless it is NoJitter. It
	// must not be more than half of Cap, so that there is something to draw from.
	// Zero means that there is no floor.
	Floor time.Duration
	// MaxElapsed bounds the whole of an operation, from its call to the start of its
	// last attempt. An attempt that would start at MaxElapsed or later isn't made.
	// It costs a reading of the clock a call. Zero means no such bound.
	MaxElapsed time.Duration
	// MaxHint is the longest hint that is waited for; after an error with a longer
	// one the operation isn't repeated. Zero means no such bound: MaxElapsed and the
	// context's deadline remain.
	MaxHint time.Duration
	// Idempotent declares that the operations may be executed twice, so that they
	// are repeated also after an error that leaves open whether they were: see
	// [Ambiguous]. False means that they are not.
	Idempotent bool
	// Budget bounds the retries of all who share it. Nil means no budget.
	Budget *Budget
	// Classify says what an error means. It is called once for each failed attempt,
	// on the caller's goroutine. An error marked [Permanent] isn't repeated whatever
	// it says. Nil means [Classify].
	Classify func(error) Verdict
	// Rand returns the next random number from 0 up to, but not including, 1. It
	// must be safe for concurrent use if the retrier is used so. What is out of range,
	// and NaN, is moved into it. Nil means that of math/rand/v2, which takes no memory here.
	Rand func() float64
	// Hooks are told of retries and of giving up, in this order.
	Hooks []Hooks
}

// DefaultPolicy returns the settings for operations of which nothing is known: 3
// attempts, a base of 10 ms, a cap of 500 ms, full jitter, a floor of 50 ms, hints up
// to 10 s, and no budget. Nothing is declared idempotent: an operation is repeated
// only if it surely wasn't executed.
func DefaultPolicy() Policy {
	return Policy{
		MaxAttempts: 3,
		Base:        10 * time.Millisecond,
		Cap:         500 * time.Millisecond,
		Jitter:      FullJitter,
		Floor:       50 * time.Millisecond,
		MaxHint:     10 * time.Second,
	}
}

// ReadPolicy returns DefaultPolicy for operations that may be executed twice:
// reads, and writes that are idempotent. They are repeated also after a timeout, a
// broken connection and an error that carries no class.
func ReadPolicy() Policy {
	p := DefaultPolicy()
	p.Idempotent = true
	return p
}

// WritePolicy returns DefaultPolicy for operations that must not be executed
// twice: one attempt, whatever the error. For writes that are idempotent take
// [ReadPolicy]; for those that may be repeated after a refusal but not otherwise,
// [DefaultPolicy].
func WritePolicy() Policy {
	p := DefaultPolicy()
	p.MaxAttempts = 1
	return p
}

// Validate returns a *spillway.ConfigError that lists every fault, or nil.
func (p Policy) Validate() error {
	e := &spillway.ConfigError{Component: "retry", Name: p.Name}
	if p.MaxAttempts < 1 {
		e.Add("MaxAttempts", p.MaxAttempts, "must be at least 1; without a limit it is retry.Unlimited")
	}
	if p.Base < 0 || p.Base == 0 && p.MaxAttempts != 1 {
		e.Add("Base", p.Base, "must be positive")
	}
	if p.Cap < max(p.Base, 0) {
		e.Add("Cap", p.Cap, "must not be less than Base")
	}
	if !p.Jitter.Valid() {
		e.Add("Jitter", p.Jitter, "must be FullJitter, EqualJitter, DecorrelatedJitter or NoJitter")
	}
	if p.Floor < 0 || p.Floor > max(p.Cap, 0)/2 {
		e.Add("Floor", p.Floor, fmt.Sprintf("must be from 0 to half of Cap, %v", max(p.Cap, 0)/2))
	}
	if p.MaxElapsed < 0 {
		e.Add("MaxElapsed", p.MaxElapsed, "must not be negative")
	}
	if p.MaxHint < 0 {
		e.Add("MaxHint", p.MaxHint, "must not be negative")
	}
	return e.Err()
}

// completed returns the policy as a retrier keeps it.
func (p Policy) completed() Policy {
	if p.Name == "" {
		p.Name = "retry"
	}
	if p.Classify == nil {
		p.Classify = Classify
	}
	p.Hooks = slices.Clone(p.Hooks)
	return p
}
