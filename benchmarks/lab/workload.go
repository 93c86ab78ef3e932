package lab

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/benchmarks/lab/model"
	"github.com/spillway-go/spillway/benchmarks/lab/policy"
)

// Stream is one kind of call, by all clients together.
type Stream struct {
	Name  string         // for whoever reads the plan
	Class spillway.Class // how much its calls matter; empty if they are all alike
	// Rate is how many come in a second, over time: a Poisson process.
	Rate model.Profile
	// Deadline is how long a call may take from when it was meant to be made; later it is worth
	// nothing.
	Deadline time.Duration
	// Cost is how many times the mean a call takes. Zero means 1.
	Cost float64
	// Heavy is the share of calls that take Times as long, over time; the empty profile means none.
	Heavy model.Profile
	Times float64
	// Key draws the record that a call touches; nil means that it doesn't matter.
	Key func(*rand.Rand) int
	// Foreign calls go past the policy and aren't counted: somebody else's.
	Foreign bool
}

// Workload is a load and a backend, over time, and what is expected of who stands between.
type Workload struct {
	ID      string // "W1"
	Variant string // "10x"
	About   string // what happens, in a sentence
	HoldOut bool   // no constant was tuned on it

	Nodes    []model.Config // the nodes of the backend, over which calls are spread evenly
	Clients  int            // processes
	Stagger  time.Duration  // how long it takes until the last process has started
	Attempts int            // how often the application tries
	Timeout  time.Duration  // of an attempt; 0 means the deadline of the call
	Streams  []Stream       // the first is the one whose latencies are shown
	Length   time.Duration

	From, To time.Duration // what is judged, unless a metric says otherwise
	Idle     time.Duration // until when there is hardly any load; 0 if there is
	Ends     time.Duration // when the cause of the trouble is gone; 0 if there is none

	First   bool // goodput is that of the first stream
	Targets []Target
	Only    []string // the policies that it runs with; empty means all
	Picture bool     // whether it is drawn
}

// Name is the workload's name in the scoreboard.
func (w Workload) Name() string {
	if w.Variant == "" {
		return w.ID
	}
	return w.ID + " " + w.Variant
}

// Target is what a metric shall reach.
type Target struct {
	Metric Metric  // what is looked at
	Bound  float64 // what it must reach
	// Learned is what a limit must reach that moves and was given no latency target, if it
	// isn't Bound: what processes learn each for themselves can't be quite the same.
	Learned float64
	// Over makes the bound so many times what this policy reaches in the same workload.
	Over string
	// Cause says why a static limit misses it, if it does, Moving why one that moves does, and
	// Aimed why one does that moves and has a latency target; empty if Moving is true of it, too.
	Cause, Moving, Aimed string
}

// Runs reports whether the workload is run with a policy: whether that has anything here that
// others don't.
func (w Workload) Runs(p policy.Policy) bool {
	if len(w.Only) > 0 && !slices.Contains(w.Only, p.Name) {
		return false
	}
	switch p.Needs {
	case policy.NeedsRetries:
		return w.Attempts > 1
	case policy.NeedsClasses:
		return w.classes()
	default:
		return true
	}
}

// classes reports whether calls differ in how much they matter.
func (w Workload) classes() bool {
	for _, s := range w.Streams {
		if s.Class == spillway.Critical {
			return true
		}
	}
	return false
}

// keys reports whether it matters which record a call touches.
func (w Workload) keys() bool {
	for _, s := range w.Streams {
		if s.Key != nil {
			return true
		}
	}
	return false
}

// shortest is the shortest deadline of the policy's calls.
func (w Workload) shortest() time.Duration {
	least := time.Hour
	for _, s := range w.Streams {
		if !s.Foreign {
			least = min(least, s.Deadline)
		}
	}
	return least
}

// alone returns the latencies of a call, and of a heavy one, that has the first node for
// itself, by the geometric mean: what one finds out who measures it. heavy is 0 if there are none.
func (w Workload) alone() (light, heavy time.Duration) {
	const draws = 20_000
	n, times := w.Nodes[0], 0.0
	for _, s := range w.Streams {
		times = max(times, s.Times)
	}
	service := n.Service
	if service == nil {
		service = model.Exponential()
	}
	var sums [2]float64
	rng := rand.New(rand.NewPCG(1, 1))
	for range draws {
		d := float64(n.Mean) * service(rng)
		sums[0] += math.Log(float64(n.Net) + d)
		sums[1] += math.Log(float64(n.Net) + d*times)
	}
	light = time.Duration(math.Exp(sums[0] / draws))
	if times > 0 {
		heavy = time.Duration(math.Exp(sums[1] / draws))
	}
	return light, heavy
}

// cost is the mean cost of a call of the stream.
func (s Stream) cost(at time.Duration) float64 {
	mean := 1.0
	if len(s.Heavy) > 0 {
		h := s.Heavy.At(at)
		mean = 1 - h + h*s.Times
	}
	if s.Cost > 0 {
		mean *= s.Cost
	}
	return mean
}

// draw draws the cost of a call.
func (s Stream) draw(r *rand.Rand, at time.Duration) float64 {
	cost := 1.0
	if len(s.Heavy) > 0 && r.Float64() < s.Heavy.At(at) {
		cost = s.Times
	}
	if s.Cost > 0 {
		cost *= s.Cost
	}
	return cost
}

// Ideal returns how many calls a clairvoyant could serve in time between two times: at each moment
// what comes, or what the backend can do, whichever is less.
func (w Workload) Ideal(from, to time.Duration) float64 {
	const step = time.Millisecond
	sum := 0.0
	for at := from; at < to; at += step {
		calls, work := 0.0, 0.0
		for i, s := range w.Streams {
			if s.Foreign || w.First && i > 0 {
				continue
			}
			r := s.Rate.At(at) * step.Seconds() / float64(len(w.Nodes))
			calls += r
			work += r * s.cost(at)
		}
		for _, n := range w.Nodes {
			could := n.Capacity() * n.Speed.At(at) * min(n.Up.At(at), 1) * step.Seconds()
			if work > could {
				sum += calls * could / work
			} else {
				sum += calls
			}
		}
	}
	return sum
}
