package aerospike

import (
	"sync"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
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
}

// basePolicy returns the policy that a call goes by: the caller's or the client's.
func (cl *call) basePolicy(p *as.BasePolicy) *as.BasePolicy {
	if p == nil {
		p = cl.session.client.DefaultPolicy
	}
	if p == nil {
		p = as.NewPolicy()
	}
	return p
}

func (cl *call) writePolicy(p *as.WritePolicy) *as.WritePolicy {
	if p == nil {
		p = cl.session.client.DefaultWritePolicy
	}
	if p == nil {
		p = as.NewWritePolicy(0, 0)
	}
	return p
}

func (cl *call) batchPolicy(p *as.BatchPolicy) *as.BatchPolicy {
	if p == nil {
		p = cl.session.client.DefaultBatchPolicy
	}
	if p == nil {
		p = as.NewBatchPolicy()
	}
	return p
}

func (cl *call) scanPolicy(p *as.ScanPolicy) *as.ScanPolicy {
	if p == nil {
		p = cl.session.client.DefaultScanPolicy
	}
	if p == nil {
		p = as.NewScanPolicy()
	}
	return p
}

// read runs a read of one record with a shaped copy of the policy. f is only
// called, so that it stays on its caller's stack.
func (cl *call) read(policy *as.BasePolicy, f func(*as.BasePolicy) as.Error) error {
	if !cl.shapes() {
		return cl.wrap(f(policy))
	}
	pool := &cl.client.pools.base
	p, _ := pool.Get().(*as.BasePolicy)
	if p == nil {
		p = new(as.BasePolicy)
	}
	*p = *policy
	cl.shape(p)
	err := f(p)
	*p = as.BasePolicy{} // nothing of the caller's is kept
	pool.Put(p)
	return cl.wrap(err)
}

// write is read for writes.
func (cl *call) write(policy *as.WritePolicy, f func(*as.WritePolicy) as.Error) error {
	if !cl.shapes() {
		return cl.wrap(f(policy))
	}
	pool := &cl.client.pools.write
	p, _ := pool.Get().(*as.WritePolicy)
	if p == nil {
		p = new(as.WritePolicy)
	}
	*p = *policy
	cl.shape(&p.BasePolicy)
	err := f(p)
	*p = as.WritePolicy{}
	pool.Put(p)
	return cl.wrap(err)
}

// batch is read for batches. The nodes of a batch are asked at the same time: one
// after the other, as is the driver's default, each would start the clock anew.
func (cl *call) batch(policy *as.BatchPolicy, f func(*as.BatchPolicy) as.Error) error {
	if !cl.shapes() {
		return cl.wrap(f(policy))
	}
	pool := &cl.client.pools.batch
	p, _ := pool.Get().(*as.BatchPolicy)
	if p == nil {
		p = new(as.BatchPolicy)
	}
	*p = *policy
	cl.shape(&p.BasePolicy)
	p.ConcurrentNodes = 0
	err := f(p)
	*p = as.BatchPolicy{}
	pool.Put(p)
	return cl.wrap(err)
}
