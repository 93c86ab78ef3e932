package aerospike

import (
	"context"
	"maps"
	"slices"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
)

// Detach has calls for single records return at once when their context ends, instead
// of when the driver returns, which nothing can interrupt. What they asked for goes on
// without them, by the deadline that it has, and keeps its permit and its lease; the
// error is a *[DetachedError]. Each call costs a goroutine and a copy of its
// arguments, but not of what bins point to. GetObject and PutObject work on what the
// caller passed and are not detached, nor are batches and streams.
func Detach() Choice {
	return func(c *Client) error { c.choices.detach = true; return nil }
}

// DetachedError is the error of a call whose context ended while the driver was at
// work on it, which goes on: what it was to do may be done, or still will be. It is not
// worth repeating, for its context is over. Calls of administration, and those that begin
// a job, also end so when their own time is over, that of their policy or [Budget].
type DetachedError struct {
	Op    string // the method
	Cause error  // the context's, or one that matches context.DeadlineExceeded
}

// Error implements error.
func (e *DetachedError) Error() string {
	return "aerospike: " + e.Op + ": left before the driver was done, which goes on: " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *DetachedError) Unwrap() error { return e.Cause }

// Outcome returns OutcomeTimeout: there was no answer in time, and the work may go on.
func (e *DetachedError) Outcome() spillway.Outcome { return spillway.OutcomeTimeout }

// ErrorType returns "detached", the value of the error.type attribute.
func (e *DetachedError) ErrorType() string { return "detached" }

// readApart is readAdmitted for a call that may be left.
func (c *Client) readApart(ctx context.Context, caller *call, policy *as.BasePolicy, r readRequest) (readAnswer, error) {
	cl := caller.moved() // caller stays on its stack
	defer func() { caller.trip = cl.trip }()
	if err := c.open(ctx, cl); err != nil {
		return readAnswer{}, err
	}
	r.bins = slices.Clone(r.bins)
	policy = cl.basePolicy(policy)
	if err := cl.admitting(ctx, func() error { return cl.admitKey(ctx, policy, r.key) }); err != nil {
		return readAnswer{}, err
	}
	copied := *policy
	client, op := cl.session.client, cl.trip.op
	return apart(ctx, cl, new(sending).start(), func(cl *call) (answer readAnswer, err error) {
		err = cl.read(&copied, func(p *as.BasePolicy) (aerr as.Error) {
			answer, aerr = r.send(op, client, p)
			return aerr
		})
		return answer, err
	})
}

// writeApart is writeAdmitted for a call that may be left.
func (c *Client) writeApart(ctx context.Context, caller *call, policy *as.WritePolicy, r writeRequest) (writeAnswer, error) {
	cl := caller.moved()
	defer func() { caller.trip = cl.trip }()
	if err := c.open(ctx, cl); err != nil {
		return writeAnswer{}, err
	}
	r.bins, r.list, r.ops, r.args = maps.Clone(r.bins), slices.Clone(r.list), slices.Clone(r.ops), slices.Clone(r.args)
	policy = cl.writePolicy(policy)
	if err := cl.admitting(ctx, func() error { return cl.admitKey(ctx, &policy.BasePolicy, r.key) }); err != nil {
		return writeAnswer{}, err
	}
	copied := *policy
	client, op := cl.session.client, cl.trip.op
	return apart(ctx, cl, new(sending).start(), func(cl *call) (answer writeAnswer, err error) {
		err = cl.write(&copied, func(p *as.WritePolicy) (aerr as.Error) {
			answer, aerr = r.send(op, client, p)
			return aerr
		})
		return answer, err
	})
}
