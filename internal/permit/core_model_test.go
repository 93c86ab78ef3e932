//go:build go1.25

package permit_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// modelMaxWait is no multiple of ten milliseconds, and ghosts end three after one,
// so that no two kinds of events ever fall together, nor do they with a look.
const (
	modelMaxWait    = 105 * time.Millisecond
	modelMaxWaiting = 4
)

// model is what a core should be: a list of who waits, a list of ghosts, and sums.
type model struct {
	now    time.Duration
	stats  permit.Stats // what a look should show
	queue  []modelWaiter
	ghosts []modelGhost
	// The answers given since they were last asked for.
	answers map[int]answer
}

type modelWaiter struct {
	id, weight int
	until      time.Duration
}

type modelGhost struct {
	weight int
	until  time.Duration
}

// answer is what a call got: "ok" or the type of its error. held is what it holds,
// if it was counted.
type answer struct {
	text    string
	counted bool
	held    int
}

func newModel(limit int) *model {
	return &model{stats: permit.Stats{Name: "test", Limit: limit}, answers: map[int]answer{}}
}

// call is a call of weight n that may wait if maxWaiting is above zero. waits says
// that there is no answer yet; it will come under id.
func (m *model) call(id, n, maxWaiting int) (a answer, waits bool) {
	st := &m.stats
	switch {
	case st.Closed:
		st.AfterClose++
		return answer{text: "closed"}, false
	case st.Mode == spillway.Off:
		return answer{text: "ok"}, false
	case st.Mode == spillway.RefuseAll:
		return m.refuse(spillway.ReasonRefuseAll), false
	case st.Mode == spillway.Shadow:
		if n < 1 || st.InUse+n > st.Limit {
			st.WouldRefuse++
		}
		return m.admit(max(n, 0)), false
	case n < 1 || n > st.Limit:
		st.Invalid++
		return answer{text: "invalid_weight"}, false
	case len(m.queue) == 0 && st.InUse+n <= st.Limit:
		return m.admit(n), false
	case maxWaiting == 0:
		return m.refuse(spillway.ReasonLimit), false
	case len(m.queue) >= maxWaiting:
		return m.refuse(spillway.ReasonQueueFull), false
	}
	m.queue = append(m.queue, modelWaiter{id, n, m.now + modelMaxWait})
	return a, true
}

func (m *model) admit(n int) answer {
	m.stats.Admitted++
	m.stats.InUse += n
	return answer{"ok", true, n}
}

func (m *model) refuse(r spillway.Reason) answer {
	m.stats.Refused[r]++
	return answer{text: r.String()}
}

// settle answers those in the queue that can be answered, from the head on.
func (m *model) settle() {
	st := &m.stats
	for len(m.queue) > 0 {
		w := m.queue[0]
		var a answer
		switch {
		case st.Closed:
			st.AfterClose++
			a = answer{text: "closed"}
		case st.Mode == spillway.RefuseAll:
			a = m.refuse(spillway.ReasonRefuseAll)
		case st.Mode == spillway.Off:
			a = answer{text: "ok"}
		case st.InUse+w.weight <= st.Limit:
			a = m.admit(w.weight)
		case st.Mode == spillway.Shadow:
			st.WouldRefuse++
			a = m.admit(w.weight)
		default:
			return
		}
		m.queue = m.queue[1:]
		m.answers[w.id] = a
	}
}

// end gives back what an answer holds, or leaves it to a ghost for d.
func (m *model) end(a answer, o spillway.Outcome, d time.Duration) {
	if !a.counted {
		return
	}
	m.stats.Ended[o]++
	if d <= 0 {
		m.stats.InUse -= a.held
		m.settle()
		return
	}
	m.stats.GhostsTotal++
	m.stats.Ghosts += a.held
	m.ghosts = append(m.ghosts, modelGhost{a.held, m.now + d})
	slices.SortStableFunc(m.ghosts, func(a, b modelGhost) int { return cmp.Compare(a.until, b.until) })
}

// cancel takes a waiter out of the queue; ok is false if it isn't there any more.
func (m *model) cancel(id int) (ok bool) {
	at := slices.IndexFunc(m.queue, func(w modelWaiter) bool { return w.id == id })
	if at < 0 {
		return false
	}
	m.queue = slices.Delete(m.queue, at, at+1)
	m.stats.Canceled++
	m.answers[id] = answer{text: "canceled"}
	m.settle()
	return true
}

func (m *model) setLimit(n int) {
	m.stats.Limit = n
	m.queue = slices.DeleteFunc(m.queue, func(w modelWaiter) bool {
		if w.weight > n {
			m.answers[w.id] = m.refuse(spillway.ReasonLimitShrunk)
		}
		return w.weight > n
	})
	m.settle()
}

func (m *model) setMode(mode spillway.Mode) {
	m.stats.Mode = mode
	m.settle()
}

func (m *model) close() {
	m.stats.Closed = true
	m.settle()
}

// drained reports whether a Close would have returned.
func (m *model) drained() bool { return m.stats.Closed && m.stats.InUse == m.stats.Ghosts }

// advance lets time go by, event by event.
func (m *model) advance(d time.Duration) {
	end := m.now + d
	for {
		ghost := len(m.ghosts) > 0 && m.ghosts[0].until <= end
		late := len(m.queue) > 0 && m.queue[0].until <= end
		switch {
		case ghost && (!late || m.ghosts[0].until < m.queue[0].until):
			g := m.ghosts[0]
			m.now, m.ghosts = g.until, m.ghosts[1:]
			m.stats.Ghosts -= g.weight
			m.stats.InUse -= g.weight
			// Ghosts that end at one moment end together.
			if len(m.ghosts) == 0 || m.ghosts[0].until > g.until {
				m.settle()
			}
		case late:
			w := m.queue[0]
			m.now, m.queue = w.until, m.queue[1:]
			m.answers[w.id] = m.refuse(spillway.ReasonMaxWait)
			m.settle()
		default:
			m.now = end
			return
		}
	}
}

// look is what the core's Stats should be now. How long the oldest waits is tested
// elsewhere.
func (m *model) look() permit.Stats {
	st := m.stats
	st.Waiting = len(m.queue)
	for _, w := range m.queue {
		st.WaitWeight += w.weight
	}
	return st
}
