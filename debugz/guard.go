package debugz

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/watch"
)

// guarded is the use of a guard: a limiter, a lane, or an executor, whose workers are its
// permits and whose queued jobs are the callers that wait.
type guarded struct {
	Mode       string    `json:"mode"`
	Closed     bool      `json:"closed"`
	Limit      int       `json:"limit"`
	InUse      int       `json:"in_use"`
	Ghosts     int       `json:"ghosts"`
	Waiting    int       `json:"waiting"`
	MaxWaiting int       `json:"max_waiting"`
	OldestWait seconds   `json:"oldest_wait_seconds"`
	OldestHeld seconds   `json:"oldest_held_seconds"`
	Full       seconds   `json:"saturated_for_seconds"` // 0: it isn't
	Admitted   perSecond `json:"admitted_per_second"`
	Refused    perSecond `json:"refused_per_second"`
	Refusals   []part    `json:"refusals,omitempty"` // by reason, the most frequent first
	Outcomes   []part    `json:"outcomes,omitempty"` // by class, in the order of the classes
	LastRefuse seconds   `json:"last_refusal_seconds"`
	Usual      seconds   `json:"usual_hold_seconds"` // the median while all was well
	Hold       spread    `json:"hold"`
	Wait       *spread   `json:"wait,omitempty"` // nil: nobody may wait
	Tracked    bool      `json:"holders_tracked"`
	Holders    []holder  `json:"holders,omitempty"` // the oldest first
	More       int       `json:"more_holders,omitempty"`
	Sites      []site    `json:"holders_by_site,omitempty"` // all of them, where the oldest is first
	MoreSites  int       `json:"more_sites,omitempty"`
}

// part is a part of a count.
type part struct {
	Name  string    `json:"name"`
	Now   perSecond `json:"per_second"`
	Total uint64    `json:"total"`
}

// spread is how long things took.
type spread struct {
	Median seconds `json:"p50_seconds"`
	High   seconds `json:"p99_seconds"`
	Count  uint64  `json:"count"`
	Recent bool    `json:"recent"` // in the last moments; false: since the component began
}

// counts are what the three kinds of guards have in common beyond a watch.Sample.
type counts struct {
	mode       spillway.Mode
	closed     bool
	maxWaiting int
	refused    spillway.RefusalCounts
	ended      spillway.OutcomeCounts
	aborted    uint64
	hold       spillway.Distribution
	wait       *spillway.Distribution
	more       facts
}

func countsOf(s observe.Snapshot) (counts, bool) {
	switch {
	case s.Limiter != nil:
		l := s.Limiter
		return counts{
			mode: l.Mode, closed: l.Closed, refused: l.Refused, ended: l.Ended, aborted: l.Aborted, hold: l.Hold,
			more: facts{
				{"admitted", l.Admitted},
				{"canceled", l.Canceled},
				{"after close", l.AfterClose},
				{"invalid", l.Invalid},
				{"would refuse", l.WouldRefuse},
				{"ghosts in all", l.GhostsTotal},
			},
		}, true
	case s.Laned != nil:
		l := s.Laned
		return counts{
			mode: l.Mode, closed: l.Closed, maxWaiting: l.MaxWaiting, refused: l.Refused, ended: l.Ended, aborted: l.Aborted,
			hold: l.Hold, wait: &l.Wait,
			more: facts{
				{"admitted", l.Admitted},
				{"canceled", l.Canceled},
				{"after close", l.AfterClose},
				{"invalid", l.Invalid},
				{"would refuse", l.WouldRefuse},
				{"ghosts in all", l.GhostsTotal},
				{"borrowed now", l.Borrowed},
				{"borrowed in all", l.BorrowedTotal},
				{"lent in all", l.Lent},
				{"a call needs", secondsOf(l.Service)},
				{"retry after", secondsOf(l.RetryAfter)},
			},
		}, true
	case s.Executor != nil:
		e := s.Executor
		return counts{
			mode: e.Mode, closed: e.Closed, maxWaiting: e.Capacity + e.MaxSubmitters, refused: e.Refused, ended: e.Ended,
			aborted: e.Aborted, hold: e.Run, wait: &e.Wait,
			more: facts{
				{"submitted", e.Submitted},
				{"queued", e.Depth},
				{"queue", e.Capacity},
				{"parked", e.Parked},
				{"canceled", e.Canceled},
				{"after close", e.AfterClose},
				{"invalid", e.Invalid},
				{"late", e.Late},
				{"items lost", e.LostItems},
				{"would refuse", e.WouldRefuse},
			},
		}, true
	}
	return counts{}, false
}

// guard fills in what there is to say about a guard.
func (s *subject) guard(e *entry, it *item, w windows, cfg *Config) {
	c, _ := countsOf(it.snapshot)
	now := s.sample
	g := &guarded{
		Mode: c.mode.String(), Closed: c.closed, Limit: now.Limit, InUse: now.InUse, Ghosts: now.Ghosts,
		Waiting: now.Waiting, MaxWaiting: c.maxWaiting, OldestWait: secondsOf(now.OldestWait), OldestHeld: unknown(),
		Full: seconds(0), Admitted: unknownRate(), Refused: unknownRate(), LastRefuse: unknown(), Usual: unknown(),
		Tracked: it.tracked && len(it.holders) > 0,
	}
	if usual := s.watched.Baseline(cfg.Thresholds); usual > 0 {
		g.Usual = secondsOf(usual)
	}
	if !s.full.IsZero() {
		g.Full = secondsOf(now.At.Sub(s.full))
	}
	if !s.refusal.IsZero() {
		g.LastRefuse = secondsOf(now.At.Sub(s.refusal))
	}
	s.hold(g, it.holders, cfg.Holders)
	var then counts
	before, known := w.rate.of(it.id)
	if known {
		then, _ = countsOf(before)
		g.Admitted = w.perSecond(now.Admitted, watch.SampleOf(before).Admitted)
		g.Refused = w.perSecond(c.refused.Total(), then.refused.Total())
	}
	for r, n := range c.refused {
		if n > 0 {
			g.Refusals = append(g.Refusals, part{spillway.Reason(r).String(), w.rateOf(known, n, then.refused[r]), n})
		}
	}
	slices.SortStableFunc(g.Refusals, byRate)
	for o, n := range c.ended {
		if n > 0 {
			g.Outcomes = append(g.Outcomes, part{spillway.Outcome(o).String(), w.rateOf(known, n, then.ended[o]), n})
		}
	}
	if c.aborted > 0 {
		g.Outcomes = append(g.Outcomes, part{"panic", w.rateOf(known, c.aborted, then.aborted), c.aborted})
	}
	g.spreads(c, it.id, w)
	e.Guard, e.Facts = g, c.more
	e.Use = &use{Of: "permits", Taken: float64(now.InUse), Limit: float64(now.Limit)}
	if it.snapshot.Executor != nil {
		e.Use.Of = "workers"
	}
}

// shedding is the finding of a guard whose mode turns calls away: those are no fault of its limit, so
// the verdict says nothing of them.
func (g *guarded) shedding(f finding) finding {
	for _, r := range g.Refusals {
		if f.level < warn && r.Name == spillway.ReasonRefuseAll.String() && r.Now > 0 {
			return finding{warn, urgentTight + 8, "shedding", fmt.Sprintf("%s calls are refused by mode %v: somebody has set it", r.Now, spillway.RefuseAll)}
		}
	}
	return f
}

// spreads says how long permits were held and waited for.
func (g *guarded) spreads(c counts, of id, w windows) {
	var then counts
	before, known := w.judge.of(of)
	if known {
		then, _ = countsOf(before)
	}
	g.Hold = spreadOf(c.hold, then.hold, known)
	if c.wait == nil {
		return
	}
	if then.wait == nil {
		then.wait = &spillway.Distribution{}
	}
	s := spreadOf(*c.wait, *then.wait, known)
	g.Wait = &s
}

// spreadOf is that of the last moments if anything was measured then, or else of all.
func spreadOf(now, before spillway.Distribution, known bool) spread {
	s := spread{Median: unknown(), High: unknown()}
	recent := now.Sub(before)
	s.Recent = known && recent.Count > 0
	for i, n := range before.Buckets {
		s.Recent = s.Recent && now.Buckets[i] >= n // else it is another one of that name
	}
	if !s.Recent {
		recent = now
	}
	if s.Count = recent.Count; s.Count > 0 {
		s.Median, s.High = secondsOf(recent.Quantile(0.5)), secondsOf(recent.Quantile(0.99))
	}
	return s
}

func unknownRate() perSecond { return perSecond(math.NaN()) }

// perSecond is how fast a count grew. It isn't known of one that went back: that is another
// one of the same name.
func (w windows) perSecond(now, before uint64) perSecond {
	if w.length <= 0 || now < before {
		return unknownRate()
	}
	return perSecond(float64(now-before) / w.length.Seconds())
}

// rateOf is the same for a component that may not have been there before.
func (w windows) rateOf(known bool, now, before uint64) perSecond {
	if !known {
		return unknownRate()
	}
	return w.perSecond(now, before)
}

// byRate puts the parts that grow fastest first, and of equals the biggest.
func byRate(a, b part) int {
	if fast := cmp.Compare(b.Now, a.Now); fast != 0 { // NaN is less than all else, and equal to itself
		return fast
	}
	return cmp.Compare(b.Total, a.Total)
}
