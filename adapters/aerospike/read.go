package aerospike

import (
	"context"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// Reads may be retried, as Config.Reads says. They block until the driver returns: at
// the latest when ctx's deadline is reached.

// Get reads a record, or those of its bins that are named. A record that isn't
// there is an error that matches as.ErrKeyNotFound.
func (c *Client) Get(ctx context.Context, policy *as.BasePolicy, key *as.Key, binNames ...string) (*as.Record, error) {
	answer, err := c.readKey(ctx, opGet, policy, readRequest{key: key, bins: binNames})
	return answer.rec, err
}

// GetHeader reads a record's generation and expiration. Unlike with Get, a record
// that isn't there is nil without an error, as the driver has it.
func (c *Client) GetHeader(ctx context.Context, policy *as.BasePolicy, key *as.Key) (*as.Record, error) {
	answer, err := c.readKey(ctx, opGetHeader, policy, readRequest{key: key})
	return answer.rec, err
}

// Exists reports whether a record is there.
func (c *Client) Exists(ctx context.Context, policy *as.BasePolicy, key *as.Key) (bool, error) {
	answer, err := c.readKey(ctx, opExists, policy, readRequest{key: key})
	return answer.exists, err
}

// GetObject reads a record into the struct that obj points to, by the driver's rules: a
// number that a narrower field can't hold is cut off there without an error.
func (c *Client) GetObject(ctx context.Context, policy *as.BasePolicy, key *as.Key, obj any) error {
	_, err := c.readKey(ctx, opGetObject, policy, readRequest{key: key, obj: obj})
	return err
}

// readRequest is what a read of one record asks for. Requests and answers are values,
// not closures, so that they stay on the stack of a call that nobody watches.
type readRequest struct {
	key  *as.Key
	bins []string
	obj  any
}

type readAnswer struct {
	rec    *as.Record
	exists bool
}

// send calls the driver.
func (r readRequest) send(op *Operation, client *as.Client, p *as.BasePolicy) (a readAnswer, err as.Error) {
	switch op {
	case opGet:
		a.rec, err = client.Get(p, r.key, r.bins...)
	case opGetHeader:
		a.rec, err = client.GetHeader(p, r.key)
	case opExists:
		a.exists, err = client.Exists(p, r.key)
	case opGetObject:
		err = client.GetObject(p, r.key, r.obj)
	}
	return a, err
}

// readKey is every read of one record. A refusal by the node table is over before the
// rest is begun, and isn't an attempt.
func (c *Client) readKey(ctx context.Context, op *Operation, policy *as.BasePolicy, r readRequest) (a readAnswer, err error) {
	if c.core == nil {
		return a, errZero
	}
	lane := c.routeKey(ctx, op, r.key)
	switch {
	case c.around != nil:
		return c.watchRead(ctx, op, lane, policy, r)
	case c.cfg.Observer != nil:
		return c.observeRead(ctx, op, lane, policy, r)
	}
	var ahead admission
	if err = c.advance(ctx, lane, policy, r.key, &ahead); err != nil {
		return a, err
	}
	return c.readTrip(ctx, op, lane, policy, r, &ahead)
}

// readTrip makes a trip that was admitted, or has still to be.
func (c *Client) readTrip(ctx context.Context, op *Operation, lane int, policy *as.BasePolicy, r readRequest, ahead *admission) (a readAnswer, err error) {
	cl := call{client: c.core}
	cl.trip.begin(op, &c.choices, lane, 1, r.key)
	cl.admission = *ahead
	defer cl.abandonUnused()
	err = c.repeat(ctx, &cl.trip, func(ctx context.Context) (err error) {
		a, err = c.readAdmitted(ctx, &cl, policy, r)
		return err
	})
	return a, err
}

// watchRead is readTrip within middlewares, who have to see a refusal too.
func (c *Client) watchRead(ctx context.Context, op *Operation, lane int, policy *as.BasePolicy, r readRequest) (a readAnswer, err error) {
	cl := call{client: c.core}
	cl.trip.begin(op, &c.choices, lane, 1, r.key)
	err = c.watched(ctx, &cl.trip, func(ctx context.Context) (err error) {
		a, err = c.readAdmitted(ctx, &cl, policy, r)
		return err
	})
	return a, err
}

// observeRead is watchRead with an observer alone, for whom nothing leaves the stack.
func (c *Client) observeRead(ctx context.Context, op *Operation, lane int, policy *as.BasePolicy, r readRequest) (a readAnswer, err error) {
	cl := call{client: c.core}
	cl.trip.begin(op, &c.choices, lane, 1, r.key)
	err = c.observed(ctx, &cl.trip, func(ctx context.Context) (err error) {
		a, err = c.readAdmitted(ctx, &cl, policy, r)
		return err
	})
	return a, err
}

func (c *Client) readAdmitted(ctx context.Context, cl *call, policy *as.BasePolicy, r readRequest) (a readAnswer, err error) {
	if c.choices.detach && r.obj == nil {
		return c.readApart(ctx, cl, policy, r)
	}
	if err = c.open(ctx, cl); err != nil {
		return a, err
	}
	defer cl.end(ctx, &err)
	policy = cl.basePolicy(policy)
	if err = cl.admitKey(ctx, policy, r.key); err != nil {
		return a, err
	}
	op, client := cl.trip.op, cl.session.client
	err = cl.read(policy, func(p *as.BasePolicy) (aerr as.Error) {
		a, aerr = r.send(op, client, p)
		return aerr
	})
	return a, err
}

// begin makes a zero trip that of a call for one record.
func (t *trip) begin(op *Operation, choices *choices, lane, rows int, key *as.Key) {
	t.op, t.choices, t.lane, t.rows = op, choices, lane, rows
	t.key(key)
}

// key notes where a call for a record goes.
func (t *trip) key(key *as.Key) {
	if key != nil {
		t.ns, t.set = key.Namespace(), key.SetName()
	}
}
