package aerospike

import (
	"context"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// What follows asks no server, or belongs to the connection itself: no lane stands in
// front of it.

// IsConnected reports whether the client is connected and the driver knows a node. It
// asks no server: see Ping.
func (c *Client) IsConnected() bool {
	return c.withDriver(func(d *as.Client) error {
		if !d.IsConnected() {
			return errZero
		}
		return nil
	}) == nil
}

// GetNodes returns the nodes that the driver knows; none if the client isn't
// connected. What is asked of a node directly goes past the lanes.
func (c *Client) GetNodes() (nodes []*as.Node) {
	_ = c.withDriver(func(d *as.Client) error { nodes = d.GetNodes(); return nil })
	return nodes
}

// GetNodeNames returns the names of the nodes that the driver knows; none if the
// client isn't connected.
func (c *Client) GetNodeNames() (names []string) {
	_ = c.withDriver(func(d *as.Client) error { names = d.GetNodeNames(); return nil })
	return names
}

// Cluster returns the driver's cluster; nil if the client isn't connected. What is
// asked of it goes past the lanes, and it may be closed at any moment.
func (c *Client) Cluster() (cluster *as.Cluster) {
	_ = c.withDriver(func(d *as.Client) error { cluster = d.Cluster(); return nil })
	return cluster
}

// String returns the name and the state of the client.
func (c *Client) String() string { return "aerospike client " + c.Name() + ", " + c.State().String() }

// Stats returns the driver's own statistics. They cost some milliseconds: once a second
// is often enough.
func (c *Client) Stats(context.Context) (stats map[string]any, err error) {
	err = c.withDriver(func(d *as.Client) error {
		var aerr as.Error
		stats, aerr = d.Stats()
		return driverError(opStats, aerr)
	})
	return stats, err
}

// EnableMetrics has the driver measure its latencies; nil is its default policy.
func (c *Client) EnableMetrics(policy *as.MetricsPolicy) error {
	return c.withDriver(func(d *as.Client) error { d.EnableMetrics(policy); return nil })
}

// DisableMetrics ends what EnableMetrics began.
func (c *Client) DisableMetrics() error {
	return c.withDriver(func(d *as.Client) error { d.DisableMetrics(); return nil })
}

// MetricsEnabled reports whether the driver measures its latencies.
func (c *Client) MetricsEnabled() (enabled bool) {
	_ = c.withDriver(func(d *as.Client) error { enabled = d.MetricsEnabled(); return nil })
	return enabled
}

// WarmUp opens up to n further connections per node, a few at a time, until ctx ends or
// the pools are full, and returns how many it opened at all nodes together. Unlike the
// driver's, it doesn't open them all at once, and n ≤ 0 opens none.
func (c *Client) WarmUp(ctx context.Context, n int) (opened int, err error) {
	if c.core == nil {
		return 0, errZero
	}
	lease, err := c.lease()
	if err != nil {
		return 0, err
	}
	defer lease.Release()
	for n > 0 && ctx.Err() == nil {
		step := min(n, warmUpStep)
		got, aerr := lease.Conn().client.WarmUp(step)
		opened += got
		if aerr != nil {
			return opened, driverError(opWarmUp, aerr)
		}
		if got == 0 {
			break // the pools are full
		}
		n -= step
	}
	return opened, causeOf(ctx)
}

// withDriver runs f with the driver's client, under a lease.
func (c *Client) withDriver(f func(*as.Client) error) error {
	if c.core == nil {
		return errZero
	}
	lease, err := c.lease()
	if err != nil {
		return err
	}
	defer lease.Release()
	return f(lease.Conn().client)
}

// driverError wraps an error of a call that no lane stands in front of.
func driverError(op *Operation, err as.Error) error {
	cl := call{trip: trip{op: op}}
	return cl.wrap(err)
}
