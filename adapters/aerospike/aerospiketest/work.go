package aerospiketest

import (
	"sync"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/command"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// has reports whether the node answers scans of a partition: whether it has a
// copy, and the partition is available.
func (n *Node) has(partition int) bool {
	v := n.srv.view.Load()
	return v.Owns(n.index, partition) && !v.Unavailable[partition]
}

// leads reports whether the node has the first copy of a partition, and the
// partition is available.
func (n *Node) leads(partition int) bool {
	v := n.srv.view.Load()
	return v.Leads(n.index, partition) && !v.Unavailable[partition]
}

// refuses reports whether the node refuses a command on a record.
func (n *Node) refuses(partition int, writes bool) bool {
	switch v := n.srv.view.Load(); {
	case v.Unavailable[partition]:
		return true
	case !n.strict.Load():
		return false
	case writes:
		return !v.Leads(n.index, partition)
	default:
		return !v.Owns(n.index, partition)
	}
}

// host is what scans and jobs need to know of the node.
func (c *conn) host(owns func(int) bool) *command.Host {
	return &command.Host{Owns: owns, Jobs: &c.node.jobs, From: c.raw.RemoteAddr().String()}
}

// background starts a job on the records of which the node has the first copy,
// and answers that it has.
func (c *conn) background() {
	b, code := c.exec.Background(&c.msg, c.host(c.node.leads))
	if c.code = code; code != wire.OK {
		c.out = wire.AppendResult(c.out, wire.Header{Code: code})
		return
	}
	c.out = wire.AppendLast(c.out, wire.OK)
	t := target{node: c.node.index, kind: KindJob, writes: true, namespace: []byte(b.Job.Namespace), set: []byte(b.Job.Set)}
	c.life.wg.Add(1)
	shown := make(chan struct{})
	go c.node.work(c.life, b, t, sync.OnceFunc(func() { close(shown) }))
	if b.Job.RPS == 0 {
		// A real server is done with a small job before a client can ask.
		wait := time.NewTimer(jobHeadStart)
		defer wait.Stop()
		select {
		case <-shown:
		case <-wait.C:
		}
	}
}

// jobHeadStart is how long the answer to a job's command waits at most for the job.
const jobHeadStart = 100 * time.Millisecond

// work is the goroutine of a job; life.wg counts it. It ends with the life, or
// when the job is aborted. show is called when there is no use in waiting for it.
func (n *Node) work(l *life, b *command.Background, t target, show func()) {
	defer l.wg.Done()
	defer show()
	for _, g := range n.srv.gateList() {
		if !g.match.matches(&t) {
			continue
		}
		if ch := g.arrive(); ch != nil {
			show()
			select {
			case <-ch:
			case <-b.Job.Aborted():
				g.leave(ch)
			case <-l.done:
				g.leave(ch)
			}
		}
	}
	b.Run(l.done)
}
