package aerospike

import (
	"sync"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
)

// pools keep policies for reuse: each call needs a copy of its own, to write its
// budget into, and the driver keeps none after a single or batch call has returned.
type pools struct {
	base, write, batch sync.Pool
}

// shape writes a call's budget into a copy of a policy, and takes from the driver
// what it does badly:
//
//   - TotalTimeout is never zero, which would be none, nor longer than the context.
//   - One attempt: the driver's retries have no jitter and no budget, and would run
//     under a permit. (Its MaxRetries counts attempts: 1 is one.)
//   - ExitFastOnExhaustedConnectionPool stays as it is, and should be off: the driver
//     also exits when the pool isn't exhausted but empty, because a connection is
//     still being opened. That the pool is never exhausted is what the limits are for.
//   - While it waits for a connection to be opened, the driver sleeps between its
//     looks; without a sleep it would spin.
func (cl *call) shape(p *as.BasePolicy) {
	p.TotalTimeout = cl.budget.total
	p.SocketTimeout = cl.budget.socket(p.SocketTimeout)
	p.MaxRetries = 1
	if p.SleepBetweenRetries <= 0 {
		p.SleepBetweenRetries = time.Millisecond
	}
	if cl.trip.attempts > 1 && p.ReplicaPolicy == as.SEQUENCE {
		p.ReplicaPolicy = as.MASTER_PROLES // the driver would begin with the master again
	}
}

// basePolicy returns the policy that a call goes by: the caller's or the client's.
func (cl *call) basePolicy(p *as.BasePolicy) *as.BasePolicy {
	return either(p, &cl.client.defaults.base)
}

func (cl *call) writePolicy(p *as.WritePolicy) *as.WritePolicy {
	return either(p, &cl.client.defaults.write)
}

func (cl *call) batchPolicy(p *as.BatchPolicy) *as.BatchPolicy {
	return either(p, &cl.client.defaults.batch)
}

func (cl *call) scanPolicy(p *as.ScanPolicy) *as.ScanPolicy {
	return either(p, &cl.client.defaults.scan)
}

func (cl *call) queryPolicy(p *as.QueryPolicy) *as.QueryPolicy {
	return either(p, &cl.client.defaults.query)
}

// either returns the policy, or the default if it is nil.
func either[P any](p *P, otherwise *atomic.Pointer[P]) *P {
	if p != nil {
		return p
	}
	return otherwise.Load()
}

// copied returns a copy of what somebody else may go on to change; nil stays nil.
func copied[P any](p *P) *P {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// read runs a read of one record with a shaped copy of the policy. f is only
// called, so that it stays on its caller's stack.
func (cl *call) read(policy *as.BasePolicy, f func(*as.BasePolicy) as.Error) error {
	cl.start()
	if !cl.client.shapes() {
		return cl.unrepeated(policy.MaxRetries, f(policy))
	}
	pool := &cl.client.pools.base
	p, _ := pool.Get().(*as.BasePolicy)
	if p == nil {
		p = new(as.BasePolicy)
	}
	*p = *policy
	cl.shape(p)
	err := cl.steadily(p, func() as.Error { return f(p) }, nil)
	*p = as.BasePolicy{} // nothing of the caller's is kept
	pool.Put(p)
	return cl.unrepeated(policy.MaxRetries, err)
}

// write is read for writes.
func (cl *call) write(policy *as.WritePolicy, f func(*as.WritePolicy) as.Error) error {
	cl.start()
	if !cl.client.shapes() {
		return cl.unrepeated(policy.MaxRetries, f(policy))
	}
	pool := &cl.client.pools.write
	p, _ := pool.Get().(*as.WritePolicy)
	if p == nil {
		p = new(as.WritePolicy)
	}
	*p = *policy
	cl.shape(&p.BasePolicy)
	err := cl.steadily(&p.BasePolicy, func() as.Error { return f(p) }, nil)
	*p = as.WritePolicy{}
	pool.Put(p)
	return cl.unrepeated(policy.MaxRetries, err)
}

// batch is read for batches. The nodes of a batch are asked at the same time: one
// after the other, as is the driver's default, each would start the clock anew. unsent
// reports after a failure whether no record has an answer; nil is for batches of reads.
func (cl *call) batch(policy *as.BatchPolicy, f func(*as.BatchPolicy) as.Error, unsent func() bool) error {
	cl.start()
	if !cl.client.shapes() {
		return cl.unrepeated(policy.MaxRetries, f(policy))
	}
	pool := &cl.client.pools.batch
	p, _ := pool.Get().(*as.BatchPolicy)
	if p == nil {
		p = new(as.BatchPolicy)
	}
	*p = *policy
	cl.shape(&p.BasePolicy)
	p.ConcurrentNodes = 0
	err := cl.steadily(&p.BasePolicy, func() as.Error { return f(p) }, unsent)
	*p = as.BatchPolicy{}
	pool.Put(p)
	return cl.unrepeated(policy.MaxRetries, err)
}

// steadily sends a first attempt to the node whose permit it has. By SEQUENCE the driver
// turns to the next replica not only after a failure but each time that it finds no open
// connection: a record is then asked for at another node than the permit is for; and a
// batch is split anew, which counts as an attempt, so that one on cold pools fails at once.
// By MASTER, which is the same node to begin with, it waits for the connection. Only a
// master that has just gone makes a difference, before anything is sent: then it is
// SEQUENCE again, in the time that is left. The error of a batch tells only of the nodes
// that failed; whether others have done their part is for unsent to say. If several have
// failed, it hides that one of them had its part: then a batch of writes isn't sent again.
func (cl *call) steadily(p *as.BasePolicy, send func() as.Error, unsent func() bool) as.Error {
	if p.ReplicaPolicy != as.SEQUENCE {
		return send()
	}
	p.ReplicaPolicy = as.MASTER
	err := send()
	if err == nil {
		return nil
	}
	v := Classify(err)
	if gone := v.Code == types.INVALID_NODE_ERROR || v.Code == types.MAX_RETRIES_EXCEEDED; v.Sent || !gone || unsent != nil && (cl.nodes > 1 || !unsent()) {
		return err
	}
	left := cl.budget.left()
	if left < cl.client.cfg.MinBudget {
		return err
	}
	p.ReplicaPolicy, p.TotalTimeout, p.SocketTimeout = as.SEQUENCE, left, min(p.SocketTimeout, left)
	return send()
}
