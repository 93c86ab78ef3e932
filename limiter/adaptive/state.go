package adaptive

import (
	"cmp"
	"math"
	"time"

	"github.com/spillway-go/spillway"
)

// state is all that is known between two windows.
type state struct {
	limit    float64
	healthy  float64                       // permits in use, on average, while all was well
	watched  time.Duration                 // for how long it was, as far as it matters
	well     int                           // calls that were done since it is
	peak     float64                       // the most permits in use lately
	latency  float64                       // the mean latency of what was done, in nanoseconds; 0 before the first
	took     [spillway.MeterLabels]float64 // the same, by class
	starting bool                          // the limit was never too high yet
	fallen   bool                          // errors or silence lowered it, and it isn't back where all was well
	doubles  int                           // how often the gap was doubled
	wall     float64                       // the limit at which calls were answered with overload; 0 if it isn't known
	refs     [spillway.MeterLabels]reference
	again    remeasure
}

// remember takes a window into the averages. well says that all was well in it.
func (s *state) remember(w *window, well bool) {
	usual(&s.latency, w.sum, w.ok)
	for i := range w.class {
		usual(&s.took[i], w.class[i].sum, w.class[i].ok)
	}
	// What nobody called in says nothing: only the time that was watched counts.
	span := min(w.span, longWindow)
	if s.well += w.ok; !well {
		s.well = 0
	}
	// A limit that was just raised isn't full at once, whatever comes.
	if w.ok > 0 && s.well >= min(int(s.limit), windowSamples) && well {
		s.again.tries, s.again.helpless = 0, false
		memory := healthyDown
		if w.busy > s.healthy {
			memory = healthyUp
		}
		// At first it is the plain average of all that was seen.
		s.watched = min(s.watched+span, healthyDown)
		s.healthy += (w.busy - s.healthy) * fade(span, min(memory, s.watched))
	}
	s.peak = max(s.peak*(1-fade(span, peakMemory)), float64(w.peak))
}

// usual takes n latencies with that sum into their mean.
func usual(mean *float64, sum float64, n int) {
	if n == 0 {
		return
	}
	now := sum / float64(n)
	if *mean == 0 || now < *mean {
		*mean = now // what hung for a minute is over
	}
	*mean += latencyMemory * (now - *mean)
}

// fade is the weight of a span in an average with that memory.
func fade(span, memory time.Duration) float64 {
	if span <= 0 {
		return 0
	}
	return 1 - math.Exp(-float64(span)/float64(memory))
}

// note keeps what the next window has to know of a decision.
func (s *state) note(c Cause, low float64) {
	switch c {
	case Silence, Errors:
		// Before anything has come back nobody knows what is too high.
		s.starting, s.fallen = s.starting && s.latency == 0, true
		if s.limit <= low && s.limit < 1 {
			s.doubles = min(s.doubles+1, maxGapDoubles)
		}
	case Latency:
		s.starting, s.doubles = false, 0
	default:
		s.doubles = 0
		s.fallen = s.fallen && s.limit < s.healthy
	}
}

// permits is the whole number of permits that the limit stands for.
func (s *state) permits() int { return max(1, int(s.limit)) }

// gap returns the pause between two calls that a limit below one stands for: L calls at a
// time on average are one, and 1/L - 1 latencies without.
func (s *state) gap() time.Duration {
	if s.limit >= 1 || s.limit <= 0 {
		return 0
	}
	d := s.latency * (1/s.limit - 1) * float64(int(1)<<s.doubles)
	return time.Duration(min(max(d, 1), float64(maxGap)))
}

// length returns how long a window should be.
func (s *state) length() time.Duration {
	return min(max(time.Duration(windowLatencies*s.latency), minWindow), maxWindow)
}

// need returns how many samples a window should have, and after how long it is judged
// without them.
func (s *state) need() (samples int, longest time.Duration) {
	switch {
	case s.limit < 1 && s.fallen:
		return fallenSamples, longSmallWindow
	case s.limit < smallLimit:
		return smallWindowSamples, longSmallWindow
	default:
		return windowSamples, longWindow
	}
}

// silence returns after how long without an answer the backend stands still, if calls
// take that long; 0 is not known. In the gap between two calls there is nothing to answer.
func (s *state) silence(latency float64) time.Duration {
	if latency == 0 {
		return s.gap() + blindSilence
	}
	least := minSilence
	if s.limit >= calmLimit {
		least = calmSilence
	}
	most := max(maxSilence, time.Duration(min(soonLatencies*latency, float64(longestSilence))))
	return s.gap() + min(max(time.Duration(min(silentLatencies*latency, float64(longestSilence))), least), most)
}

// expected is how long a call of the class takes, in nanoseconds; 0 if nobody knows yet.
func (r *rule) expected(s *state, w *window, class int) float64 {
	return cmp.Or(s.took[class], w.class[class].mean(), r.targets[class])
}

// sound tells a state that can be trusted from one that can't.
func (s *state) sound(r *rule) bool {
	sane := func(v float64) bool { return v >= 0 && v <= math.MaxFloat64 } // no NaN either
	for i := range s.refs {
		if !sane(s.refs[i].value) || !sane(s.refs[i].log) || !sane(s.took[i]) {
			return false
		}
	}
	return sane(s.healthy) && sane(s.peak) && sane(s.latency) && sane(s.wall) &&
		s.limit >= r.low && s.limit <= r.high
}
