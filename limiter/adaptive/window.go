package adaptive

import (
	"math"
	"time"

	"github.com/spillway-go/spillway"
)

// window is what was seen between two updates.
type window struct {
	span    time.Duration
	ok      int                               // calls that the backend did
	errors  int                               // calls that say it is overloaded
	fast    int                               // of these, answers: those that didn't time out
	neutral int                               // calls that say nothing of it
	class   [spillway.MeterLabels]classWindow // of ok and timed out calls, by class
	sum     float64                           // of the latencies of ok, in nanoseconds
	busy    float64                           // permits in use on average, by Little's law; not above peak
	wasted  float64                           // the share of that which fast had, 0 to 1
	peak    int                               // the most permits in use
	full    bool                              // somebody found no room
	silent  bool                              // nothing came back though something is under way
}

// classWindow are the latencies of a class.
type classWindow struct {
	n   int
	log float64 // the sum of their logarithms, in nanoseconds
	ok  int     // those that didn't time out
	sum float64 // of these, in nanoseconds
}

// mean is the mean latency of what was done, in nanoseconds; 0 if nothing was.
func (c *classWindow) mean() float64 { return c.sum / float64(max(c.ok, 1)) }

func (w *window) mean() float64 { return w.sum / float64(max(w.ok, 1)) }

// samples is how many calls say something of the backend.
func (w *window) samples() int { return w.ok + w.errors }

// view is what a window says to a state.
type view struct {
	ratio     float64 // how many times their references the latencies are
	tolerance float64 // what that may be
	slow      bool    // whether it is more, beyond doubt
	errors    float64 // the share of overload signals; 0 if there are too few to tell
	binding   bool    // whether the limit was in use
}

// read returns what a window says. A few slow calls, or a single error, are chance.
func (r *rule) read(s *state, w *window) view {
	v := view{ratio: r.ratio(s, w), tolerance: toleranceOf(s.limit)}
	v.binding = w.full || float64(w.peak) >= bindingShare*math.Max(1, math.Floor(s.limit))
	n := float64(w.samples())
	need, _ := s.need()
	if excess := math.Log(v.ratio / v.tolerance); excess > 0 {
		v.slow = w.samples() >= need || n*excess*excess >= sure*sure
	}
	signals := w.fast
	// A call that timed out is an error if the latencies say so, too, or if half of all
	// did. Else it is the tail of a backend that is well, which a smaller limit wouldn't
	// shorten.
	if v.slow || float64(w.errors-w.fast) >= timeoutSure*n {
		signals = w.errors
	}
	if signals >= sureErrors || signals > 0 && s.limit < 1 && s.fallen {
		v.errors = float64(signals) / n
	}
	return v
}

// enough reports whether a window can be judged: it is long enough for the decision
// before to have had its effect, and has its samples, or is as long as it may be, or what
// it says is bad beyond doubt, and something follows from it.
func (r *rule) enough(s *state, w *window) bool {
	if w.span < s.length() {
		return false
	}
	need, longest := s.need()
	if w.samples() >= need || s.again.early > 0 {
		return true
	}
	v := r.read(s, w)
	if w.span >= longest {
		// Too slow perhaps, but not beyond doubt, is nothing to go by: there it waits for more.
		return v.slow || v.errors > errorNoise || v.ratio <= v.tolerance || s.again.from > 0
	}
	return v.slow && s.limit > r.floor(s) || v.errors >= errorFull
}

// errorCut returns by which share errors lower the limit, if they are that share of the
// calls. Answers lower it by the share of the permits that they kept in use: what is left
// is what the backend did accept. (Their number would say too much: they are quick.)
// Timeouts lower it by their number.
func (w *window) errorCut(errors float64) float64 {
	fast := float64(w.fast) / float64(w.samples())
	cut := errorCut * (errors - fast) / errorFull
	if fast > errorNoise {
		cut += errorLeast + w.wasted
	}
	return min(cut, errorCut)
}

// toleranceOf returns how many times their references the latencies may be.
func toleranceOf(limit float64) float64 {
	return toleranceBase + toleranceSmall/math.Sqrt(max(limit, toleranceFloor))
}
