package group

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// crew owns the goroutines of a Group, an Each or a Map. A member goes one way through
// it: submit, admit, then either refuse or run.
//
// Invariant: Submitted = Admitting + Running + Refused + Ended.Total() + Aborted.
type crew struct {
	cfg       Config
	admission Admission
	outer     context.Context // the caller's
	ctx       context.Context // descends from it
	cancel    context.CancelCauseFunc
	timeout   *MemberTimeoutError
	keep      int           // how many failures are kept
	ended     chan struct{} // holds one token if a member ended since it was last taken

	// leaving is how many members have given back their permit and are not through yet.
	// It grows at any time, and shrinks under mu.
	leaving atomic.Int32

	mu       sync.Mutex    // guards what follows; no function of a caller's runs under it
	thinner  chan struct{} // closed when leaving has shrunk to maxLeaving; nil while nobody waits
	stats    Stats
	canceled uint64
	failures spillway.OutcomeCounts
	refusals uint64        // failures that match ErrBackpressure
	errs     []error       // failures in the order in which they happened, at most keep
	closed   bool          // nothing is submitted any more
	idle     chan struct{} // closed when nothing is open any more; nil while nobody waits
}

func newCrew(ctx context.Context, a Admission, cfg Config, keep int) (*crew, error) {
	if err := cfg.validate(ctx, a); err != nil {
		return nil, err
	}
	c := &crew{
		cfg: cfg, admission: a, outer: ctx, keep: keep, ended: make(chan struct{}, 1),
		timeout: &MemberTimeoutError{Name: cfg.Name, Limit: cfg.MemberTimeout},
	}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	return c, nil
}

// submit counts a member that is about to ask for its permit, and has place run under
// the lock. It is false, and nothing has happened, if nothing is submitted any more.
func (c *crew) submit(place func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.stats.Submitted++
	c.stats.Admitting++
	place()
	return true
}

// admit asks for a permit on the producer's goroutine. A done context gets none, not
// even from an admission that doesn't look, or looked a moment too early.
func (c *crew) admit() (spillway.Permit, error) {
	if err := c.over(); err != nil {
		return spillway.Permit{}, err
	}
	p, err := c.admission.Admit(c.ctx)
	if err != nil {
		return p, err
	}
	used := false
	defer func() {
		if !used { // or the context panicked
			p.ReleaseWith(spillway.OutcomeLocal)
		}
	}()
	c.thin()
	if err := c.over(); err != nil {
		return spillway.Permit{}, err
	}
	used = true
	return p, nil
}

// over says why nothing more is started; nil if something may be. What a context of a
// stranger's type has ended hears of it from a goroutine, so that itself is asked, too.
func (c *crew) over() error {
	if err := cause.Of(c.ctx); err != nil {
		return err
	}
	return cause.Of(c.outer)
}

// maxLeaving is how many goroutines there may be beyond the permits, because they are on
// their way out.
const maxLeaving = 8

// thin waits, as long as the context lets it, until few members are on their way out. A
// permit is back a little before its goroutine has gone: if many of them go at once, who
// got a permit lets them go first, or fast producers could heap them up. All who wait go
// on together: each has a permit of his own, so there are no more of them than permits.
func (c *crew) thin() {
	for c.leaving.Load() > maxLeaving {
		c.mu.Lock()
		if c.leaving.Load() <= maxLeaving {
			c.mu.Unlock()
			return
		}
		if c.thinner == nil {
			c.thinner = make(chan struct{})
		}
		thinner := c.thinner
		c.mu.Unlock()
		select {
		case <-thinner:
		case <-c.ctx.Done():
			return
		}
	}
}

// refuse ends a member that got no permit; store runs under the lock. It is counted even
// if the admission's error ends the producer's goroutine when it is asked what it is.
func (c *crew) refuse(err error, store func()) {
	v := verdict{outcome: spillway.OutcomeUnknown}
	defer func() {
		c.mu.Lock()
		c.stats.Admitting--
		c.stats.Refused++
		store()
		c.failLocked(err, v)
		c.leaveLocked()
		c.mu.Unlock()
		c.spread(err)
	}()
	v = classify(err)
}

// verdict is what an error says it is.
type verdict struct {
	outcome  spillway.Outcome
	canceled bool // it matches context.Canceled
	refused  bool // it matches ErrBackpressure
}

// classify asks an error what it is. That runs a stranger's code, a method of a nil pointer
// for instance, so it isn't done under the lock, and what panics has no class.
func classify(err error) (v verdict) {
	v.outcome = spillway.OutcomeUnknown
	defer func() { _ = recover() }()
	v.canceled = errors.Is(err, context.Canceled)
	v.refused = errors.Is(err, spillway.ErrBackpressure)
	v.outcome = spillway.OutcomeOf(err)
	return v
}

// start counts a member that got its permit. Its run must follow.
func (c *crew) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Admitting--
	c.stats.Running++
}

// run is a member's goroutine. The permit is back before anybody can see that the
// member has ended. store runs under the lock.
func (c *crew) run(p spillway.Permit, op func(context.Context) error, store func(error)) {
	var err error
	v, returned := verdict{outcome: spillway.OutcomeUnknown}, false
	defer func() {
		if !returned { // a Goexit leaves nothing to recover
			err = &spillway.PanicError{Value: recover(), Stack: debug.Stack()}
		}
		c.leaving.Add(1)
		defer c.leave(err, v, returned, store) // even if the permit, which may be a stranger's, ends the goroutine
		p.ReleaseWith(v.outcome)
	}()
	ctx := c.ctx
	if c.cfg.MemberTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.cfg.MemberTimeout, c.timeout)
		defer cancel()
	}
	err = op(ctx)
	v = classify(err)
	returned = true
}

// leave counts a member out whose permit is back.
func (c *crew) leave(err error, v verdict, returned bool, store func(error)) {
	c.mu.Lock()
	if c.leaving.Add(-1) <= maxLeaving && c.thinner != nil {
		close(c.thinner)
		c.thinner = nil
	}
	c.stats.Running--
	if returned {
		c.stats.Ended[v.outcome]++
	} else {
		c.stats.Aborted++
	}
	if err != nil {
		if returned {
			c.stats.Failed++
		}
		c.failLocked(err, v)
	}
	store(err)
	c.leaveLocked()
	select {
	case c.ended <- struct{}{}:
	default: // the token that is there says the same
	}
	c.mu.Unlock()
	c.spread(err)
}

// failLocked notes a failure. One that only says that the context is done, after another
// member's failure has ended it, is counted and not listed.
func (c *crew) failLocked(err error, v verdict) {
	if v.canceled && c.cfg.CancelOnError && len(c.errs) > 0 {
		c.canceled++
		return
	}
	c.failures[v.outcome]++
	if v.refused {
		c.refusals++
	}
	if len(c.errs) < c.keep {
		c.errs = append(c.errs, err)
	}
}

// spread cancels the siblings of a member that failed, if that was asked for.
func (c *crew) spread(err error) {
	if err != nil && c.cfg.CancelOnError {
		c.cancel(&CanceledError{Name: c.cfg.Name, Err: err}) // the first cause stays
	}
}

// leaveLocked lets those go who wait, if the member was the last.
func (c *crew) leaveLocked() {
	if c.stats.Admitting+c.stats.Running == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// end waits until every member has ended, and then takes no more. Members may submit
// others meanwhile.
func (c *crew) end() error {
	c.mu.Lock()
	for c.stats.Admitting+c.stats.Running > 0 {
		if c.idle == nil {
			c.idle = make(chan struct{})
		}
		idle := c.idle
		c.mu.Unlock()
		<-idle
		c.mu.Lock()
	}
	c.closed = true
	err := c.errorLocked()
	c.mu.Unlock()
	c.cancel(nil) // lets go of the parent context
	return err
}

func (c *crew) errorLocked() error {
	if c.failures.Total()+c.canceled == 0 {
		return nil
	}
	return &Error{Name: c.cfg.Name, Stats: c.stats, Canceled: c.canceled, errs: c.errs, failures: c.failures, refusals: c.refusals}
}

func (c *crew) snapshot() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}
