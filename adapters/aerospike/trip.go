package aerospike

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/retry"
)

// trip is a call as its caller sees it, over all its attempts.
type trip struct {
	op       *Operation
	choices  *choices
	ns, set  string
	items    int // of a batch
	lane     int
	attempts int           // begun, refused ones included
	asked    int           // that reached the driver
	until    time.Time     // when its time is over, if its context doesn't say
	doubt    bool          // whether an earlier attempt may have been executed
	failed   error         // of the last attempt that wasn't refused
	guard    *guard        // of the node that was asked last; nil if none was, or several
	timed    bool          // whether somebody wants to know how long it takes
	waited   time.Duration // for permits, if that is timed
	backend  time.Duration // in the driver, if that is timed
	rows     int
	lost     int  // items of a batch that failed each by itself, if that is timed
	parts    bool // whether its attempts are told of by who makes them, and not as a whole
	// observation is a stream's; it is told when the stream has ended.
	observation spillway.Observation
}

// call is how others see the trip.
func (t *trip) call() spillway.Call {
	return spillway.Call{
		System: "aerospike", Operation: t.op.Name, Namespace: t.ns, Collection: t.set,
		Kind: t.op.Kind, Weight: 1, BatchSize: t.items,
	}
}

// callOf is how those who stand around calls see the trip.
func (c *Client) callOf(t *trip) spillway.Call {
	call := t.call()
	call.Client = c.cfg.Name
	if len(c.hosts) > 0 {
		call.Server, call.Port = c.hosts[0].Name, c.hosts[0].Port
	}
	return call
}

// route finds a call's lane: the one that With chose, that the class is mapped to,
// that the route names, or that of the operation.
func (c *Client) route(ctx context.Context, op *Operation, call func() spillway.Call) int {
	if c.choices.lane >= 0 {
		return c.choices.lane
	}
	if len(c.lanes.classes) > 0 {
		class, ok := spillway.ClassFrom(ctx)
		if !ok {
			class = c.choices.class
		}
		if i, ok := c.lanes.classes[class]; ok {
			return i
		}
	}
	if c.cfg.Route != nil {
		if i, ok := c.lanes.index[c.cfg.Route(call())]; ok && i != c.lanes.admin {
			return i
		}
	}
	return c.lanes.byOperation[op.lane]
}

// routeKey is route for a call for one record.
func (c *Client) routeKey(ctx context.Context, op *Operation, key *as.Key) int {
	return c.route(ctx, op, func() spillway.Call {
		t := trip{op: op}
		t.key(key)
		return t.call()
	})
}

// routed finds the trip's lane.
func (c *Client) routed(ctx context.Context, t *trip) { t.lane = c.route(ctx, t.op, t.call) }

// repeat makes the trip's attempts. attempt is only called, so that it stays on its
// caller's stack.
func (c *Client) repeat(ctx context.Context, t *trip, attempt func(context.Context) error) error {
	r := c.retrierOf(t)
	if r == nil {
		t.attempts = 1
		if t.parts {
			return attempt(ctx)
		}
		return c.try(ctx, t, attempt)
	}
	_, err := r.Do(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.attempt(ctx, t, attempt)
	})
	return err
}

// attempt makes one of several attempts. One that is refused, or for which there is no time
// or no connection, says nothing of those before it: the call ends with what came of the
// last of them. (That the driver knows no node for a record is a failure as any other.)
func (c *Client) attempt(ctx context.Context, t *trip, attempt func(context.Context) error) error {
	t.attempts++
	asked := t.asked
	err := c.try(ctx, t, attempt)
	switch {
	case err == nil:
	case t.asked > asked || isDrivers(err):
		t.failed = err
	case t.failed != nil:
		return retry.Permanent(t.failed)
	}
	return err
}

// isDrivers reports whether an error is one of the driver's.
func isDrivers(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

// retrierOf returns who repeats the trip; nil for nobody. In modes Shadow and Off the
// driver's own retries are on.
func (c *Client) retrierOf(t *trip) *retry.Retrier[struct{}] {
	if c.choices.noRetry || !c.shapes() {
		return nil
	}
	return c.repeats(t)
}

// repeats is retrierOf in mode Enforce.
func (c *core) repeats(t *trip) *retry.Retrier[struct{}] {
	switch {
	case t.choices.noRetry || t.op.Kind == spillway.KindStream || t.op.Kind == spillway.KindJob || t.op.Kind == spillway.KindAdmin:
		return nil
	case t.op.Idempotent:
		return c.inForce.Load().reads
	case t.choices.idempotent:
		return c.inForce.Load().writes
	}
	return nil
}

// newRetrier returns a retrier by a policy that was validated; nil if it retries
// nothing.
func (c *core) newRetrier(p retry.Policy) *retry.Retrier[struct{}] {
	if p.MaxAttempts == 0 {
		return nil
	}
	p.Name = c.cfg.Name + "/" + p.Name
	p.Classify = verdictOf
	p.Idempotent = true // a trip that isn't has no retrier
	r, err := retry.New[struct{}](p)
	if err != nil {
		return nil
	}
	return r
}

// verdictOf says what a failed attempt is worth repeating. Our own refusals aren't:
// who is refused decides himself whether to come back.
func verdictOf(err error) retry.Verdict {
	var e *Error
	if !errors.As(err, &e) {
		return retry.Stop
	}
	switch e.outcome {
	case spillway.OutcomeOverload, spillway.OutcomeKeyOverload, spillway.OutcomeQuota:
		return retry.Pushback
	case spillway.OutcomeNetwork:
		if e.executed {
			return retry.Ambiguous
		}
		return retry.Transient
	case spillway.OutcomeTimeout, spillway.OutcomeUnknown:
		return retry.Ambiguous
	default:
		return retry.Stop
	}
}

// shapes reports whether policies are adapted to a call's budget. In modes Shadow and
// Off the driver does as it would without us.
func (c *core) shapes() bool {
	mode := c.inForce.Load().mode
	return mode == spillway.Enforce || mode == spillway.RefuseAll
}

// watched makes a trip under the eyes of middlewares and the observer.
func (c *Client) watched(ctx context.Context, t *trip, attempt func(context.Context) error) error {
	t.timed = true
	call := c.callOf(t)
	ctx, observation := c.begin(ctx, call)
	next := func(ctx context.Context) error { return c.repeat(ctx, t, attempt) }
	err := errCutShort
	defer func() { t.report(observation, err) }()
	if c.around == nil {
		err = next(ctx)
	} else {
		err = c.surround(ctx, call, next)
	}
	return err
}

// errCutShort is what is reported of a call that never returned.
var errCutShort = errors.New("aerospike: a panic, or runtime.Goexit, of somebody around the call ended it")

// errOverlap is the error of a middleware's next that was called too early.
var errOverlap = errors.New("aerospike: Config.Use: a middleware called next while an earlier next of the same call was under way")

// errSkipped is what is the matter with a call that a middleware kept from being made.
var errSkipped = errors.New("it has not called next")

// surround runs next within the middlewares. There is one attempt of a trip at a time. They
// may make a failure of a success, but no success of a failure: their caller would take the
// nothing that he gets for an answer.
func (c *core) surround(ctx context.Context, call spillway.Call, next func(context.Context) error) error {
	var busy atomic.Bool
	last := errSkipped
	err := c.around(ctx, call, func(ctx context.Context) error {
		if !busy.CompareAndSwap(false, true) {
			return errOverlap
		}
		defer busy.Store(false)
		last = errCutShort
		last = next(ctx)
		return last
	})
	if err == nil && last != nil {
		err = fmt.Errorf("aerospike: Config.Use: a middleware returned no error for a call that has failed: %w", last)
	}
	return err
}

// observed makes a trip under the eyes of the observer. attempt is only called, so that it
// stays on its caller's stack.
func (c *Client) observed(ctx context.Context, t *trip, attempt func(context.Context) error) error {
	t.timed = true
	ctx, observation := c.begin(ctx, c.callOf(t))
	err := errCutShort
	defer func() { t.report(observation, err) }()
	err = c.repeat(ctx, t, attempt)
	return err
}

// isWatched reports whether anybody stands around calls.
func (c *Client) isWatched() bool { return c.around != nil || c.cfg.Observer != nil }

// begin tells the observer of a call.
func (c *Client) begin(ctx context.Context, call spillway.Call) (context.Context, spillway.Observation) {
	if c.cfg.Observer == nil {
		return ctx, nil
	}
	return beginning(ctx, func() (context.Context, spillway.Observation) { return c.cfg.Observer.Begin(ctx, call) })
}

// beginning tells an observer that something begins. What he does wrong harms nobody.
func beginning(ctx context.Context, tell func() (context.Context, spillway.Observation)) (next context.Context, o spillway.Observation) {
	defer func() {
		if recover() != nil {
			next, o = ctx, nil
		}
	}()
	next, o = tell()
	if next == nil {
		next = ctx
	}
	return next, o
}

// report tells an observation how the trip ended.
func (t *trip) report(o spillway.Observation, err error) {
	if o == nil {
		return
	}
	defer func() { _ = recover() }()
	r := spillway.CallResult{
		Err: err, Outcome: spillway.OutcomeOf(err), Attempts: t.asked,
		Waited: t.waited, Backend: t.backend, Rows: t.rows, Failed: t.lost,
	}
	if g := t.guard; g != nil {
		r.Node, r.Peer, r.PeerPort = g.name, g.peer.Name, g.peer.Port
	}
	o.End(r)
}
