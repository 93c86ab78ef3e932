package aerospike

import (
	"sync/atomic"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/retry"
)

// missed counts what calls didn't get, and in mode Shadow what they wouldn't have got.
// The lanes count their refusals themselves.
type missed struct {
	expired, wouldExpire      atomic.Uint64 // too little time left to be sent
	notRetried, wouldNotRetry atomic.Uint64 // see Snapshot.NotRetried
}

// shadow counts in mode Shadow, and in no other.
func (c *core) shadow(n *atomic.Uint64) {
	if c.inForce.Load().mode == spillway.Shadow {
		n.Add(1)
	}
}

// unrepeated is wrap for an attempt whose policy says how often the driver may send it
// (up to 1 is once). It counts a failure that passes, and that nobody repeats here
// although the policy asks for it.
func (cl *call) unrepeated(sends int, failed as.Error) error {
	err := cl.wrap(failed)
	if err == nil || sends < 2 || verdictOf(err) == retry.Stop || cl.client.repeats(&cl.trip) != nil {
		return err
	}
	if cl.client.shapes() {
		cl.client.missed.notRetried.Add(1)
	} else {
		cl.client.shadow(&cl.client.missed.wouldNotRetry)
	}
	return err
}
