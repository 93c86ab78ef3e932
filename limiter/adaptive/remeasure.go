package adaptive

import (
	"math"
	"time"
)

// A reference can be wrong for good: the backend was moved to another zone, or its records
// have grown, and each call takes three times as long with room to spare. Then latency keeps
// the limit at its floor, and what the backend would do is refused. So after a while there
// the limit is lowered once more, for a moment: if calls take too long with a third of them
// under way, it isn't their number that makes them slow. A reference that was learned is
// raised to what they take; beside a target, which is the operator's, the limit is lowered no
// further than to the static one, which is, too. Envoy's gradient controller finds its
// minimum anew after five windows at its least concurrency, and BBR has its ProbeRTT.

// remeasure is what is known on the way there.
type remeasure struct {
	held     time.Duration // for how long latency has kept the limit at its floor
	n        int           // samples since then, or in the trial
	log      float64       // the sum of the logarithms of their ratios
	tries    int           // trials since all was well
	helpless bool          // lowering the limit was found not to help, and targets can't be raised
	from     float64       // the limit to go back to; 0 if no trial is under way
	early    int           // calls of before the trial that may still end
	long     time.Duration // how long the trial has taken
}

// floor is what latency alone doesn't lower the limit below.
func (r *rule) floor(s *state) float64 {
	least := floorOverHealthy * s.healthy
	if s.again.helpless {
		return max(least, r.static)
	}
	return least
}

// hold looks whether latency alone has kept a limit at its floor for so long that the
// references are in doubt, and returns the limit and the cause; as they were, if not.
func (r *rule) hold(s *state, w *window, v view, limit float64, cause Cause) (float64, Cause) {
	m := &s.again
	if cause == Silence || cause == Errors {
		m.reset()
		return limit, cause
	}
	m.take(w, v, limit <= max(r.floor(s), r.low))
	if r.shadow || m.held < remeasureAfter<<min(m.tries, remeasureDoubles) || m.n < remeasureFew {
		return limit, cause
	}
	low := max(limit*remeasureShare, r.low, 1)
	switch {
	case limit < 2: // one at a time has nothing to wait behind
		if m.tries++; r.relearn(s, v.tolerance) {
			if limit = math.Floor(limit) + 1; m.helpless {
				limit = max(limit, r.static)
			}
			return limit, Remeasure
		}
	case low > limit*remeasureLeast:
		m.reset()
	default:
		*m = remeasure{tries: m.tries + 1, helpless: m.helpless, from: limit, early: max(int(limit), w.peak)}
		return low, Remeasure
	}
	return limit, cause
}

// try takes a window of a trial, and returns the limit to go on with: the one before, once
// enough was seen.
func (r *rule) try(s *state, w *window, v view) float64 {
	m := &s.again
	m.long += w.span
	if m.early > 0 {
		m.early -= w.samples()
	} else {
		m.add(w, v)
	}
	// Slow calls take their time, which it has as long as somebody wants more.
	long := m.long >= remeasureLongest && (m.n >= remeasureFew || !v.binding)
	if m.n < remeasureSamples && !long {
		return s.limit
	}
	from := m.from
	if m.n >= remeasureFew {
		r.relearn(s, toleranceOf(from))
	}
	if m.reset(); m.helpless {
		return max(from, r.static)
	}
	return from
}

// relearn draws the conclusion from what was seen, and reports whether that was more than is
// tolerated. It raises all classes by one factor, and by what chance may have made of it,
// too: what is too high then goes down with the next samples, and what is too low stays.
func (r *rule) relearn(s *state, tolerance float64) bool {
	m := &s.again
	n := max(m.n, 1)
	ratio := math.Exp(m.log / float64(n))
	m.reset()
	m.helpless = false
	switch {
	case ratio <= tolerance:
		return false
	case r.aimed():
		m.helpless = true
	default:
		ratio *= math.Exp(chance / math.Sqrt(float64(n)))
		for i := range s.refs {
			s.refs[i] = reference{value: s.refs[i].value * ratio}
		}
	}
	return true
}

// aimed reports whether an operator gave a target.
func (r *rule) aimed() bool {
	for _, target := range r.targets {
		if target > 0 {
			return true
		}
	}
	return false
}

// take takes a window in; held says that the limit is at its floor. A window that isn't slow,
// or finds the limit elsewhere, takes back as much as one that is adds: a few are chance.
func (m *remeasure) take(w *window, v view, held bool) {
	switch {
	case w.samples() == 0:
		return
	case held && v.ratio > v.tolerance:
		m.held += w.span
	default:
		if m.held -= w.span; m.held <= 0 {
			m.reset()
			return
		}
	}
	m.add(w, v)
}

func (m *remeasure) add(w *window, v view) {
	n := w.samples()
	m.n += n
	m.log += float64(n) * math.Log(v.ratio)
}

// reset begins anew, and keeps what trials have said.
func (m *remeasure) reset() { *m = remeasure{tries: m.tries, helpless: m.helpless} }
