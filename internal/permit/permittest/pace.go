package permittest

import (
	"slices"
	"time"

	"github.com/spillway-go/spillway"
)

// pace is when the last permit came back. While calls aren't paced it says nothing.
type pace struct {
	landed  time.Duration
	running bool // whether it is that none is under way, so that the gap runs
}

// takes is how many permits a call of weight n takes; ok is false if it is too heavy.
func (m *Model) takes(n int) (takes int, ok bool) {
	return min(n, m.stats.Limit), n >= 1 && n <= max(m.stats.Limit, m.maxWeight)
}

// fits reports whether n permits are free, and for a paced call all of them.
func (m *Model) fits(n int) bool {
	return m.stats.InUse+n <= m.stats.Limit && (m.stats.Pace == 0 || m.stats.InUse == 0)
}

// dueAt is when the next paced call may begin, if nothing is in use; ok is false while it
// isn't known.
func (m *Model) dueAt() (at time.Duration, ok bool) {
	return m.pace.landed + m.stats.Pace, m.pace.running
}

// due reports whether a call may begin for all the pace says.
func (m *Model) due() bool {
	at, ok := m.dueAt()
	return m.stats.Pace == 0 || ok && m.now >= at
}

// rest has the gap begin, unless there is a call under way.
func (m *Model) rest() {
	m.pace = pace{m.now, m.stats.InUse == m.stats.Ghosts}
}

// SetPace sets the gap.
func (m *Model) SetPace(gap time.Duration) {
	was := m.stats.Pace
	m.stats.Pace = gap
	if was == 0 {
		m.rest()
	}
	m.settle()
}

// SetMaxWeight sets up to which weight a call is clipped to the limit.
func (m *Model) SetMaxWeight(n int) {
	m.maxWeight = n
	m.sift()
	m.settle()
}

// sift sends away those who have become too heavy.
func (m *Model) sift() {
	heavy := func(w waiter) bool {
		_, ok := m.takes(w.weight)
		return !ok
	}
	for i := slices.IndexFunc(m.queue, heavy); i >= 0; i = slices.IndexFunc(m.queue, heavy) {
		m.send(i, spillway.ReasonLimitShrunk)
	}
}
