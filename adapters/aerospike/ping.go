package aerospike

import (
	"context"
	"sync"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// pingTimeout is the longest time that a ping takes.
const pingTimeout = 3 * time.Second

// Ping asks all nodes for their name at the same time, and reports whether one answered
// before ctx ended, or three seconds were over. It never fails and passes no lane. It is
// a round trip: for the readiness of a process look at [Client.Healthy] instead, and
// never make it depend on whether calls are refused.
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
	left := max(time.Until(deadline), time.Millisecond)
	nodes := lease.Conn().client.Cluster().GetNodes()
	answered := make(chan bool, len(nodes)+1) // the answers, and the end
	var asked sync.WaitGroup
	for _, node := range nodes {
		asked.Add(1)
		go func() {
			defer asked.Done()
			defer func() { _ = recover() }()
			if _, err := ask(node, left, "node"); err == nil {
				answered <- true
			}
		}()
	}
	go func() { // the lease stays out until the driver is done with all of them
		asked.Wait()
		lease.Release()
		answered <- false
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
