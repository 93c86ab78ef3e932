package aerospike

import (
	"context"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// CreateIndex begins to build a secondary index on a bin; the Task tells when it is
// ready.
func (c *Client) CreateIndex(ctx context.Context, policy *as.WritePolicy, namespace, set, indexName, binName string, indexType as.IndexType) (*Task, error) {
	_, err := c.createIndex(ctx, policy, namespace, set, indexName, binName, indexType)
	return c.task(opCreateIndex, 0, indexBuilt(namespace, indexName), err)
}

func (c *Client) createIndex(ctx context.Context, policy *as.WritePolicy, namespace, set, indexName, binName string, indexType as.IndexType) (*as.IndexTask, error) {
	return begun(ctx, c, opCreateIndex, policy, namespace, set, func(client *as.Client, p *as.WritePolicy) (*as.IndexTask, as.Error) {
		return client.CreateIndex(p, namespace, set, indexName, binName, indexType)
	})
}

// CreateComplexIndex is CreateIndex on the elements of lists and maps, and on what a
// context leads to.
func (c *Client) CreateComplexIndex(ctx context.Context, policy *as.WritePolicy, namespace, set, indexName, binName string, indexType as.IndexType, collection as.IndexCollectionType, cdt ...*as.CDTContext) (*Task, error) {
	_, err := c.createComplexIndex(ctx, policy, namespace, set, indexName, binName, indexType, collection, cdt)
	return c.task(opCreateComplexIndex, 0, indexBuilt(namespace, indexName), err)
}

func (c *Client) createComplexIndex(ctx context.Context, policy *as.WritePolicy, namespace, set, indexName, binName string, indexType as.IndexType, collection as.IndexCollectionType, cdt []*as.CDTContext) (*as.IndexTask, error) {
	return begun(ctx, c, opCreateComplexIndex, policy, namespace, set, func(client *as.Client, p *as.WritePolicy) (*as.IndexTask, as.Error) {
		return client.CreateComplexIndex(p, namespace, set, indexName, binName, indexType, collection, cdt...)
	})
}

// begun is timed for calls that return a task. The task is handed over with the call's
// end, so that a caller who has gone races with nobody.
func begun[T any](ctx context.Context, c *Client, op *Operation, policy *as.WritePolicy, namespace, set string, f func(*as.Client, *as.WritePolicy) (*T, as.Error)) (*T, error) {
	result := new(*T)
	err := c.timed(ctx, op, policy, namespace, set, func(client *as.Client, p *as.WritePolicy) (aerr as.Error) {
		*result, aerr = f(client, p)
		return aerr
	})
	if err != nil {
		return nil, err
	}
	return *result, nil
}

// Truncate removes all records of a set, or of a namespace if set is empty, that were
// last updated before a time; nil is now.
func (c *Client) Truncate(ctx context.Context, policy *as.InfoPolicy, namespace, set string, beforeLastUpdate *time.Time) error {
	if c.core == nil {
		return errZero
	}
	p := c.infoPolicy(policy)
	return c.administer(ctx, opTruncate, namespace, set, p.Timeout, asking(func(client *as.Client, timeout time.Duration) as.Error {
		if c.shapes() {
			p.Timeout = timeout
		}
		return client.Truncate(&p, namespace, set, beforeLastUpdate)
	}))
}

// SetXDRFilter sets which records of a namespace are shipped to a datacenter; nil
// ships all.
func (c *Client) SetXDRFilter(ctx context.Context, policy *as.InfoPolicy, datacenter, namespace string, filter *as.Expression) error {
	if c.core == nil {
		return errZero
	}
	p := c.infoPolicy(policy)
	return c.administer(ctx, opSetXDRFilter, namespace, "", p.Timeout, asking(func(client *as.Client, timeout time.Duration) as.Error {
		if c.shapes() {
			p.Timeout = timeout
		}
		return client.SetXDRFilter(&p, datacenter, namespace, filter)
	}))
}

// timed is administer for calls that take a write policy, of which the driver uses the
// time alone.
func (c *Client) timed(ctx context.Context, op *Operation, policy *as.WritePolicy, namespace, set string, f func(*as.Client, *as.WritePolicy) as.Error) error {
	if c.core == nil {
		return errZero
	}
	if policy == nil {
		policy = c.defaults.write.Load()
	}
	p := *policy
	return c.administer(ctx, op, namespace, set, p.TotalTimeout, asking(func(client *as.Client, timeout time.Duration) as.Error {
		if c.shapes() {
			p.TotalTimeout = timeout
		}
		return f(client, &p)
	}))
}
