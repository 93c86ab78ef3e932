package permittest

import (
	"cmp"
	"slices"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// Now returns the time that has gone by.
func (m *Model) Now() time.Duration { return m.now }

// Advance lets time go by, event by event. Contexts must not end in a moment in which
// anything else does: which comes first is open then.
func (m *Model) Advance(d time.Duration) {
	end := m.now + d
	for {
		at, id := m.next()
		if at == 0 || at > end {
			m.now = end
			return
		}
		m.now = at
		if id != 0 {
			m.gone(id, timedOut)
			continue
		}
		m.tick()
	}
}

// next returns when something happens next, and to which call if it is the end of its
// context. It is 0 if nothing ever will.
func (m *Model) next() (at time.Duration, id int) {
	sooner := func(t time.Duration, call int) {
		if t != 0 && (at == 0 || t < at) {
			at, id = t, call
		}
	}
	if len(m.ghosts) > 0 {
		sooner(m.ghosts[0].until, 0)
	}
	if len(m.queue) > 0 && m.opts.Newest {
		sooner(m.shedAt(), 0)
	}
	if due, ok := m.dueAt(); ok && len(m.queue) > 0 && m.stats.Pace > 0 && m.stats.InUse == 0 {
		sooner(due, 0)
	}
	for _, w := range m.queue {
		sooner(w.until, 0)
		sooner(w.deadline, w.id)
	}
	return at, id
}

// tick is all that falls into this moment: ghosts end, and then waits.
func (m *Model) tick() {
	ended, back := 0, 0
	for len(m.ghosts) > 0 && m.ghosts[0].until <= m.now {
		ended, back = ended+1, back+m.ghosts[0].weight
		m.ghosts = m.ghosts[1:]
	}
	if ended > 0 {
		m.stats.Ghosts -= back
		m.back(back)
	}
	m.serve()
	for len(m.queue) > 0 && m.queue[0].until != 0 && m.queue[0].until <= m.now {
		m.remind()
		m.send(0, spillway.ReasonMaxWait)
		m.serve() // it may have stood in front of somebody who fits
	}
	m.settle()
}

// haunt leaves what has been given back in use for d.
func (m *Model) haunt(n int, d time.Duration) {
	m.stats.GhostsTotal++
	m.stats.Ghosts += n
	m.ghosts = append(m.ghosts, ghost{n, m.now + d})
	m.rest()
	slices.SortStableFunc(m.ghosts, func(a, b ghost) int { return cmp.Compare(a.until, b.until) })
}

// Drained reports whether a Close would have returned.
func (m *Model) Drained() bool { return m.stats.Closed && m.stats.InUse == m.stats.Ghosts }

// Stats returns what the core's should be.
func (m *Model) Stats() permit.Stats {
	st := m.stats
	st.Waiting, st.WaitWeight = len(m.queue), m.weight()
	st.Service, st.RetryAfter = m.flow.service, max(m.opts.RetryAfter, m.stats.Pace)
	if len(m.queue) > 0 {
		st.OldestWait = m.now - m.queue[0].since
		st.RetryAfter = max(st.RetryAfter, m.flow.hint)
	}
	return st
}

// Holders returns what is out, the oldest first, with its age in the place of its
// beginning.
func (m *Model) Holders() []Hold {
	var all []Hold
	for _, h := range m.holds {
		all = append(all, Hold{h.Weight, m.now - h.Since})
	}
	return all
}

// record counts a duration.
func record(dist *spillway.Distribution, d time.Duration) {
	dist.Count++
	dist.Sum += d
	dist.Buckets[spillway.DistributionBucket(d)]++
}
