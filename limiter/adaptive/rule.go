package adaptive

import "github.com/spillway-go/spillway"

// rule is how a limit moves: delay-target AIMD with errors. It is a pure function of
// what is known and of what was seen since, so that it can be tested as a table and
// fuzzed. The scheme is Swift's (SIGCOMM 2020): many senders, one bottleneck, an
// absolute target that all have in common, and a pace in place of a window below one;
// with a floor from Little's law, so that a backend that has become slower isn't starved.
type rule struct {
	low, high float64                       // bounds of the limit; low > 0
	targets   [spillway.MeterLabels]float64 // latencies in nanoseconds, by class; 0: learned
	static    float64                       // the limit that an operator gave
	shadow    bool                          // nobody goes by the limit
}

// next returns what is known after a window, and what was decided on which grounds.
func (r *rule) next(s state, w window) (state, Change) {
	r.learn(&s, &w)
	v := r.read(&s, &w)
	// A limit that was in use says nothing of what the callers need when all is well.
	well := !v.binding && !w.silent && v.errors == 0 && v.ratio < 1+healthyShare*(v.tolerance-1)
	s.remember(&w, well)
	ch := Change{
		From: s.limit, Ratio: v.ratio, Tolerance: v.tolerance, Errors: v.errors,
		Healthy: s.healthy, Samples: w.samples(), InUse: w.peak,
	}
	limit := s.limit
	switch {
	case w.silent:
		// With one call under way that isn't answered, nothing more goes in.
		limit, ch.Cause = max(limit*(1-errorCut), min(limit, 1)), Silence
	case v.errors > errorNoise:
		limit, ch.Cause = limit*(1-w.errorCut(v.errors)), Errors
		s.wall = 0
		if w.fast > 0 && w.wasted < wallWaste {
			s.wall = s.limit
		}
	case s.again.from > 0:
		limit, ch.Cause = r.try(&s, &w, v), Remeasure
	case v.slow:
		cut := max(latencyKeep, 1-latencyCut*(v.ratio-v.tolerance)/v.ratio)
		limit, ch.Cause = max(limit*cut, min(limit, r.floor(&s))), Latency
	case v.binding && w.samples() > 0 && v.ratio <= v.tolerance:
		limit, ch.Cause = s.grown(v)
	case limit > headroom*s.peak+1:
		limit, ch.Cause = max(limit*headroomKeep, headroom*s.peak+1), Idle
	}
	if ch.Cause != Remeasure {
		limit, ch.Cause = r.hold(&s, &w, v, limit, ch.Cause)
	}
	s.limit = min(max(limit, r.low), r.high)
	s.note(ch.Cause, r.low)
	ch.To = s.limit
	return s, ch
}

// grown returns a higher limit, and why.
func (s *state) grown(v view) (float64, Cause) {
	ease := (v.tolerance - v.ratio) / (v.tolerance - 1)
	ease = min(max(ease, 0), 1)
	limit, cause := s.limit, Growth
	var next float64
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
