package watch

import (
	"time"

	"github.com/spillway-go/spillway"
)

// History is what it takes to judge one guard time and again: its last sample, and how
// long permits were held while all was well. The zero History has seen nothing. It is not
// safe for concurrent use.
type History struct {
	seen    bool
	last    Sample
	healthy spillway.Distribution
}

// Judge judges now against a sample before it, of its own last one if before is zero, and
// remembers now. Unless the thresholds say what the baseline is, it is the median of the
// hold times of all windows that were judged Busy or Idle; what a guard had measured when
// its history began counts among them. For how long nothing has happened to the permits
// is taken from the last sample, however long ago that was. A guard whose counts went back
// is another one of the same name: its history begins anew.
func (h *History) Judge(before, now Sample, t Thresholds) Verdict {
	if !h.seen || !follows(h.last, now) {
		*h = History{seen: true, last: now, healthy: now.Hold}
	}
	if before.At.IsZero() {
		before = h.last
	}
	now.Quiet = quiet(h.last, now)
	t.Baseline = h.Baseline(t)
	v := Judge(before, now, t)
	if v.Kind <= Busy {
		h.healthy = h.healthy.Add(now.Hold.Sub(h.last.Hold))
	}
	h.last = now
	return v
}

// Baseline is how long permits are usually held, as far as is known: what the thresholds
// say, or the median while all was well. It is 0 while too few holds were measured.
func (h *History) Baseline(t Thresholds) time.Duration {
	if t.Baseline == 0 && h.healthy.Count >= max(t.MinHolds, 1) {
		return h.healthy.Quantile(0.5)
	}
	return t.Baseline
}

// WithHolders returns the sample with the n oldest of all its holders, the oldest first,
// and with what they say about Quiet: if every permit is in the hands of a tracked holder,
// none has come back for as long as the youngest of them has held his. Where more are in use
// than the limit lets out, as after it was lowered, what comes back isn't given out again: so
// they say nothing.
func (s Sample) WithHolders(all []spillway.Holder, n int) Sample {
	held := 0
	for _, h := range all {
		held += h.Weight
	}
	if s.Limit > 0 && held >= s.Limit && s.InUse == s.Limit {
		s.Quiet = max(s.Quiet, all[len(all)-1].Age)
	}
	s.Holders = all[:min(max(n, 0), len(all))]
	return s
}

// follows reports whether now can be of the same guard as before, and later.
func follows(before, now Sample) bool {
	return now.At.After(before.At) && now.Component == before.Component && now.Name == before.Name &&
		now.Admitted >= before.Admitted && now.Released >= before.Released && now.WouldRefuse >= before.WouldRefuse &&
		grown(before.Refused[:], now.Refused[:]) && grown(before.Hold.Buckets[:], now.Hold.Buckets[:])
}

// grown reports whether no count went back.
func grown(before, now []uint64) bool {
	for i, n := range now {
		if n < before[i] {
			return false
		}
	}
	return true
}
