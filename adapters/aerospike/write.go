package aerospike

import (
	"context"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// A write that was sent and not answered may have been executed: its error then
// says InDoubt. Writes are sent once. They block until the driver returns: at the
// latest when ctx's deadline is reached.

// Put writes bins to a record.
func (c *Client) Put(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error {
	return c.writeKey(ctx, opPut, policy, key, func(client *as.Client, p *as.WritePolicy) as.Error {
		return client.Put(p, key, bins)
	})
}

// Add adds numbers to bins of a record.
func (c *Client) Add(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error {
	return c.writeKey(ctx, opAdd, policy, key, func(client *as.Client, p *as.WritePolicy) as.Error {
		return client.Add(p, key, bins)
	})
}

// Append appends strings or blobs to bins of a record.
func (c *Client) Append(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error {
	return c.writeKey(ctx, opAppend, policy, key, func(client *as.Client, p *as.WritePolicy) as.Error {
		return client.Append(p, key, bins)
	})
}

// Prepend prepends strings or blobs to bins of a record.
func (c *Client) Prepend(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error {
	return c.writeKey(ctx, opPrepend, policy, key, func(client *as.Client, p *as.WritePolicy) as.Error {
		return client.Prepend(p, key, bins)
	})
}

// Touch sets a record's time to live anew.
func (c *Client) Touch(ctx context.Context, policy *as.WritePolicy, key *as.Key) error {
	return c.writeKey(ctx, opTouch, policy, key, func(client *as.Client, p *as.WritePolicy) as.Error {
		return client.Touch(p, key)
	})
}

// Delete deletes a record and reports whether there was one.
func (c *Client) Delete(ctx context.Context, policy *as.WritePolicy, key *as.Key) (existed bool, err error) {
	err = c.writeKey(ctx, opDelete, policy, key, func(client *as.Client, p *as.WritePolicy) (aerr as.Error) {
		existed, aerr = client.Delete(p, key)
		return aerr
	})
	return existed, err
}

// Operate does several operations on one record, in order and at once.
func (c *Client) Operate(ctx context.Context, policy *as.WritePolicy, key *as.Key, operations ...*as.Operation) (rec *as.Record, err error) {
	err = c.writeKey(ctx, opOperate, policy, key, func(client *as.Client, p *as.WritePolicy) (aerr as.Error) {
		rec, aerr = client.Operate(p, key, operations...)
		return aerr
	})
	return rec, err
}

// writeKey is every write of one record.
func (c *Client) writeKey(ctx context.Context, op *operation, policy *as.WritePolicy, key *as.Key, f func(*as.Client, *as.WritePolicy) as.Error) (err error) {
	var base *as.BasePolicy
	if policy != nil {
		base = &policy.BasePolicy
	}
	a, err := c.advance(ctx, base, key)
	if err != nil {
		return err
	}
	return c.writeAdmitted(ctx, op, policy, key, a, f)
}

func (c *Client) writeAdmitted(ctx context.Context, op *operation, policy *as.WritePolicy, key *as.Key, a advance, f func(*as.Client, *as.WritePolicy) as.Error) (err error) {
	var cl call
	if err = c.openWith(ctx, &cl, op, a); err != nil {
		return err
	}
	defer cl.end(&err)
	policy = cl.writePolicy(policy)
	if err = cl.admitKey(ctx, &policy.BasePolicy, key); err != nil {
		return err
	}
	client := cl.session.client
	return cl.write(policy, func(p *as.WritePolicy) as.Error { return f(client, p) })
}
