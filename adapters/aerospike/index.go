package aerospike

import (
	"context"
	"slices"
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
	cdt = slices.Clone(cdt) // the call may outlive its caller
	return begun(ctx, c, opCreateComplexIndex, policy, namespace, set, func(client *as.Client, p *as.WritePolicy) (*as.IndexTask, as.Error) {
		return client.CreateComplexIndex(p, namespace, set, indexName, binName, indexType, collection, cdt...)
	})
}

// begun is administer for calls that take a write policy, of which the driver uses the
// time alone, and return a task.
func begun[T any](ctx context.Context, c *Client, op *Operation, policy *as.WritePolicy, namespace, set string, f func(*as.Client, *as.WritePolicy) (*T, as.Error)) (*T, error) {
	if c.core == nil {
		return nil, errZero
	}
	given := *either(policy, &c.defaults.write)
	e := errand{op: op, namespace: namespace, set: set, policy: given.TotalTimeout}
	return administer(ctx, c, e, asking(func(client *as.Client, timeout time.Duration) (*T, as.Error) {
		p := given
		if c.shapes() {
			p.TotalTimeout = timeout
		}
		return f(client, &p)
	}))
}

// Truncate removes all records of a set, or of a namespace if set is empty, that were
// last updated before a time; nil is now.
func (c *Client) Truncate(ctx context.Context, policy *as.InfoPolicy, namespace, set string, beforeLastUpdate *time.Time) error {
	if beforeLastUpdate != nil {
		before := *beforeLastUpdate // the call may outlive its caller
		beforeLastUpdate = &before
	}
	return c.told(ctx, opTruncate, policy, namespace, set, func(client *as.Client, p *as.InfoPolicy) as.Error {
		return client.Truncate(p, namespace, set, beforeLastUpdate)
	})
}

// SetXDRFilter sets which records of a namespace are shipped to a datacenter; nil
// ships all.
func (c *Client) SetXDRFilter(ctx context.Context, policy *as.InfoPolicy, datacenter, namespace string, filter *as.Expression) error {
	return c.told(ctx, opSetXDRFilter, policy, namespace, "", func(client *as.Client, p *as.InfoPolicy) as.Error {
		return client.SetXDRFilter(p, datacenter, namespace, filter)
	})
}

// told is administer for calls that take an info policy.
func (c *Client) told(ctx context.Context, op *Operation, policy *as.InfoPolicy, namespace, set string, f func(*as.Client, *as.InfoPolicy) as.Error) error {
	if c.core == nil {
		return errZero
	}
	given := *either(policy, &c.defaults.info)
	e := errand{op: op, namespace: namespace, set: set, policy: given.Timeout}
	_, err := administer(ctx, c, e, asking(func(client *as.Client, timeout time.Duration) (struct{}, as.Error) {
		p := given
		if c.shapes() {
			p.Timeout = timeout
		}
		return struct{}{}, f(client, &p)
	}))
	return err
}
