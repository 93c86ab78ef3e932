package permittest

import (
	"slices"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// Model is what a core should be. It must be made by [New]. All times are counted from
// then on.
type Model struct {
	opts   permit.Options
	now    time.Duration
	stats  permit.Stats // but for what is derived from the lists
	queue  []waiter     // the oldest first
	holds  []*Hold      // what is out, in the order of the grants
	ghosts []ghost      // by their ends, those of one moment in the order of their beginnings
	flow   flow
	pace   pace

	maxWeight int

	// Answers are those given since they were last asked for, to calls that had to wait.
	Answers map[int]Answer
	// Warned are the holds that were told to have been too long.
	Warned []Hold
}

// Answer is what a call got.
type Answer struct {
	Text      string             // "ok", or the type of its error
	Rejection spillway.Rejection // its error, if it was refused
	Hold      *Hold              // what it holds; nil if nothing was counted
}

// Hold is what a call has been given.
type Hold struct {
	Weight int
	Since  time.Duration
}

type waiter struct {
	id, weight int
	since      time.Duration
	until      time.Duration // the end of the longest wait; 0 for never
	deadline   time.Duration // the end of its context; 0 for never
}

type ghost struct {
	weight int
	until  time.Duration
}

// New returns a model of a core with these options. Calls are timed all of them: that is
// what a core does with Sample 1, or if it tracks its holders.
func New(opts permit.Options) *Model {
	return &Model{
		opts:    opts,
		stats:   permit.Stats{Name: opts.Name, Limit: opts.Limit, Mode: opts.Mode},
		Answers: map[int]Answer{},
	}
}

// Call is a call of weight n, beside fewer than room others if it has to wait; its
// context ends at deadline, if that isn't 0. waits says that there is no answer yet: it
// will be found in Answers under id.
func (m *Model) Call(id, n, room int, deadline time.Duration) (a Answer, waits bool) {
	st := &m.stats
	takes, ok := m.takes(n)
	switch {
	case st.Closed:
		return m.closed(), false
	case st.Mode == spillway.Off:
		return Answer{Text: "ok"}, false
	case st.Mode == spillway.RefuseAll:
		return m.refuse(spillway.ReasonRefuseAll, 0), false
	case st.Mode == spillway.Shadow:
		if n < 1 || st.InUse+n > st.Limit {
			st.WouldRefuse++
		}
		return m.admit(max(n, 0)), false
	case !ok:
		st.Invalid++
		return Answer{Text: "invalid_weight"}, false
	case len(m.queue) == 0 && m.fits(takes) && m.due():
		return m.admit(takes), false
	case room <= 0 && len(m.queue) == 0 && m.fits(takes):
		return m.refuse(spillway.ReasonPaced, 0), false
	case room <= 0:
		return m.refuse(spillway.ReasonLimit, 0), false
	case len(m.queue) >= room:
		m.remind()
		return m.refuse(spillway.ReasonQueueFull, 0), false
	case m.hopeless(takes, deadline):
		m.remind()
		return m.refuse(spillway.ReasonPredicted, 0), false
	}
	if len(m.queue) == 0 {
		m.flow.begin(m.now)
	}
	w := waiter{id: id, weight: n, since: m.now, deadline: deadline}
	if m.opts.MaxWait > 0 {
		w.until = m.now + m.opts.MaxWait
	}
	m.queue = append(m.queue, w)
	if m.opts.Newest {
		m.serve()
	}
	return a, true
}

// Full reports whether a call of weight n would have to wait, or be refused, but for a
// pace.
func (m *Model) Full(n int) bool {
	st := &m.stats
	takes, ok := m.takes(n)
	return st.Mode == spillway.Enforce && !st.Closed && ok && st.Pace == 0 && (len(m.queue) > 0 || !m.fits(takes))
}

// Lend is a call of somebody else's, that keep permits must be left of.
func (m *Model) Lend(n, keep int) (a Answer, ok bool) {
	st := &m.stats
	if st.Mode != spillway.Enforce || st.Closed || st.Pace > 0 || n < 1 || len(m.queue) > 0 || st.InUse+n+keep > st.Limit {
		return a, false
	}
	return m.admit(n), true
}

// Brief says whether calls are known to need no more than d.
func (m *Model) Brief(d time.Duration) bool { return m.flow.samples >= first && m.flow.service <= d }

// Learn is a call that held a permit of another model.
func (m *Model) Learn(d time.Duration) { m.flow.observe(d) }

// CountCanceled is a call whose context is done.
func (m *Model) CountCanceled() { m.stats.Canceled++ }

// CountInvalid is a call that nothing bounds.
func (m *Model) CountInvalid() { m.stats.Invalid++ }

func (m *Model) closed() Answer {
	m.stats.AfterClose++
	return Answer{Text: "closed"}
}

func (m *Model) admit(n int) Answer {
	m.stats.Admitted++
	m.stats.InUse += n
	m.pace.running = false
	h := &Hold{Weight: n, Since: m.now}
	m.holds = append(m.holds, h)
	return Answer{Text: "ok", Hold: h}
}

// refuse is a refusal after a wait.
func (m *Model) refuse(r spillway.Reason, wait time.Duration) Answer {
	m.stats.Refused[r]++
	e := spillway.Rejection{
		Component: m.opts.Component, Name: m.opts.Name, Reason: r,
		Limit: m.stats.Limit, Wait: wait, RetryAfter: max(m.opts.RetryAfter, m.stats.Pace),
	}
	switch r {
	case spillway.ReasonQueueFull:
		if m.opts.Room > 0 {
			e.Limit = m.opts.Room
		}
		e.RetryAfter = max(e.RetryAfter, m.flow.hint)
	case spillway.ReasonMaxWait, spillway.ReasonPredicted, spillway.ReasonDropped:
		e.RetryAfter = max(e.RetryAfter, m.flow.hint)
	default:
	}
	return Answer{Text: r.String(), Rejection: e}
}

// leave takes waiter i out of the queue.
func (m *Model) leave(i int) waiter {
	w := m.queue[i]
	busy := m.busy()
	m.queue = slices.Delete(m.queue, i, i+1)
	if len(m.queue) == 0 {
		m.flow.busy = busy
	}
	record(&m.stats.Wait, m.now-w.since)
	return w
}

// send answers waiter i with a refusal.
func (m *Model) send(i int, r spillway.Reason) {
	w := m.leave(i)
	m.Answers[w.id] = m.refuse(r, m.now-w.since)
}

// settle answers those in the queue that can be answered, and sheds.
func (m *Model) settle() {
	m.serve()
	for m.opts.Newest && len(m.queue) > 0 && m.shedAt() <= m.now {
		m.remind()
		m.send(0, spillway.ReasonDropped)
	}
}

// serve answers, one after the other, those that can be answered.
func (m *Model) serve() {
	st := &m.stats
	for len(m.queue) > 0 {
		i := 0
		if m.opts.Newest {
			i = len(m.queue) - 1
		}
		w := m.queue[i]
		takes := w.weight
		if st.Mode == spillway.Enforce {
			takes, _ = m.takes(w.weight)
		}
		switch {
		case st.Closed:
			m.leave(i)
			m.Answers[w.id] = m.closed()
			continue
		case st.Mode == spillway.RefuseAll:
			m.send(i, spillway.ReasonRefuseAll)
			continue
		case st.Mode == spillway.Off:
			m.leave(i)
			m.Answers[w.id] = Answer{Text: "ok"}
			continue
		case st.Mode == spillway.Shadow:
			if st.InUse+takes > st.Limit {
				st.WouldRefuse++
			}
		case !m.fits(takes) || !m.due():
			return
		case m.tooLate(w):
			m.remind()
			m.send(i, spillway.ReasonPredicted)
			continue
		}
		m.flow.launched = m.now
		m.leave(i)
		m.Answers[w.id] = m.admit(takes)
	}
}

// End gives back what an answer holds, or leaves it to a ghost for d.
func (m *Model) End(a Answer, o spillway.Outcome, d time.Duration) {
	if a.Hold == nil {
		return
	}
	m.stats.Ended[o]++
	m.over(a.Hold, o, d)
}

// Abort is End for a call that a panic went through.
func (m *Model) Abort(a Answer) {
	if a.Hold == nil {
		return
	}
	m.stats.Aborted++
	m.over(a.Hold, spillway.OutcomeUnknown, 0)
}

func (m *Model) over(h *Hold, o spillway.Outcome, d time.Duration) {
	age := m.now - h.Since
	m.holds = slices.DeleteFunc(m.holds, func(have *Hold) bool { return have == h })
	record(&m.stats.Hold, age)
	if m.opts.Estimate {
		m.learn(age, o)
	}
	if m.opts.Track != spillway.TrackOff && m.opts.HoldWarn > 0 && age >= m.opts.HoldWarn {
		m.Warned = append(m.Warned, Hold{h.Weight, age})
	}
	if d > 0 {
		m.haunt(h.Weight, d)
		return
	}
	m.back(h.Weight)
	m.rest()
	m.settle()
}

// back is permits that come back.
func (m *Model) back(n int) {
	m.stats.InUse -= n
	if len(m.queue) > 0 {
		m.flow.released(n, m.now, m.busy())
	}
}

// timedOut is the answer to a call whose context ended because its time was over.
const timedOut = "deadline_exceeded"

// Cancel ends the context of a call; ok is false if it doesn't wait.
func (m *Model) Cancel(id int) (ok bool) { return m.gone(id, "canceled") }

func (m *Model) gone(id int, text string) (ok bool) {
	at := slices.IndexFunc(m.queue, func(w waiter) bool { return w.id == id })
	if at < 0 {
		return false
	}
	m.leave(at)
	m.stats.Canceled++
	if text == timedOut {
		m.stats.TimedOut++
	}
	m.Answers[id] = Answer{Text: text}
	m.settle()
	return true
}

// SetLimit changes the limit.
func (m *Model) SetLimit(n int) {
	switch {
	case n > m.stats.Limit:
		m.stats.Raised++
	case n < m.stats.Limit:
		m.stats.Lowered++
	}
	m.stats.Limit = n
	m.sift()
	m.settle()
}

// SetMode changes the mode.
func (m *Model) SetMode(mode spillway.Mode) {
	if mode != m.stats.Mode {
		m.stats.Mode = mode
		m.rest()
	}
	m.settle()
}

// Close refuses everybody from now on.
func (m *Model) Close() {
	m.stats.Closed = true
	m.settle()
}
