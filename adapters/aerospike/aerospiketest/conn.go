package aerospiketest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/command"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/security"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// keepBuffer is how large a buffer may stay between two commands.
const keepBuffer = 1 << 20

var (
	errReset = errors.New("aerospiketest: connection reset by a fault")
	errCut   = errors.New("aerospiketest: answer cut by a fault")
)

// A conn serves one connection, one command after the other. It belongs to one
// goroutine; nothing in it is shared.
type conn struct {
	node *Node
	life *life
	raw  net.Conn // the TCP connection
	nc   net.Conn // raw, or TLS on it
	br   *bufio.Reader
	exec *command.Executor
	meters

	msg      wire.Message
	in       []byte // of the frame that is being served
	inflated int    // size of the message in it, if it was compressed
	out      []byte // the answer, or the part of it that was not yet sent

	logged []logged // where the command is recorded

	session security.Session // who has logged in

	cmd    target
	body   []byte
	code   wire.Code // of the answer
	cut    bool      // the next write is to be cut
	flying bool      // counted as in flight
	after  []*Injected

	rate  int // records per second that a scan asks for
	begin time.Time
	sent  int
}

func newConn(n *Node, l *life, raw net.Conn) *conn {
	c := &conn{node: n, life: l, raw: raw, nc: raw, exec: command.NewExecutor(n.srv.catalog), meters: n.meters()}
	if t := n.srv.config.TLS; t != nil {
		c.nc = tls.Server(raw, t) // with the first read comes the handshake
	}
	c.br = bufio.NewReaderSize(c.nc, 16<<10)
	c.exec.Refuses, c.exec.Done = n.refuses, l.done
	if n.srv.users != nil {
		c.exec.Permit = c.permitMessage
	}
	return c
}

// serve reads and answers until the connection ends.
func (c *conn) serve() {
	defer c.recorded(false) // where a function of the test's own ends the goroutine
	for {
		typ, body, next, err := wire.ReadFrame(c.br, c.in)
		c.in = next
		if err != nil {
			return
		}
		n := uint64(len(body) + wire.FrameSize)
		c.meters.node.in.Add(n)
		c.all.in.Add(n)
		err = c.request(typ, body)
		c.recorded(false) // unless it was answered
		if err != nil {
			if errors.Is(err, errReset) {
				reset(c.raw)
			}
			return
		}
		c.forget()
	}
}

// forget lets go of large buffers, for the next command may be long in coming.
func (c *conn) forget() {
	if cap(c.out) > keepBuffer {
		c.out = nil
	}
	if cap(c.in) > keepBuffer || c.inflated > keepBuffer {
		c.in, c.body, c.msg, c.cmd, c.inflated = nil, nil, wire.Message{}, target{}, 0
		c.exec.Forget()
	}
}

// reset makes that closing the connection sends RST.
func reset(nc net.Conn) {
	if t, ok := nc.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // fails only on a closed connection
	}
}

// request serves one frame. An error ends the connection.
func (c *conn) request(typ byte, body []byte) error {
	c.cmd = target{node: c.node.index}
	c.body, c.out, c.code = body, c.out[:0], wire.OK
	c.cut, c.after, c.rate = false, c.after[:0], 0
	switch typ {
	case wire.TypeInfo:
		c.cmd.kind = KindInfo
	case wire.TypeAdmin:
		c.cmd.kind = KindAdmin
	default:
		if err := c.parse(typ); err != nil {
			return err
		}
		if c.cmd.kind == 0 { // malformed
			if err := c.paused(); err != nil {
				return err
			}
			c.result(wire.ParameterError)
			h := wire.Header{Code: wire.ParameterError}
			if c.msg.Info1&wire.Info1Batch != 0 {
				h.Info3 = wire.Info3Last
			}
			c.out = wire.AppendResult(c.out, h)
			return c.write(c.out)
		}
		c.each(func(s *counters) { s.flight.up() })
		c.flying = true
		defer c.landed()
	}
	c.kind(c.cmd.kind)
	c.record()
	if err := c.paused(); err != nil {
		return err
	}
	return c.serveCommand()
}

// landed takes a data command out of those in flight. It comes before the last
// byte of the answer, so that a client that has it finds the count right.
func (c *conn) landed() {
	if c.flying {
		c.flying = false
		c.each(func(s *counters) { s.flight.down() })
	}
}

// parse reads a message. One that is malformed leaves the kind empty.
func (c *conn) parse(typ byte) error {
	body := c.body
	if typ == wire.TypeCompressed {
		var err error
		if body, err = wire.Inflate(body); err != nil {
			return err
		}
		c.inflated = len(body)
	}
	if c.msg.Parse(body) != wire.OK {
		return nil
	}
	c.cmd.kind, c.cmd.writes = kindOf(&c.msg)
	c.cmd.namespace, c.cmd.set = c.msg.Namespace, c.msg.Set
	if c.cmd.kind == KindBatch {
		c.cmd.namespace, c.cmd.set = c.exec.BatchTarget(&c.msg)
	}
	return nil
}

// write sends bytes, unless the life has ended: what a command makes then, as it is cut
// short, is no answer to it.
func (c *conn) write(b []byte) error {
	if c.ended() {
		return errDone
	}
	if c.cut {
		b = b[:len(b)/2]
	}
	c.meters.node.out.Add(uint64(len(b)))
	c.all.out.Add(uint64(len(b)))
	_, err := c.nc.Write(b)
	if err == nil && c.cut {
		return errCut
	}
	return err
}

// Flush implements [command.Sink].
func (c *conn) Flush(b []byte, records int) ([]byte, error) {
	if err := c.write(b); err != nil {
		return b[:0], err
	}
	if c.rate > 0 {
		c.sent += records
		due := time.Duration(c.sent) * time.Second / time.Duration(c.rate)
		if err := c.sleepUntil(due-time.Since(c.begin), c.exec.Aborted()); err != nil {
			return b[:0], err
		}
	}
	return b[:0], nil
}

// Result implements [command.Sink].
func (c *conn) Result(code wire.Code) { c.result(code) }
