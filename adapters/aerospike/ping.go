package aerospike

import (
	"context"
	"sync"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
)

// pingTimeout is the longest time that a ping takes.
const pingTimeout = 3 * time.Second

// Ping asks all nodes for their name at the same time, and reports whether one answered
// before ctx ended, or three seconds were over. A node that is being asked by another Ping
// isn't asked again: its answer to that one counts. It never fails and passes no lane. It
// is a round trip: for the readiness of a process look at [Client.Healthy] instead, and
// never make it depend on whether calls are refused.
func (c *Client) Ping(ctx context.Context) bool {
	if c.core == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	until, _ := ctx.Deadline()
	s, nodes, err := c.pingable()
	if err != nil || ctx.Err() != nil {
		return false
	}
	answers := make(chan pong, len(nodes))
	defer c.pings.leave(nodes, answers)
	waiting := 0
	ask := func(node *as.Node) {
		if c.askName(s, node, until, answers) {
			waiting++
		}
	}
	for _, node := range nodes {
		ask(node)
	}
	for waiting > 0 {
		select {
		case a := <-answers:
			waiting--
			switch {
			case a.ok:
				return true
			case a.timedOut && time.Until(until) > c.cfg.MinBudget:
				ask(a.node) // whoever asked had less time than there is
			}
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// pingable returns the connection and its nodes. No lease is held afterwards: those who
// only wait for an answer must not keep Close from anything.
func (c *Client) pingable() (*session, []*as.Node, error) {
	lease, err := c.lease()
	if err != nil {
		return nil, nil, err
	}
	defer lease.Release()
	s := lease.Conn()
	return s, s.client.Cluster().GetNodes(), nil
}

// pings are the nodes that are being asked for their name. There is one question to a
// node at a time, for all wait for the one connection that the driver tends it by, and
// would keep the driver from looking after a node that hangs as long as they do.
type pings struct {
	mu sync.Mutex
	of map[*as.Node]map[chan<- pong]struct{} // who waits for the node's answer
}

// pong is what came of a question.
type pong struct {
	node         *as.Node
	ok, timedOut bool
}

// askName asks a node for its name, by a question of its own only if none is under way,
// and has the answer sent. It reports whether there will be one: there is none if the
// connection isn't s any more.
func (c *Client) askName(s *session, node *as.Node, until time.Time, answer chan<- pong) bool {
	p := &c.pings
	p.mu.Lock()
	defer p.mu.Unlock()
	if waiting, asked := p.of[node]; asked {
		waiting[answer] = struct{}{}
		return true
	}
	lease, err := c.lease()
	if err != nil {
		return false
	}
	if lease.Conn() != s {
		lease.Release()
		return false
	}
	if p.of == nil {
		p.of = map[*as.Node]map[chan<- pong]struct{}{}
	}
	p.of[node] = map[chan<- pong]struct{}{answer: {}}
	go func() {
		a := pong{node: node}
		defer func() {
			_ = recover()
			lease.Release() // now that the driver is done
			p.answered(a)
		}()
		_, err := ask(node, max(time.Until(until), time.Millisecond), "node")
		a.ok, a.timedOut = err == nil, err != nil && err.Matches(types.TIMEOUT)
	}()
	return true
}

// answered tells whoever waits for the node. None of them can keep it waiting: each has
// room for an answer of every node.
func (p *pings) answered(a pong) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for answer := range p.of[a.node] {
		answer <- a
	}
	delete(p.of, a.node)
}

// leave forgets somebody who waits no longer.
func (p *pings) leave(nodes []*as.Node, answer chan<- pong) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, node := range nodes {
		delete(p.of[node], answer)
	}
}

// Healthy reports whether the client is connected and the driver finds nothing wrong
// with its picture of the cluster. It asks nobody and takes no time.
func (c *Client) Healthy() bool {
	return c.withDriver(func(d *as.Client) error { return d.Cluster().Healthy() }) == nil
}
