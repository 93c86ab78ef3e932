package adaptive

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
)

// gather takes in how calls ended, with atomics alone: two adds a call, on the cache
// line of its class. Whoever draws the window takes all out.
type gather struct {
	cells   []cell // by class
	longest int64  // nanoseconds that count of what a call held: with every permit in use the sum of them fits
	_       [64]byte
	peak    atomic.Int64 // most permits in use
	full    atomic.Bool  // somebody found no room
	unsaid  atomic.Int64 // overload signals that say nothing of latency
	wasted  atomic.Int64 // nanoseconds times weight that those took
	neutral atomic.Int64 // calls that say nothing of the node
	_       [64]byte
}

// cell holds the latencies of a class.
type cell struct {
	// High bits to low:
	//
	//	63 ...... 40   39 ........................... 0
	//	calls          sum of log2 of their latencies in 1/256
	//
	// A log2 is less than 64·256 = 2^14, so the sum of 2^24 calls fits. A window
	// with more than a few is drawn twice a second at least.
	logs     atomic.Uint64
	sum      atomic.Int64 // nanoseconds, without those that timed out
	held     atomic.Int64 // nanoseconds times weight, of all calls
	timeouts atomic.Int64 // calls that timed out

	// These are never taken out.
	open    atomic.Int64 // calls under way, as far as they are measured
	answers atomic.Int64 // calls whose end says that the backend is alive
	_       [16]byte
}

const (
	countShift = 40
	logMask    = 1<<countShift - 1
	logUnit    = 256
)

// prepare makes room for so many classes, for a guard of so many permits.
func (g *gather) prepare(classes, permits int) {
	g.cells, g.longest = make([]cell, classes), (1<<62)/int64(permits)
}

// log2 returns the binary logarithm of n in 1/256, at most 1/100 off: the exponent, and
// what the eight bits below the leading one say of the rest, bent by a parabola.
func log2(n uint64) uint64 {
	n = max(n, 1)
	e := uint64(bits.Len64(n) - 1)
	f := n << (63 - e) >> 55 & 0xff
	return e<<8 + f + f*(256-f)*89>>16
}

// cell returns the cell of a class.
func (g *gather) cell(label uint8) *cell {
	if int(label) < len(g.cells) {
		return &g.cells[label]
	}
	return &g.cells[0]
}

// leave counts a call out. One that was begun before anybody counted isn't in.
func (c *cell) leave() {
	for n := c.open.Load(); n > 0 && !c.open.CompareAndSwap(n, n-1); n = c.open.Load() {
	}
}

// add takes a call in that has ended.
func (g *gather) add(s *spillway.Sample) {
	c := g.cell(s.Label)
	c.leave()
	// Who goes away by himself says nothing of the backend; if he was alone and didn't wait
	// for it, then that nobody does.
	if s.Outcome != spillway.OutcomeLocal || s.InUse <= s.Weight && s.Took < minSilence {
		c.answers.Add(1)
	}
	took := min(int64(s.Took), int64(longestCall))
	held := min(took, g.longest) * int64(s.Weight)
	c.held.Add(held)
	if use := int64(s.InUse); use > g.peak.Load() {
		g.raise(use)
	}
	switch s.Outcome {
	case spillway.OutcomeOK, spillway.OutcomeLate:
		c.sum.Add(took)
	case spillway.OutcomeTimeout:
		took = int64(float64(took) * timeoutFactor)
		c.timeouts.Add(1)
	case spillway.OutcomeOverload, spillway.OutcomeNetwork:
		g.unsaid.Add(1)
		g.wasted.Add(held)
		return
	default:
		g.neutral.Add(1)
		return
	}
	c.logs.Add(1<<countShift + log2(uint64(took)))
}

func (g *gather) raise(use int64) {
	for old := g.peak.Load(); use > old && !g.peak.CompareAndSwap(old, use); old = g.peak.Load() {
	}
}

// read returns the window as it is.
func (g *gather) read(span time.Duration) window {
	return g.window(span, (*atomic.Int64).Load, (*atomic.Uint64).Load)
}

// draw takes everything out.
func (g *gather) draw(span time.Duration) window {
	w := g.window(span,
		func(a *atomic.Int64) int64 { return a.Swap(0) }, func(a *atomic.Uint64) uint64 { return a.Swap(0) })
	g.full.Store(false)
	return w
}

func (g *gather) window(span time.Duration, get func(*atomic.Int64) int64, logs func(*atomic.Uint64) uint64) window {
	w := window{
		span: span, peak: int(get(&g.peak)), full: g.full.Load(),
		fast: int(get(&g.unsaid)), neutral: int(get(&g.neutral)),
	}
	w.errors = w.fast
	var held float64
	for i := range g.cells {
		c := &g.cells[i]
		held += float64(get(&c.held))
		timeouts := int(get(&c.timeouts))
		l := logs(&c.logs)
		n := int(l >> countShift)
		w.class[i] = classWindow{
			n: n, log: float64(l&logMask) / logUnit * math.Ln2, ok: max(n-timeouts, 0), sum: float64(get(&c.sum)),
		}
		w.errors += timeouts
		w.ok += w.class[i].ok
		w.sum += w.class[i].sum
	}
	if wasted := float64(get(&g.wasted)); held > 0 {
		w.wasted = min(wasted/held, 1)
	}
	w.busy = held / float64(max(span, 1))
	return w
}
