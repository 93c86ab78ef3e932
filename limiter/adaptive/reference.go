package adaptive

import "math"

// reference is what the latency of a class is while the backend has room: a geometric
// mean, because a few slow calls must not move it.
type reference struct {
	value float64 // nanoseconds; 0 until it is known
	n     int     // samples of the batch under way
	log   float64 // and the sum of their logarithms
	half  bool    // the limit was half used at most, and nothing failed, throughout the batch
}

// ratio returns how many times what they should be the latencies of a window are, all
// calls together; 1 if there is nothing to go by. It is a ratio of sums and not a mean of
// ratios: a call that waits behind a slow one waits longer than it takes itself, without
// the backend being full.
func (r *rule) ratio(s *state, w *window) float64 {
	var took, want float64
	for i := range w.class {
		c, ref := &w.class[i], r.reference(s, i)
		if c.n == 0 || ref == 0 {
			continue
		}
		took += float64(c.n) * math.Exp(c.log/float64(c.n))
		want += float64(c.n) * ref
	}
	if want == 0 {
		return 1
	}
	return took / want
}

// reference returns what the latency of a class should be, in nanoseconds; 0 if nobody
// knows yet.
func (r *rule) reference(s *state, class int) float64 {
	if r.targets[class] > 0 {
		return r.targets[class] / targetOverReference
	}
	return s.refs[class].value
}

// learn takes a window into the references of the classes that have no target.
func (r *rule) learn(s *state, w *window) {
	half := w.errors == 0 && float64(w.peak) < learnUse*s.limit
	for i := range w.class {
		if c := &w.class[i]; c.n > 0 && r.targets[i] == 0 {
			s.refs[i].learn(c, half)
		}
	}
}

// learn takes the samples of a window into the batch, and the batch into the value.
func (f *reference) learn(c *classWindow, half bool) {
	if f.n == 0 {
		f.half = true
	}
	f.n += c.n
	f.log += c.log
	f.half = f.half && half
	need := learnSamples
	if f.value == 0 {
		need = learnFirst
	}
	if f.n < need {
		return
	}
	mean := math.Exp(f.log / float64(f.n))
	switch {
	case f.value == 0:
		f.value = mean
	case mean < f.value:
		f.value += learnDown * (mean - f.value)
	case f.half:
		f.value += learnUp * (mean - f.value)
	}
	f.n, f.log = 0, 0
}
