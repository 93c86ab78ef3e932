package policy

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/spillway-go/spillway"
)

// Op is one attempt to call the backend.
type Op = func(context.Context) error

// Call is what a policy may know of an operation.
type Call struct {
	Class spillway.Class // how much it matters
	Key   int            // the record that it touches
	Heavy bool           // whether it is of the kind that takes much longer, as a batch does
}

// Client is one process that calls one node of the backend.
type Client interface {
	// Do runs an operation as the policy sees fit, any number of times or not at all, and returns
	// before long after ctx is done. It is for concurrent use.
	Do(ctx context.Context, c Call, op Op) error
	// Limit is how many calls it lets in at once, now; 0 if there is no such number.
	Limit() float64
	// Close is called when no Do is under way any more, and leaves nothing running.
	Close()
}

// Env is what those who configure a policy know. What the backend does later is not in it.
type Env struct {
	Slots    int           // c, of one node
	Mean     time.Duration // S, the mean service time
	Alone    time.Duration // the latency of a call alone, by the geometric mean, as one measures it
	Heavy    time.Duration // the same of a heavy call; 0 if there are none
	Clients  int           // processes that call the node
	Attempts int           // how often the application tries, the first time included
	Timeout  time.Duration // of an attempt; 0 means the operation's deadline
	Deadline time.Duration // of an operation, the shortest there is
	Classes  bool          // whether there are critical and bulk calls
	Keys     bool          // whether keys matter
	Seed     uint64        // for jitter
}

// share returns a limit of so many times c for all clients together, divided by them. No client has
// less than 1.
func (e Env) share(times float64) int {
	return max(int(math.Round(times*float64(e.Slots)/float64(max(e.Clients, 1)))), 1)
}

// maxWait is how long a caller may wait for a permit: 10 ms, or a quarter of what it has, if that
// is less.
func (e Env) maxWait() time.Duration { return min(10*time.Millisecond, e.Deadline/4) }

// timed gives each attempt the attempt's timeout.
func (e Env) timed(op Op) Op {
	if e.Timeout == 0 {
		return op
	}
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, e.Timeout)
		defer cancel()
		return op(ctx)
	}
}

// Need is what a policy needs of a workload to be worth a column.
type Need uint8

// What a policy may need.
const (
	NeedsNothing Need = iota
	NeedsRetries      // an application that repeats
	NeedsClasses      // critical and bulk calls
)

// Policy is a way of calling, by name.
type Policy struct {
	// Name is the column in the scoreboard.
	Name string
	// Family says whose it is: baseline, the name of a library, or spillway.
	Family string
	// About says in a sentence what it does.
	About string
	// Needs says where it differs from the others; elsewhere it isn't run.
	Needs Need
	// Judged is for those that are held against the targets, and named with the cause where they
	// miss one.
	Judged bool
	// Static names the policy whose limit this one's starts from and moves away from; empty if
	// the limit doesn't move.
	Static string
	// Aimed says that the limit moves towards a latency target that it was given.
	Aimed bool
	// New returns a client process.
	New func(Env) Client
}

// All returns the policies, in the order of the scoreboard.
func All() []Policy {
	return slices.Concat(baselines(), rivals(), ours(), adaptives())
}

// Find returns the policies with these names, in the order of All. A name that there isn't panics:
// it is a mistake in the program.
func Find(names ...string) []Policy {
	var found []Policy
	for _, p := range All() {
		for _, n := range names {
			if p.Name == n {
				found = append(found, p)
			}
		}
	}
	if len(found) != len(names) {
		panic("policy: no such policy among them, or one twice")
	}
	return found
}
