package aerospike

import (
	"context"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// A write that was sent and not answered may have been executed: its error then
// says InDoubt. Writes are made once, unless they were declared idempotent: see
// [Idempotent]. They block until the driver returns: at the latest when ctx's
// deadline is reached.

// Put writes bins to a record.
func (c *Client) Put(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error {
	_, err := c.writeKey(ctx, opPut, policy, writeRequest{key: key, bins: bins})
	return err
}

// PutBins is Put with bins instead of a map.
func (c *Client) PutBins(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins ...*as.Bin) error {
	_, err := c.writeKey(ctx, opPutBins, policy, writeRequest{key: key, list: bins})
	return err
}

// Add adds numbers to bins of a record.
func (c *Client) Add(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error {
	_, err := c.writeKey(ctx, opAdd, policy, writeRequest{key: key, bins: bins})
	return err
}

// AddBins is Add with bins instead of a map.
func (c *Client) AddBins(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins ...*as.Bin) error {
	_, err := c.writeKey(ctx, opAddBins, policy, writeRequest{key: key, list: bins})
	return err
}

// Append appends strings or blobs to bins of a record.
func (c *Client) Append(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error {
	_, err := c.writeKey(ctx, opAppend, policy, writeRequest{key: key, bins: bins})
	return err
}

// AppendBins is Append with bins instead of a map.
func (c *Client) AppendBins(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins ...*as.Bin) error {
	_, err := c.writeKey(ctx, opAppendBins, policy, writeRequest{key: key, list: bins})
	return err
}

// Prepend prepends strings or blobs to bins of a record.
func (c *Client) Prepend(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error {
	_, err := c.writeKey(ctx, opPrepend, policy, writeRequest{key: key, bins: bins})
	return err
}

// PrependBins is Prepend with bins instead of a map.
func (c *Client) PrependBins(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins ...*as.Bin) error {
	_, err := c.writeKey(ctx, opPrependBins, policy, writeRequest{key: key, list: bins})
	return err
}

// PutObject writes the struct that obj is, or points to, by the driver's rules. A number
// above the largest int64, which the driver would store as a negative one, and an object
// that is nested without an end are errors. (Behind Compat the number is stored as the driver
// does, which reads it back right into an unsigned field.) In modes Shadow and Off nothing is
// looked at.
func (c *Client) PutObject(ctx context.Context, policy *as.WritePolicy, key *as.Key, obj any) error {
	if c.core != nil && c.shapes() {
		if err := checkObject(opPutObject, obj, c.choices.bound != nil); err != nil {
			return err
		}
	}
	_, err := c.writeKey(ctx, opPutObject, policy, writeRequest{key: key, obj: obj})
	return err
}

// Touch sets a record's time to live anew.
func (c *Client) Touch(ctx context.Context, policy *as.WritePolicy, key *as.Key) error {
	_, err := c.writeKey(ctx, opTouch, policy, writeRequest{key: key})
	return err
}

// Delete deletes a record and reports whether there was one.
func (c *Client) Delete(ctx context.Context, policy *as.WritePolicy, key *as.Key) (existed bool, err error) {
	answer, err := c.writeKey(ctx, opDelete, policy, writeRequest{key: key})
	return answer.existed, err
}

// Operate does several operations on one record, in order and at once.
func (c *Client) Operate(ctx context.Context, policy *as.WritePolicy, key *as.Key, operations ...*as.Operation) (*as.Record, error) {
	answer, err := c.writeKey(ctx, opOperate, policy, writeRequest{key: key, ops: operations})
	return answer.rec, err
}

// Execute runs a Lua function that is registered at the server on one record, and
// returns what it returns.
func (c *Client) Execute(ctx context.Context, policy *as.WritePolicy, key *as.Key, packageName, functionName string, args ...as.Value) (any, error) {
	answer, err := c.writeKey(ctx, opExecute, policy, writeRequest{key: key, module: packageName, function: functionName, args: args})
	return answer.result, err
}

// writeRequest is what a write to one record asks for: see readRequest.
type writeRequest struct {
	key              *as.Key
	bins             as.BinMap
	list             []*as.Bin
	obj              any
	ops              []*as.Operation
	module, function string
	args             []as.Value
}

type writeAnswer struct {
	rec     *as.Record
	existed bool
	result  any
}

// send calls the driver.
func (r writeRequest) send(op *Operation, client *as.Client, p *as.WritePolicy) (a writeAnswer, err as.Error) {
	switch op {
	case opPut:
		err = client.Put(p, r.key, r.bins)
	case opPutBins:
		err = client.PutBins(p, r.key, r.list...)
	case opPutObject:
		err = client.PutObject(p, r.key, r.obj)
	case opAdd:
		err = client.Add(p, r.key, r.bins)
	case opAddBins:
		err = client.AddBins(p, r.key, r.list...)
	case opAppend:
		err = client.Append(p, r.key, r.bins)
	case opAppendBins:
		err = client.AppendBins(p, r.key, r.list...)
	case opPrepend:
		err = client.Prepend(p, r.key, r.bins)
	case opPrependBins:
		err = client.PrependBins(p, r.key, r.list...)
	case opTouch:
		err = client.Touch(p, r.key)
	case opDelete:
		a.existed, err = client.Delete(p, r.key)
	case opOperate:
		a.rec, err = client.Operate(p, r.key, r.ops...)
	case opExecute:
		a.result, err = client.Execute(p, r.key, r.module, r.function, r.args...)
	}
	return a, err
}

// writeKey is every write to one record. A refusal by the node table is over before the
// rest is begun, and isn't an attempt.
func (c *Client) writeKey(ctx context.Context, op *Operation, policy *as.WritePolicy, r writeRequest) (a writeAnswer, err error) {
	if c.core == nil {
		return a, errZero
	}
	lane := c.routeKey(ctx, op, r.key)
	switch {
	case c.around != nil:
		return c.watchWrite(ctx, op, lane, policy, r)
	case c.cfg.Observer != nil:
		return c.observeWrite(ctx, op, lane, policy, r)
	}
	var base *as.BasePolicy
	if policy != nil {
		base = &policy.BasePolicy
	}
	var ahead admission
	if err = c.advance(ctx, lane, base, r.key, &ahead); err != nil {
		return a, err
	}
	return c.writeTrip(ctx, op, lane, policy, r, &ahead)
}

// writeTrip makes a trip that was admitted, or has still to be.
func (c *Client) writeTrip(ctx context.Context, op *Operation, lane int, policy *as.WritePolicy, r writeRequest, ahead *admission) (a writeAnswer, err error) {
	cl := call{client: c.core}
	cl.trip.begin(op, &c.choices, lane, -1, r.key)
	cl.admission = *ahead
	defer cl.abandonUnused()
	err = c.repeat(ctx, &cl.trip, func(ctx context.Context) (err error) {
		a, err = c.writeAdmitted(ctx, &cl, policy, r)
		return err
	})
	return a, err
}

// watchWrite is writeTrip within middlewares, who have to see a refusal too.
func (c *Client) watchWrite(ctx context.Context, op *Operation, lane int, policy *as.WritePolicy, r writeRequest) (a writeAnswer, err error) {
	cl := call{client: c.core}
	cl.trip.begin(op, &c.choices, lane, -1, r.key)
	err = c.watched(ctx, &cl.trip, func(ctx context.Context) (err error) {
		a, err = c.writeAdmitted(ctx, &cl, policy, r)
		return err
	})
	return a, err
}

// observeWrite is watchWrite with an observer alone, for whom nothing leaves the stack.
func (c *Client) observeWrite(ctx context.Context, op *Operation, lane int, policy *as.WritePolicy, r writeRequest) (a writeAnswer, err error) {
	cl := call{client: c.core}
	cl.trip.begin(op, &c.choices, lane, -1, r.key)
	err = c.observed(ctx, &cl.trip, func(ctx context.Context) (err error) {
		a, err = c.writeAdmitted(ctx, &cl, policy, r)
		return err
	})
	return a, err
}

func (c *Client) writeAdmitted(ctx context.Context, cl *call, policy *as.WritePolicy, r writeRequest) (a writeAnswer, err error) {
	if c.choices.detach && r.obj == nil {
		return c.writeApart(ctx, cl, policy, r)
	}
	if err = c.open(ctx, cl); err != nil {
		return a, err
	}
	defer cl.end(ctx, &err)
	policy = cl.writePolicy(policy)
	if err = cl.admitKey(ctx, &policy.BasePolicy, r.key); err != nil {
		return a, err
	}
	op, client := cl.trip.op, cl.session.client
	err = cl.write(policy, func(p *as.WritePolicy) (aerr as.Error) {
		a, aerr = r.send(op, client, p)
		return aerr
	})
	return a, err
}
