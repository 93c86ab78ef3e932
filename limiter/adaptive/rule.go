package adaptive

import (
	"math"
	"time"

	"github.com/spillway-go/spillway"
)

// rule is how a limit moves: delay-target AIMD with errors. It is a pure function of
// what is known and of what was seen since, so that it can be tested as a table and
// fuzzed. The scheme is Swift's (SIGCOMM 2020): many senders, one bottleneck, an
// absolute target that all have in common; with a floor from Little's law in place of a
// minimum, and a pace in place of a window below one.
type rule struct {
	low, high float64                       // bounds of the limit; low > 0
	targets   [spillway.MeterLabels]float64 // latencies in nanoseconds, by class; 0: learned
}

// state is all that is known between two windows.
type state struct {
	limit    float64
	healthy  float64       // permits in use, on average, while all was well
	peak     float64       // the most in use lately
	latency  float64       // mean latency of what was done, in nanoseconds; 0 before the first
	watched  time.Duration // how long all was well, as far as it matters to healthy
	starting bool          // no decrease yet
	fallen   bool          // the last decrease was for errors or silence
	doubles  int           // how often the gap was doubled
	wall     float64       // the limit at which calls were answered with overload; 0 if it isn't known
	refs     [spillway.MeterLabels]reference
}

// window is what was seen between two updates.
type window struct {
	span    time.Duration
	ok      int                               // calls that the backend did
	errors  int                               // calls that say it is overloaded
	fast    int                               // of these, answers: those that did not time out
	wasted  float64                           // the share of the permits' time that those took, 0 to 1
	neutral int                               // calls that say nothing of it
	class   [spillway.MeterLabels]classWindow // of calls with a latency, by class
	sum     float64                           // of the latencies of those calls that were done, in nanoseconds
	busy    float64                           // permits in use on average, by Little's law
	peak    int                               // the most permits in use
	full    bool                              // somebody found no room
	silent  bool                              // nothing came back though something is under way
}

type classWindow struct {
	n   int
	log float64 // the sum of the logarithms of the latencies, in nanoseconds
}

// next returns what is known after a window, and what was decided on which grounds.
func (r *rule) next(s state, w window) (state, Change) {
	ch := Change{From: s.limit, Samples: w.ok + w.errors, InUse: w.peak}
	r.learn(&s, &w)
	v := r.read(&s, &w)
	ch.Ratio, ch.Tolerance, ch.Errors = v.ratio, v.tolerance, v.errors
	binding := w.full || float64(w.peak) >= bindingShare*math.Max(1, math.Floor(s.limit))
	well := !binding && ch.Errors == 0 && !w.silent && ch.Ratio < 1+healthyShare*(ch.Tolerance-1)
	s.remember(&w, well)
	ch.Healthy = s.healthy
	limit := s.limit
	switch {
	case w.silent:
		// With one call under way that isn't answered, nothing more goes in.
		limit, ch.Cause = max(limit*(1-errorCut), min(limit, 1)), Silence
	case ch.Errors > errorNoise:
		limit, ch.Cause = limit*(1-w.errorCut(ch.Errors)), Errors
		s.wall = 0
		if w.fast > 0 && w.wasted < wallWaste {
			s.wall = s.limit
		}
	case v.slow:
		floor := min(limit, floorOverHealthy*s.healthy)
		cut := limit * max(latencyKeep, 1-latencyCut*(ch.Ratio-ch.Tolerance)/ch.Ratio)
		limit, ch.Cause = max(cut, floor), Latency
	case ch.Samples > 0 && binding && v.ratio <= v.tolerance:
		limit, ch.Cause = r.grown(&s, ch.Ratio, ch.Tolerance)
	case limit > headroom*s.peak+1:
		limit, ch.Cause = max(limit*headroomKeep, headroom*s.peak+1), Idle
	}
	limit = min(max(limit, r.low), r.high)
	s.note(ch.Cause, limit, r.low)
	s.limit, ch.To = limit, limit
	return s, ch
}

// grown returns a higher limit, and why.
func (r *rule) grown(s *state, ratio, tolerance float64) (float64, Cause) {
	limit, ease := s.limit, min(1, max(0, (tolerance-ratio)/(tolerance-1)))
	next, cause := limit, Growth
	switch {
	case s.fallen && limit < s.healthy && ease > startEase:
		leap := s.healthy / 2
		if limit < 1 {
			leap = 1 // on the word of a single call
		}
		next, cause = min(max(2*limit, leap), s.healthy), Recovery
	case limit < 1 && ease > freeEase:
		next = limit * pacedGrowth
	case limit < 1:
		next = limit + ease*pacedAdd
	case s.starting && ease > startEase:
		next = limit * startGrowth
	case ease > freeEase:
		next = limit * (1 + freeGrowth*ease)
	default:
		next = limit + ease*min(addMost, addBase+limit*addShare)
	}
	if cause == Growth && s.wall > 0 && next > wallNear*s.wall {
		next = min(next, max(limit*wallGrowth, wallNear*s.wall))
		if next > s.wall/wallNear {
			s.wall = 0
		}
	}
	return min(next, max(limit, headroom*s.peak+1)), cause
}

// errorCut returns by which share errors lower the limit. Answers lower it by the share
// of the permits that they kept in use: what is left is what the backend did accept.
// (Their number would say too much: they are quick.) Timeouts lower it by their number.
func (w *window) errorCut(share float64) float64 {
	fast := float64(w.fast) / float64(w.ok+w.errors)
	cut := errorCut * (share - fast) / errorFull
	if fast > errorNoise {
		cut += errorLeast + w.wasted
	}
	return min(cut, errorCut)
}

// note keeps what the next window has to know of a decision.
func (s *state) note(c Cause, limit, low float64) {
	switch c {
	case Silence, Errors:
		s.starting, s.fallen = false, true
		if limit <= low && limit < 1 {
			s.doubles = min(s.doubles+1, maxGapDoubles)
		}
	case Latency:
		s.starting, s.doubles = false, 0
	default:
		s.doubles = 0
		if limit >= s.healthy {
			s.fallen = false
		}
	}
}

// remember takes the window into the averages.
func (s *state) remember(w *window, well bool) {
	if w.ok > 0 {
		mean := w.sum / float64(w.ok)
		if s.latency == 0 {
			s.latency = mean
		}
		s.latency += latencyMemory * (mean - s.latency)
	}
	// What nobody called in says nothing: only the time that was watched counts.
	span := min(w.span, longWindow)
	if well && w.ok > 0 {
		memory := healthyDown
		if w.busy > s.healthy {
			memory = healthyUp
		}
		// At first it is the plain average of all that was seen.
		s.watched = min(s.watched+span, healthyDown)
		memory = min(memory, s.watched)
		s.healthy += (w.busy - s.healthy) * fade(span, memory)
	}
	s.peak -= s.peak * fade(span, peakMemory)
	s.peak = max(s.peak, float64(w.peak))
}

// fade is the weight of a span in an average with that memory.
func fade(span, memory time.Duration) float64 {
	return 1 - math.Exp(-float64(max(span, 0))/float64(memory))
}

// toleranceOf returns by how much a latency may exceed its reference.
func toleranceOf(limit float64) float64 {
	return toleranceBase + toleranceSmall/math.Sqrt(max(limit, toleranceFloor))
}

// gap returns the pause between two calls that a limit below one stands for.
func (s *state) gap() time.Duration {
	if s.limit >= 1 || s.limit <= 0 {
		return 0
	}
	d := s.latency * (1/s.limit - 1) * float64(int(1)<<s.doubles)
	return time.Duration(min(max(d, 1), float64(maxGap)))
}

// permits is the whole number of permits that a limit stands for.
func (s *state) permits() int { return max(1, int(s.limit)) }

// length returns how long a window should be: long enough for a decision to see its own
// effect.
func (s *state) length() time.Duration {
	return min(max(time.Duration(windowLatencies*s.latency), minWindow), maxWindow)
}

// need returns how many samples a window should have, and after how long it is judged
// without them.
func (s *state) need() (samples int, longest time.Duration) {
	switch {
	case s.limit < 1 && s.fallen:
		return pacedSamples, longSmallWindow
	case s.limit < smallLimit:
		return smallWindowSamples, longSmallWindow
	default:
		return windowSamples, longWindow
	}
}

// enough reports whether a window can be judged: it has its samples, or is as long as it
// may be, or what it says is bad beyond doubt.
func (r *rule) enough(s *state, w *window) bool {
	if w.span < s.length() {
		return false
	}
	n, longest := s.need()
	if w.ok+w.errors >= n || w.span >= longest {
		return true
	}
	v := r.read(s, w)
	return v.errors >= errorFull || v.slow
}

// view is what a window says.
type view struct {
	ratio     float64 // how many times their references the latencies are
	tolerance float64 // what it may be
	slow      bool    // whether it is more, beyond doubt
	errors    float64 // the share of overload signals; 0 if there are too few to tell
}

// read returns what a window says. A few slow calls, or a single error, are chance.
func (r *rule) read(s *state, w *window) view {
	v := view{ratio: r.ratio(s, w), tolerance: toleranceOf(s.limit)}
	n, all := float64(w.ok+w.errors), 0
	need, _ := s.need()
	excess := math.Log(v.ratio / v.tolerance)
	v.slow = excess > 0 && (n >= float64(need) || n*excess*excess >= sure*sure)
	all = w.fast
	// A call that timed out is an error if the latencies say so, too, or if half of all
	// did: else it is the tail of a backend that is well, which a smaller limit wouldn't
	// shorten.
	if v.slow || float64(w.errors-w.fast) >= timeoutSure*n {
		all = w.errors
	}
	if all >= sureErrors || all > 0 && s.limit < 1 && s.fallen {
		v.errors = float64(all) / n
	}
	return v
}

// silence returns after how long without an answer the backend stands still. In the gap
// between two calls there is nothing to answer.
func (s *state) silence() time.Duration {
	return s.gap() + min(max(time.Duration(silentLatencies*s.latency), minSilence), maxSilence)
}

// sound tells a state that can be trusted from one that can't.
func (s *state) sound(r *rule) bool {
	values := []float64{s.limit, s.healthy, s.peak, s.latency, s.wall}
	for i := range s.refs {
		values = append(values, s.refs[i].value, s.refs[i].log)
	}
	for _, v := range values {
		if !(v >= 0 && v <= math.MaxFloat64) { // NaN too
			return false
		}
	}
	return s.limit >= r.low && s.limit <= r.high
}
