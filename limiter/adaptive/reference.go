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

// ratio returns how many times their references the latencies of a window are, over
// all classes; 1 if there is nothing to go by. Classes without a target learn.
func (r *rule) ratio(s *state, w *window) float64 {
	var sum, n float64
	half := w.errors == 0 && float64(w.peak) < learnUse*s.limit
	for i := range w.class {
		c := &w.class[i]
		if c.n == 0 {
			continue
		}
		ref := r.targets[i] / targetOverReference
		if ref == 0 {
			s.refs[i].learn(c, half)
			ref = s.refs[i].value
		}
		if ref == 0 {
			continue
		}
		mean := math.Exp(c.log / float64(c.n))
		sum += float64(c.n) * mean / ref
		n += float64(c.n)
	}
	if n == 0 {
		return 1
	}
	return sum / n
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
