package aerospike

import (
	"context"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// pingTimeout is the longest time that a ping takes.
const pingTimeout = 3 * time.Second

// Ping asks the nodes for their name, and reports whether one answered before ctx
// ended, or three seconds were over. It never fails and passes no lane. It is a round
// trip: for the readiness of a process look at [Client.Healthy] instead, and never
// make it depend on whether calls are refused.
func (c *Client) Ping(ctx context.Context) bool {
	if c.core == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	lease, err := c.lease()
	if err != nil {
		return false
	}
	deadline, _ := ctx.Deadline()
	answered := make(chan bool, 2) // the answer, and the end
	go func() {
		defer lease.Release()
		defer func() { _ = recover(); answered <- false }()
		policy := &as.InfoPolicy{Timeout: max(time.Until(deadline), time.Millisecond)}
		for _, node := range lease.Conn().client.Cluster().GetNodes() {
			if info, err := node.RequestInfo(policy, "node"); err == nil && len(info) > 0 {
				answered <- true
				return
			}
		}
	}()
	select {
	case ok := <-answered:
		return ok
	case <-ctx.Done():
		return false
	}
}

// Healthy reports whether the client is connected and the driver finds nothing wrong
// with its picture of the cluster. It asks nobody and takes no time.
func (c *Client) Healthy() bool {
	return c.withDriver(func(d *as.Client) error {
		if err := d.Cluster().Healthy(); err != nil {
			return err
		}
		return nil
	}) == nil
}
