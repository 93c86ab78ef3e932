package aerospike

import (
	"context"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// Get reads a record, or those of its bins that are named. A record that isn't
// there is an error that matches as.ErrKeyNotFound. It blocks until the driver
// returns: at the latest when ctx's deadline is reached.
func (c *Client) Get(ctx context.Context, policy *as.BasePolicy, key *as.Key, binNames ...string) (rec *as.Record, err error) {
	err = c.readKey(ctx, opGet, policy, key, func(client *as.Client, p *as.BasePolicy) (aerr as.Error) {
		rec, aerr = client.Get(p, key, binNames...)
		return aerr
	})
	return rec, err
}

// GetHeader reads a record's generation and expiration. Unlike with Get, a record
// that isn't there is nil without an error, as the driver has it.
func (c *Client) GetHeader(ctx context.Context, policy *as.BasePolicy, key *as.Key) (rec *as.Record, err error) {
	err = c.readKey(ctx, opGetHeader, policy, key, func(client *as.Client, p *as.BasePolicy) (aerr as.Error) {
		rec, aerr = client.GetHeader(p, key)
		return aerr
	})
	return rec, err
}

// Exists reports whether a record is there.
func (c *Client) Exists(ctx context.Context, policy *as.BasePolicy, key *as.Key) (exists bool, err error) {
	err = c.readKey(ctx, opExists, policy, key, func(client *as.Client, p *as.BasePolicy) (aerr as.Error) {
		exists, aerr = client.Exists(p, key)
		return aerr
	})
	return exists, err
}

// readKey is every read of one record.
func (c *Client) readKey(ctx context.Context, op *operation, policy *as.BasePolicy, key *as.Key, f func(*as.Client, *as.BasePolicy) as.Error) (err error) {
	a, err := c.advance(ctx, policy, key)
	if err != nil {
		return err
	}
	return c.readAdmitted(ctx, op, policy, key, a, f)
}

func (c *Client) readAdmitted(ctx context.Context, op *operation, policy *as.BasePolicy, key *as.Key, a advance, f func(*as.Client, *as.BasePolicy) as.Error) (err error) {
	var cl call
	if err = c.openWith(ctx, &cl, op, a); err != nil {
		return err
	}
	defer cl.end(&err)
	policy = cl.basePolicy(policy)
	if err = cl.admitKey(ctx, policy, key); err != nil {
		return err
	}
	client := cl.session.client
	return cl.read(policy, func(p *as.BasePolicy) as.Error { return f(client, p) })
}
