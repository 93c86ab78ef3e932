package aerospike

import (
	"context"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// What asks no server, or belongs to the connection itself. What the driver knows of its
// cluster is that of the one connection, also after it was closed.

// Close comes when the context has ended, more often than not: its own bounds are what ends it.
// The driver's has no error to return.
func (c *compat) Close() { _ = c.guarded.closeBound(context.WithoutCancel(c.ctx)) }

func (c *compat) Cluster() *as.Cluster { return c.Client.Cluster() }

func (c *compat) GetNodes() []*as.Node { return c.Client.GetNodes() }

func (c *compat) GetNodeNames() []string { return c.Client.GetNodeNames() }

func (c *compat) IsConnected() bool { return c.guarded.IsConnected() }

func (c *compat) String() string { return c.Client.String() }

func (c *compat) Stats() (map[string]any, as.Error) {
	stats, err := c.guarded.Stats(c.ctx)
	return stats, c.fail(err)
}

func (c *compat) EnableMetrics(policy *as.MetricsPolicy) { _ = c.guarded.EnableMetrics(policy) }

func (c *compat) DisableMetrics() { _ = c.guarded.DisableMetrics() }

func (c *compat) MetricsEnabled() bool { return c.guarded.MetricsEnabled() }

// WarmUp with count ≤ 0 fills the pools, as the driver's does.
func (c *compat) WarmUp(count int) (int, as.Error) {
	if count <= 0 {
		count = c.guarded.cfg.ClientPolicy.ConnectionQueueSize
	}
	opened, err := c.guarded.WarmUp(c.ctx, count)
	return opened, c.fail(err)
}

// Of some default policies the driver reads its own for records of a batch: as with the
// driver alone, they must not be set while calls are under way.

func (c *compat) GetDefaultPolicy() *as.BasePolicy { return c.guarded.GetDefaultPolicy() }

func (c *compat) SetDefaultPolicy(policy *as.BasePolicy) { c.guarded.SetDefaultPolicy(policy) }

func (c *compat) GetDefaultBatchPolicy() *as.BatchPolicy { return c.guarded.GetDefaultBatchPolicy() }

func (c *compat) SetDefaultBatchPolicy(policy *as.BatchPolicy) {
	c.guarded.SetDefaultBatchPolicy(policy)
}

func (c *compat) GetDefaultBatchReadPolicy() *as.BatchReadPolicy {
	return c.guarded.GetDefaultBatchReadPolicy()
}

func (c *compat) SetDefaultBatchReadPolicy(policy *as.BatchReadPolicy) {
	c.guarded.SetDefaultBatchReadPolicy(policy)
	c.Client.SetDefaultBatchReadPolicy(c.guarded.GetDefaultBatchReadPolicy())
}

func (c *compat) GetDefaultBatchWritePolicy() *as.BatchWritePolicy {
	return c.guarded.GetDefaultBatchWritePolicy()
}

func (c *compat) SetDefaultBatchWritePolicy(policy *as.BatchWritePolicy) {
	c.guarded.SetDefaultBatchWritePolicy(policy)
	c.Client.SetDefaultBatchWritePolicy(c.guarded.GetDefaultBatchWritePolicy())
}

func (c *compat) GetDefaultBatchDeletePolicy() *as.BatchDeletePolicy {
	return c.guarded.GetDefaultBatchDeletePolicy()
}

func (c *compat) SetDefaultBatchDeletePolicy(policy *as.BatchDeletePolicy) {
	c.guarded.SetDefaultBatchDeletePolicy(policy)
	c.Client.SetDefaultBatchDeletePolicy(c.guarded.GetDefaultBatchDeletePolicy())
}

func (c *compat) GetDefaultBatchUDFPolicy() *as.BatchUDFPolicy {
	return c.guarded.GetDefaultBatchUDFPolicy()
}

func (c *compat) SetDefaultBatchUDFPolicy(policy *as.BatchUDFPolicy) {
	c.guarded.SetDefaultBatchUDFPolicy(policy)
	c.Client.SetDefaultBatchUDFPolicy(c.guarded.GetDefaultBatchUDFPolicy())
}

func (c *compat) GetDefaultWritePolicy() *as.WritePolicy { return c.guarded.GetDefaultWritePolicy() }

func (c *compat) SetDefaultWritePolicy(policy *as.WritePolicy) {
	c.guarded.SetDefaultWritePolicy(policy)
}

func (c *compat) GetDefaultScanPolicy() *as.ScanPolicy { return c.guarded.GetDefaultScanPolicy() }

func (c *compat) SetDefaultScanPolicy(policy *as.ScanPolicy) { c.guarded.SetDefaultScanPolicy(policy) }

func (c *compat) GetDefaultQueryPolicy() *as.QueryPolicy { return c.guarded.GetDefaultQueryPolicy() }

func (c *compat) SetDefaultQueryPolicy(policy *as.QueryPolicy) {
	c.guarded.SetDefaultQueryPolicy(policy)
}

func (c *compat) GetDefaultAdminPolicy() *as.AdminPolicy { return c.guarded.GetDefaultAdminPolicy() }

func (c *compat) SetDefaultAdminPolicy(policy *as.AdminPolicy) {
	c.guarded.SetDefaultAdminPolicy(policy)
}

func (c *compat) GetDefaultInfoPolicy() *as.InfoPolicy { return c.guarded.GetDefaultInfoPolicy() }

func (c *compat) SetDefaultInfoPolicy(policy *as.InfoPolicy) { c.guarded.SetDefaultInfoPolicy(policy) }
