package permittest

import (
	"math"
	"time"

	"github.com/spillway-go/spillway"
)

// The same numbers as the core's.
const (
	memory   = 50 * time.Millisecond  // how long the rate of releases remembers
	trust    = 50                     // after how many releases it is believed
	probe    = 50 * time.Millisecond  // after how long without a launch one is made
	fresh    = 100 * time.Millisecond // how long a hint is good for
	first    = 32                     // how many calls are known before an estimate is more than a guess
	standing = 100 * time.Millisecond // how long a new queue may stand
	patience = 5 * time.Millisecond   // and how long who waits in an old one
)

// flow is what is known of how permits come back while callers wait. It keeps every
// release there was.
type flow struct {
	busy     time.Duration // how long callers have been waiting, up to when the queue was empty last
	began    time.Duration // when the queue was empty last
	last     time.Duration // when permits came back last, or the queue began
	launched time.Duration // when a waiter was admitted last; 0 if none was
	releases []release
	service  time.Duration
	samples  int // of service
	hint     time.Duration
	hintAt   time.Duration
	hinted   bool
}

// release is permits that came back.
type release struct {
	busy   time.Duration // how long callers had been waiting by then
	weight int
}

func (f *flow) begin(now time.Duration) { f.began, f.last = now, now }

func (f *flow) released(n int, now, busy time.Duration) {
	f.releases = append(f.releases, release{busy, n})
	f.last = now
}

// learn has the estimate go by a call that was recorded: the first ones together say what
// a call takes.
func (m *Model) learn(d time.Duration, o spillway.Outcome) {
	if m.flow.samples++; m.flow.samples == first {
		m.flow.service = m.stats.Hold.Quantile(0.9)
		return
	}
	if o == spillway.OutcomeTimeout {
		d = d * 3 / 2
	}
	m.flow.observe(d)
}

// observe moves the estimate of the time of a call towards its ninth decile.
func (f *flow) observe(d time.Duration) {
	up, down := int64(float64(f.service)*0.05)+1, int64(float64(f.service)*0.05/9)+1
	switch {
	case f.service == 0:
		f.service = d
	case d > f.service:
		f.service = min(d, f.service+time.Duration(up))
	default:
		f.service = max(d, f.service-time.Duration(down))
	}
}

// busy is how long callers have been waiting, all the times together.
func (m *Model) busy() time.Duration {
	if len(m.queue) == 0 {
		return m.flow.busy
	}
	return m.flow.busy + m.now - m.flow.began
}

// waitFor is how long it will take until n permits have come back.
func (m *Model) waitFor(n int) time.Duration {
	f, busy := &m.flow, m.busy()
	fade := func(d time.Duration) float64 { return math.Exp(-float64(d) / float64(memory)) }
	rate := 0.0 // in permits per nanosecond of what is remembered
	for _, r := range f.releases {
		rate += float64(r.weight) * fade(busy-r.busy) / float64(memory)
	}
	each := float64(memory)
	if len(m.queue) > 0 {
		each = max(each, float64(m.now-f.last))
	}
	if rate > 0 {
		each = min(each, (1-fade(busy))/rate)
	}
	return time.Duration(min(float64(n)*each, float64(time.Hour)))
}

// weight is what all who wait will take together.
func (m *Model) weight() (sum int) {
	for _, w := range m.queue {
		sum += min(w.weight, m.stats.Limit)
	}
	return sum
}

// probing reports whether none was launched for so long that one has to be.
func (m *Model) probing() bool { return m.now-m.flow.launched >= probe }

// hopeless reports whether a call that comes now is predicted to be too late.
func (m *Model) hopeless(n int, deadline time.Duration) bool {
	if !m.opts.Predict || len(m.flow.releases) < trust || len(m.queue) == 0 && m.probing() {
		return false
	}
	if !m.opts.Newest {
		n += m.weight()
	}
	wait := m.waitFor(n)
	return m.opts.MaxWait > 0 && wait > m.opts.MaxWait || deadline != 0 && m.now+wait+m.flow.service > deadline
}

// tooLate reports whether a waiter who could be served now wouldn't be finished in time.
func (m *Model) tooLate(w waiter) bool {
	return m.opts.Predict && w.deadline != 0 && len(m.flow.releases) >= trust && !m.probing() &&
		m.now+m.flow.service > w.deadline
}

// remind makes the hint of the refusals anew, if it isn't fresh.
func (m *Model) remind() {
	f := &m.flow
	if m.opts.Room == 0 || len(f.releases) < trust || f.hinted && m.now-f.hintAt < fresh {
		return
	}
	f.hinted, f.hintAt = true, m.now
	f.hint = m.waitFor(m.weight() + 1).Round(time.Millisecond)
}

// shedAt is when the oldest has waited too long for a queue that serves the newest first.
func (m *Model) shedAt() time.Duration {
	since := m.queue[0].since
	return max(since+patience, min(m.flow.began, since)+standing)
}
