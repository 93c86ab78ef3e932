package aerospike

import (
	"sync/atomic"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// Policies are policies of the driver for calls that pass none. A nil one is the driver's
// default; for Wrap, what the wrapped client has. The client keeps them: who passes one
// must not write to it afterwards. For records of a batch that have none of their own the
// driver reads its own defaults: with Wrap they have to be set there.
type Policies struct {
	Base        *as.BasePolicy        // of reads of one record
	Write       *as.WritePolicy       // of writes of one record
	Batch       *as.BatchPolicy       // of batches as a whole
	Scan        *as.ScanPolicy        // of scans
	Query       *as.QueryPolicy       // of queries, aggregations and background jobs
	Admin       *as.AdminPolicy       // of users and roles
	Info        *as.InfoPolicy        // of truncate and the like
	BatchRead   *as.BatchReadPolicy   // of a batch's reads
	BatchWrite  *as.BatchWritePolicy  // of a batch's writes
	BatchDelete *as.BatchDeletePolicy // of a batch's deletes
	BatchUDF    *as.BatchUDFPolicy    // of a batch's functions
}

// defaults are the policies of calls that pass none. The driver's own are fields that
// it reads without a lock; these can be changed while calls are under way, and outlast
// a reconnect. Who sets one must not write to it afterwards.
type defaults struct {
	base        atomic.Pointer[as.BasePolicy]
	write       atomic.Pointer[as.WritePolicy]
	batch       atomic.Pointer[as.BatchPolicy]
	scan        atomic.Pointer[as.ScanPolicy]
	query       atomic.Pointer[as.QueryPolicy]
	admin       atomic.Pointer[as.AdminPolicy]
	info        atomic.Pointer[as.InfoPolicy]
	batchRead   atomic.Pointer[as.BatchReadPolicy]
	batchWrite  atomic.Pointer[as.BatchWritePolicy]
	batchDelete atomic.Pointer[as.BatchDeletePolicy]
	batchUDF    atomic.Pointer[as.BatchUDFPolicy]
}

func newDefaults() *defaults {
	d := new(defaults)
	d.take(Policies{
		Base:        as.NewPolicy(),
		Write:       as.NewWritePolicy(0, 0),
		Batch:       as.NewBatchPolicy(),
		Scan:        as.NewScanPolicy(),
		Query:       as.NewQueryPolicy(),
		Admin:       as.NewAdminPolicy(),
		Info:        as.NewInfoPolicy(),
		BatchRead:   as.NewBatchReadPolicy(),
		BatchWrite:  as.NewBatchWritePolicy(),
		BatchDelete: as.NewBatchDeletePolicy(),
		BatchUDF:    as.NewBatchUDFPolicy(),
	})
	return d
}

// apply gives the driver's client the defaults that it reads itself. They are those in
// force when the client connected.
func (d *defaults) apply(client *as.Client) {
	client.DefaultBatchReadPolicy = d.batchRead.Load()
	client.DefaultBatchWritePolicy = d.batchWrite.Load()
	client.DefaultBatchDeletePolicy = d.batchDelete.Load()
	client.DefaultBatchUDFPolicy = d.batchUDF.Load()
}

// adopt takes the defaults over from a client that somebody else made.
func (d *defaults) adopt(client *as.Client) {
	d.take(Policies{
		Base:        client.DefaultPolicy,
		Write:       client.DefaultWritePolicy,
		Batch:       client.DefaultBatchPolicy,
		Scan:        client.DefaultScanPolicy,
		Query:       client.DefaultQueryPolicy,
		Admin:       client.DefaultAdminPolicy,
		Info:        client.DefaultInfoPolicy,
		BatchRead:   client.DefaultBatchReadPolicy,
		BatchWrite:  client.DefaultBatchWritePolicy,
		BatchDelete: client.DefaultBatchDeletePolicy,
		BatchUDF:    client.DefaultBatchUDFPolicy,
	})
}

// take takes over the policies that aren't nil.
func (d *defaults) take(p Policies) {
	set(&d.base, p.Base)
	set(&d.write, p.Write)
	set(&d.batch, p.Batch)
	set(&d.scan, p.Scan)
	set(&d.query, p.Query)
	set(&d.admin, p.Admin)
	set(&d.info, p.Info)
	set(&d.batchRead, p.BatchRead)
	set(&d.batchWrite, p.BatchWrite)
	set(&d.batchDelete, p.BatchDelete)
	set(&d.batchUDF, p.BatchUDF)
}

// set stores a policy unless it is nil.
func set[P any](p *atomic.Pointer[P], policy *P) {
	if policy != nil {
		p.Store(policy)
	}
}

// policies are the defaults in force; for the zero Client none, and nobody's to set.
func (c *Client) policies() *defaults {
	if c.core == nil {
		return new(defaults)
	}
	return c.defaults
}

// GetDefaultPolicy returns the policy of calls that pass none.
func (c *Client) GetDefaultPolicy() *as.BasePolicy { return c.policies().base.Load() }

// SetDefaultPolicy sets the policy of calls that pass none; nil changes nothing.
func (c *Client) SetDefaultPolicy(policy *as.BasePolicy) { set(&c.policies().base, policy) }

// GetDefaultWritePolicy returns the policy of calls that pass none.
func (c *Client) GetDefaultWritePolicy() *as.WritePolicy { return c.policies().write.Load() }

// SetDefaultWritePolicy sets the policy of calls that pass none; nil changes nothing.
func (c *Client) SetDefaultWritePolicy(policy *as.WritePolicy) { set(&c.policies().write, policy) }

// GetDefaultBatchPolicy returns the policy of calls that pass none.
func (c *Client) GetDefaultBatchPolicy() *as.BatchPolicy { return c.policies().batch.Load() }

// SetDefaultBatchPolicy sets the policy of calls that pass none; nil changes nothing.
func (c *Client) SetDefaultBatchPolicy(policy *as.BatchPolicy) { set(&c.policies().batch, policy) }

// GetDefaultScanPolicy returns the policy of calls that pass none.
func (c *Client) GetDefaultScanPolicy() *as.ScanPolicy { return c.policies().scan.Load() }

// SetDefaultScanPolicy sets the policy of calls that pass none; nil changes nothing.
func (c *Client) SetDefaultScanPolicy(policy *as.ScanPolicy) { set(&c.policies().scan, policy) }

// GetDefaultQueryPolicy returns the policy of calls that pass none.
func (c *Client) GetDefaultQueryPolicy() *as.QueryPolicy { return c.policies().query.Load() }

// SetDefaultQueryPolicy sets the policy of calls that pass none; nil changes nothing.
func (c *Client) SetDefaultQueryPolicy(policy *as.QueryPolicy) { set(&c.policies().query, policy) }

// GetDefaultAdminPolicy returns the policy of calls that pass none.
func (c *Client) GetDefaultAdminPolicy() *as.AdminPolicy { return c.policies().admin.Load() }

// SetDefaultAdminPolicy sets the policy of calls that pass none; nil changes nothing.
func (c *Client) SetDefaultAdminPolicy(policy *as.AdminPolicy) { set(&c.policies().admin, policy) }

// GetDefaultInfoPolicy returns the policy of calls that pass none.
func (c *Client) GetDefaultInfoPolicy() *as.InfoPolicy { return c.policies().info.Load() }

// SetDefaultInfoPolicy sets the policy of calls that pass none; nil changes nothing.
func (c *Client) SetDefaultInfoPolicy(policy *as.InfoPolicy) { set(&c.policies().info, policy) }

// GetDefaultBatchReadPolicy returns the policy of calls that pass none.
func (c *Client) GetDefaultBatchReadPolicy() *as.BatchReadPolicy {
	return c.policies().batchRead.Load()
}

// SetDefaultBatchReadPolicy sets the policy of calls that pass none; nil changes nothing.
// It takes effect when the client connects the next time.
func (c *Client) SetDefaultBatchReadPolicy(policy *as.BatchReadPolicy) {
	set(&c.policies().batchRead, policy)
}

// GetDefaultBatchWritePolicy returns the policy of calls that pass none.
func (c *Client) GetDefaultBatchWritePolicy() *as.BatchWritePolicy {
	return c.policies().batchWrite.Load()
}

// SetDefaultBatchWritePolicy sets the policy of calls that pass none; nil changes nothing.
// It takes effect when the client connects the next time.
func (c *Client) SetDefaultBatchWritePolicy(policy *as.BatchWritePolicy) {
	set(&c.policies().batchWrite, policy)
}

// GetDefaultBatchDeletePolicy returns the policy of calls that pass none.
func (c *Client) GetDefaultBatchDeletePolicy() *as.BatchDeletePolicy {
	return c.policies().batchDelete.Load()
}

// SetDefaultBatchDeletePolicy sets the policy of calls that pass none; nil changes nothing.
// For records of BatchOperate it takes effect when the client connects the next time.
func (c *Client) SetDefaultBatchDeletePolicy(policy *as.BatchDeletePolicy) {
	set(&c.policies().batchDelete, policy)
}

// GetDefaultBatchUDFPolicy returns the policy of calls that pass none.
func (c *Client) GetDefaultBatchUDFPolicy() *as.BatchUDFPolicy { return c.policies().batchUDF.Load() }

// SetDefaultBatchUDFPolicy sets the policy of calls that pass none; nil changes nothing.
// For records of BatchOperate it takes effect when the client connects the next time.
func (c *Client) SetDefaultBatchUDFPolicy(policy *as.BatchUDFPolicy) {
	set(&c.policies().batchUDF, policy)
}
