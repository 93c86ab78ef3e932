package retry

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// core is what retriers of different result types share.
type core struct {
	policy   Policy // never changed
	careful  bool   // whether there is something to do before the first attempt
	counters counters
}

// call is the state of one operation. It lives on the stack of Do.
type call struct {
	attempts int
	reason   StopReason
	phase    uint8            // 0, or 1 after the first back-off; an index into the counters
	delay    time.Duration    // all back-offs so far
	last     time.Duration    // the back-off before
	start    time.Time        // when it began, if MaxElapsed is set
	err      error            // the last error
	doubt    spillway.Outcome // of the newest attempt that may have been executed; OutcomeOK if none
}

// failure is what is known of a failed attempt.
type failure struct {
	err    error            // what the caller sees of it
	stop   StopReason       // why it isn't worth repeating; StopSuccess if it is
	pushed bool             // it was turned away for load
	hint   time.Duration    // the least back-off it asks for
	open   int              // items of a batch that it leaves open
	answer bool             // the backend answered: it is well
	doubt  spillway.Outcome // what ended it, if it may have been executed; OutcomeOK if not
	items  bool             // it is the failure of single items of a batch
}

func newCore(p Policy) *core {
	p = p.completed()
	return &core{policy: p, careful: p.MaxElapsed > 0 || p.MaxAttempts == Unlimited}
}

// begin returns an error if ctx rules out the first attempt, and counts that.
func (c *core) begin(ctx context.Context, s *call) error {
	if ctx.Err() != nil {
		s.reason = ended(ctx)
		c.counters.canceled.Add(1)
		return cause.Of(ctx)
	}
	if c.policy.MaxElapsed > 0 {
		s.start = time.Now()
		return nil
	}
	if _, bounded := ctx.Deadline(); !bounded && c.policy.MaxAttempts == Unlimited {
		s.reason = StopNotRetryable
		c.counters.invalid.Add(1)
		e := &spillway.ConfigError{Component: "retry", Name: c.policy.Name}
		e.Add("MaxAttempts", c.policy.MaxAttempts, "must be limited, or MaxElapsed be set, for a context without a deadline")
		return e
	}
	return nil
}

// succeed ends a call whose attempt succeeded.
func (c *core) succeed(phase uint8) {
	c.counters.ended[phase][StopSuccess].Add(1)
	c.policy.Budget.Deposit()
}

// abort ends a call that a panic or Goexit goes through, unless it had already ended
// and it is a hook that exits.
func (c *core) abort(s *call) {
	if s.reason == StopSuccess {
		c.counters.aborted[s.phase].Add(1)
	}
}

// judge says what an error means under this policy. Marks are looked for in its
// tree only if it would be repeated without: most errors wouldn't.
func (c *core) judge(err error) failure {
	if mark, ok := err.(*permanentError); ok { //nolint:errorlint // the tree is searched below
		return failure{err: mark.err, stop: StopNotRetryable, answer: mark.Outcome() == spillway.OutcomePermanent}
	}
	f := failure{err: err}
	switch v := c.policy.Classify(err); {
	case v != Ambiguous && v != Transient && v != Pushback || IsPermanent(err):
		f.stop = StopNotRetryable
		f.answer = c.policy.Budget != nil && spillway.OutcomeOf(err) == spillway.OutcomePermanent
	case v == Ambiguous && !c.policy.Idempotent:
		f.stop, f.doubt = StopNotIdempotent, doubtOf(err)
	case v == Ambiguous:
		f.hint, f.doubt = Hint(err), doubtOf(err)
	default:
		f.hint, f.pushed = Hint(err), v == Pushback
	}
	return f
}

// doubtOf is the class of an error after which the operation may have been executed. A
// class that says that it wasn't, or that all is well, is not believed then: Classify, which
// may be a user's, knows better.
func doubtOf(err error) spillway.Outcome {
	switch o := spillway.OutcomeOf(err); o {
	case spillway.OutcomeOK, spillway.OutcomeLocal:
		return spillway.OutcomeUnknown
	default:
		return o
	}
}

// next does all that lies between a failed attempt and the next one, back-off
// included, and reports whether the next one is to be made. If not, the call has
// ended with the error it returns.
func (c *core) next(ctx context.Context, s *call, f failure) (again bool, err error) {
	s.err = f.err
	if f.doubt != spillway.OutcomeOK {
		s.doubt = f.doubt
	}
	d, reason := c.plan(ctx, s, f)
	if reason == StopSuccess {
		reason = c.pause(ctx, s, f, d)
	}
	if reason == StopSuccess {
		c.counters.retries.Add(1)
		return true, nil
	}
	return false, c.end(ctx, s, f, reason)
}

// plan returns the back-off before the next attempt, or why there is to be none.
// Nothing is slept for that can't be followed by an attempt.
func (c *core) plan(ctx context.Context, s *call, f failure) (time.Duration, StopReason) {
	p := &c.policy
	switch {
	case f.stop != StopSuccess:
		return 0, f.stop
	case s.attempts >= p.MaxAttempts:
		return 0, StopAttempts
	case ctx.Err() != nil:
		return 0, ended(ctx)
	case p.MaxHint > 0 && f.hint > p.MaxHint:
		return 0, StopHint
	}
	d := p.backOff(s.attempts, s.last, f.pushed, f.hint)
	// Written as a difference: the sum may overflow.
	if p.MaxElapsed > 0 && d >= p.MaxElapsed-time.Since(s.start) {
		return 0, StopElapsed
	}
	if deadline, ok := ctx.Deadline(); ok && d >= time.Until(deadline) {
		return 0, StopDeadline
	}
	if !p.Budget.Withdraw() {
		return 0, StopBudget
	}
	return d, StopSuccess
}

// pause waits for d, which is paid for. If the context ends meanwhile, the retry is
// paid back.
func (c *core) pause(ctx context.Context, s *call, f failure, d time.Duration) (reason StopReason) {
	reason = StopCanceled // of a hook's Goexit, too
	if s.phase == 0 {
		s.phase = 1
		c.counters.continued.Add(1)
	}
	s.delay, s.last = add(s.delay, d), d
	c.counters.delays.Record(d)
	c.counters.backingOff.Add(1)
	defer func() {
		c.counters.backingOff.Add(-1)
		if reason != StopSuccess {
			c.policy.Budget.Refund()
		}
	}()
	c.tellRetry(ctx, s, f, d)
	sleep(ctx, d)
	reason = ended(ctx)
	if limit := c.policy.MaxElapsed; reason == StopSuccess && limit > 0 && time.Since(s.start) >= limit {
		reason = StopElapsed // a hook or the scheduler took longer than planned
	}
	return reason
}

// sleep returns after d or when ctx is done. Whoever wants to know which asks ctx:
// if both happen at once, select picks either.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 || ctx.Err() != nil {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// ended returns why a context rules out a further attempt; StopSuccess if it
// doesn't.
func ended(ctx context.Context) StopReason {
	switch ctx.Err() {
	case nil:
		return StopSuccess
	case context.DeadlineExceeded:
		return StopDeadline
	}
	return StopCanceled
}

// end counts a call that failed for good and returns its error: what the operation
// returned, if that isn't worth repeating or nothing is ever repeated here, and
// otherwise an ExhaustedError.
func (c *core) end(ctx context.Context, s *call, f failure, reason StopReason) error {
	s.reason = reason
	c.counters.ended[s.phase][reason].Add(1)
	if f.answer && reason == StopNotRetryable {
		c.policy.Budget.Deposit() // the backend answered: it is well
	}
	if reason == StopNotRetryable || reason == StopNotIdempotent || c.policy.MaxAttempts == 1 && !f.items {
		return f.err // but not what one item of many ended with, which isn't what the batch did
	}
	e := &ExhaustedError{Name: c.policy.Name, Report: c.report(s, f.open), doubt: s.doubt}
	if reason == StopCanceled || reason == StopDeadline {
		e.Cause = cause.Of(ctx) // nil if the deadline is still ahead
	}
	c.tellGiveUp(ctx, e)
	return e
}

func (c *core) report(s *call, unresolved int) Report {
	return Report{
		Attempts:    s.attempts,
		MaxAttempts: c.policy.MaxAttempts,
		Reason:      s.reason,
		Delay:       s.delay,
		Unresolved:  unresolved,
		Err:         s.err,
	}
}
