package nethttp

import (
	"net"
	"sync/atomic"

	"github.com/spillway-go/spillway"
)

// heldConn is a hijacked connection that has the permit of its request.
type heldConn struct {
	net.Conn
	guard  *Guard
	permit spillway.Permit
	back   atomic.Bool // whether the permit is back
}

func newHeldConn(conn net.Conn, g *Guard, p spillway.Permit) *heldConn {
	g.counts.held.Add(1)
	return &heldConn{Conn: conn, guard: g, permit: p}
}

// whole returns the connection as the handler gets it: one whose own side can be finished
// alone stays so, which is how a proxy hands on the end of one direction.
func (c *heldConn) whole() net.Conn {
	if half, ok := c.Conn.(closeWriter); ok {
		return struct {
			*heldConn
			closeWriter
		}{c, half}
	}
	return c
}

// NetConn returns the connection as the server had it, for those who need its type.
// Closing that one doesn't give the permit back.
func (c *heldConn) NetConn() net.Conn { return c.Conn }

// Close implements net.Conn, and gives the permit back.
func (c *heldConn) Close() error {
	defer c.giveBack(spillway.OutcomeOK)
	return c.Conn.Close()
}

// giveBack gives the permit back. The first call counts.
func (c *heldConn) giveBack(o spillway.Outcome) {
	if c.back.CompareAndSwap(false, true) {
		c.guard.counts.held.Add(-1)
		c.permit.ReleaseWith(o)
	}
}
