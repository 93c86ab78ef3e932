package aerospiketest

import (
	"fmt"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/command"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/info"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A verdict says how a command goes on after a fault.
type verdict uint8

const (
	goOn      verdict = iota
	answered          // with what is in c.out
	swallowed         // without an answer
)

// serveCommand takes a command through faults, gates and the node's capacity,
// carries it out and sends the answer, or its last part.
func (c *conn) serveCommand() error {
	v, err := c.arrive()
	if err != nil {
		return err
	}
	if v == goOn {
		if err := c.passGates(); err != nil {
			return err
		}
		if err := c.executeInTurn(); err != nil {
			return err
		}
		if c.ended() {
			return errDone
		}
	}
	for _, i := range c.after {
		if v == swallowed {
			break
		}
		if v, err = c.act(i); err != nil {
			return err
		}
	}
	if c.cmd.kind&KindsData != 0 {
		if c.cmd.kind != KindBatch || c.code != wire.OK {
			c.result(c.code)
		}
	}
	if v == swallowed {
		return nil
	}
	c.landed()
	c.recorded(!c.cut)
	return c.write(c.out)
}

// arrive applies the faults that act before a command and keeps those that act
// after it.
func (c *conn) arrive() (verdict, error) {
	for _, i := range c.node.srv.faultList() {
		if !i.take(&c.cmd) {
			continue
		}
		if i.fault.After {
			c.after = append(c.after, i)
			continue
		}
		if v, err := c.act(i); v != goOn || err != nil {
			return v, err
		}
	}
	return goOn, nil
}

// act does what a fault says.
func (c *conn) act(i *Injected) (verdict, error) {
	if err := c.sleep(i.fault.Delay); err != nil {
		return goOn, err
	}
	switch i.fault.Action {
	case ActionCode:
		c.fail(wire.Code(i.fault.Code))
		return answered, nil
	case ActionReset:
		return goOn, errReset
	case ActionSwallow:
		return swallowed, nil
	case ActionStall:
		return goOn, c.hold(i.free)
	case ActionTruncate:
		c.cut = true
	default:
	}
	return goOn, nil
}

// fail replaces the answer, or what has not been sent of it, by an error.
func (c *conn) fail(code wire.Code) {
	c.code = code
	c.out = c.out[:0]
	switch c.cmd.kind {
	case KindInfo:
		c.out = wire.AppendFrame(c.out, wire.TypeInfo)
		c.out = info.Fail(c.out, c.body, fmt.Sprintf("ERROR:%d:injected fault", code))
		wire.EndFrame(c.out, 0)
	case KindAdmin:
		c.out = appendAdmin(c.out, code)
	case KindBatch, KindScan, KindQuery, KindBackground:
		c.out = wire.AppendLast(c.out, code)
	default:
		c.out = wire.AppendResult(c.out, wire.Header{Code: code})
	}
}

// paused waits while the node is paused.
func (c *conn) paused() error {
	for {
		p := c.node.pause.Load()
		if p == nil {
			return nil
		}
		if err := c.hold(*p); err != nil {
			return err
		}
	}
}

// passGates waits at every gate that the command matches.
func (c *conn) passGates() error {
	for _, g := range c.node.srv.gateList() {
		if !g.match.matches(&c.cmd) {
			continue
		}
		if ch := g.arrive(); ch != nil {
			if err := c.hold(ch); err != nil {
				g.leave(ch)
				return err
			}
		}
	}
	return nil
}

// executeInTurn carries the command out when the node's capacity allows it, or
// turns it away.
func (c *conn) executeInTurn() error {
	s := c.node.station.Load()
	if s.Parallel == 0 || c.cmd.kind&KindsData == 0 {
		if s.ServiceTime > 0 && c.cmd.kind&KindsData != 0 {
			if err := c.sleep(s.ServiceTime); err != nil {
				return err
			}
		}
		return c.execute()
	}
	ok, err := s.enter(c.life.done)
	if err != nil {
		return err
	}
	if !ok {
		c.fail(wire.Code(s.overload(c.cmd.writes)))
		return nil
	}
	defer s.leave()
	if err := c.sleep(s.ServiceTime); err != nil {
		return err
	}
	return c.execute()
}

// execute carries the command out.
func (c *conn) execute() (err error) {
	if c.refusedByUsers() {
		return nil
	}
	switch c.cmd.kind {
	case KindInfo:
		c.out = wire.AppendFrame(c.out, wire.TypeInfo)
		c.out = c.node.srv.info.Answer(c.out, c.body, c.node.index, c.infoPermit(), c.life.done)
		wire.EndFrame(c.out, 0)
	case KindAdmin:
		c.admin()
	case KindBatch:
		c.out, c.code, err = c.exec.Batch(&c.msg, c.out, c)
	case KindScan, KindQuery:
		if c.msg.Aggregation() {
			c.out, c.code, err = c.exec.Aggregate(&c.msg, c.host(c.node.leads), c.out, c)
			break
		}
		c.rate, c.begin, c.sent = command.RecordsPerSecond(&c.msg), time.Now(), 0
		c.out, c.code, err = c.exec.Scan(&c.msg, c.host(c.node.has), c.out, c)
	case KindBackground:
		c.background()
	default:
		c.out = wire.AppendFrame(c.out, wire.TypeMessage)
		c.out, c.code = c.exec.Single(&c.msg, c.out, 0)
		wire.EndFrame(c.out, 0)
	}
	return err
}

// appendAdmin appends the answer to an admin command, of which only the code
// counts.
func appendAdmin(b []byte, code wire.Code) []byte {
	at := len(b)
	b = wire.AppendFrame(b, wire.TypeAdmin)
	b = append(b, 0, byte(code), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	wire.EndFrame(b, at)
	return b
}
