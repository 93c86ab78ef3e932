package observe

import (
	"iter"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/retry"
)

// Values of error.type that aren't the name of a reason.
const (
	errorCanceled = "canceled"
	errorClosed   = "closed"
	errorInvalid  = "invalid"
	errorFailed   = "failed"
	errorAborted  = "panic" // a panic, or Goexit
)

// Directions of a change of the limit.
const (
	limitIncrease = "increase"
	limitDecrease = "decrease"
)

// Points returns the values of the snapshot's metrics, in the order of the table, and
// then its own. A Detail has none. A count that has a place for each cause is there from
// the start, with 0, so that its first increase can be seen.
func (s Snapshot) Points() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		if s.Detail {
			return
		}
		w := &writer{yield: yield}
		switch {
		case s.Limiter != nil:
			s.limiterPoints(w)
		case s.Laned != nil:
			s.lanePoints(w)
		case s.Executor != nil:
			s.executorPoints(w)
		case s.Retry != nil:
			s.retryPoints(w)
		case s.Budget != nil:
			s.budgetPoints(w)
		case s.Lifecycle != nil:
			s.lifecyclePoints(w)
		case s.Registry != nil:
			s.registryPoints(w)
		}
		for _, p := range s.Own {
			w.add(p)
		}
	}
}

// writer yields points until somebody has had enough.
type writer struct {
	yield func(Point) bool
	done  bool
}

func (w *writer) add(p Point) { w.done = w.done || !w.yield(p) }

// value writes one value; the values of the attributes are in the order of the table, and
// an empty one is left out.
func (w *writer) value(r row, v float64, values ...string) {
	w.add(Point{Metric: table[r], Attributes: attributes(r, values), Value: v})
}

func (w *writer) times(r row, d *spillway.Distribution, values ...string) {
	w.add(Point{Metric: table[r], Attributes: attributes(r, values), Distribution: d})
}

func attributes(r row, values []string) []Attribute {
	all := make([]Attribute, 0, len(values))
	for i, v := range values {
		if v != "" {
			all = append(all, Attribute{table[r].Attributes[i], v})
		}
	}
	return all
}

// guard is what limiters and lanes have in common.
type guard struct {
	limit, inUse, ghosts                    int
	admitted, canceled, afterClose, invalid uint64
	refused                                 spillway.RefusalCounts
	reasons                                 []spillway.Reason // those that it can have
	wouldRefuse, aborted, raised, lowered   uint64
	ended                                   spillway.OutcomeCounts
	hold                                    *spillway.Distribution
}

func (s Snapshot) limiterPoints(w *writer) {
	l := s.Limiter
	s.guardPoints(w, guard{
		limit: l.Limit, inUse: l.InUse, ghosts: l.Ghosts,
		admitted: l.Admitted, canceled: l.Canceled, afterClose: l.AfterClose, invalid: l.Invalid,
		refused: l.Refused, reasons: []spillway.Reason{spillway.ReasonLimit, spillway.ReasonRefuseAll, spillway.ReasonPaced},
		wouldRefuse: l.WouldRefuse, aborted: l.Aborted, ended: l.Ended, raised: l.Raised, lowered: l.Lowered, hold: &l.Hold,
	})
}

func (s Snapshot) lanePoints(w *writer) {
	l := s.Laned
	s.guardPoints(w, guard{
		limit: l.Limit, inUse: l.InUse, ghosts: l.Ghosts,
		admitted: l.Admitted, canceled: l.Canceled, afterClose: l.AfterClose, invalid: l.Invalid,
		refused: l.Refused, reasons: everyReason(),
		wouldRefuse: l.WouldRefuse, aborted: l.Aborted, ended: l.Ended, raised: l.Raised, lowered: l.Lowered, hold: &l.Hold,
	})
	w.value(waiterCount, float64(l.Waiting), s.Name, s.Lane)
	w.value(waiterLimit, float64(l.MaxWaiting), s.Name, s.Lane)
	w.value(waiterOldest, l.OldestWait.Seconds(), s.Name, s.Lane)
	w.times(waitDuration, &l.Wait, s.Name, s.Lane)
}

func (s Snapshot) guardPoints(w *writer, g guard) {
	w.value(permitLimit, float64(g.limit), s.Name, s.Lane)
	w.value(limitChanges, float64(g.raised), s.Name, s.Lane, limitIncrease)
	w.value(limitChanges, float64(g.lowered), s.Name, s.Lane, limitDecrease)
	w.value(permitUsage, float64(g.inUse), s.Name, s.Lane)
	w.value(permitGhosts, float64(g.ghosts), s.Name, s.Lane)
	if age, ok := s.oldest(); ok {
		w.value(permitOldest, age.Seconds(), s.Name, s.Lane)
	}
	w.value(acquisitions, float64(g.admitted), s.Name, s.Lane)
	for _, r := range g.reasons {
		w.value(acquisitions, float64(g.refused.Of(r)), s.Name, s.Lane, r.String())
	}
	w.value(acquisitions, float64(g.canceled), s.Name, s.Lane, errorCanceled)
	w.value(acquisitions, float64(g.afterClose), s.Name, s.Lane, errorClosed)
	w.value(acquisitions, float64(g.invalid), s.Name, s.Lane, errorInvalid)
	w.value(shadowRefusals, float64(g.wouldRefuse), s.Name, s.Lane)
	for o, n := range g.ended {
		w.value(completions, float64(n), s.Name, s.Lane, spillway.Outcome(o).String())
	}
	w.value(completions, float64(g.aborted), s.Name, s.Lane, errorAborted)
	w.value(holdTime, g.hold.Sum.Seconds(), s.Name, s.Lane)
	w.value(holdSamples, float64(g.hold.Count), s.Name, s.Lane)
	w.times(holdDuration, g.hold, s.Name, s.Lane)
}

// oldest returns the age of the longest-held permit, if holders are tracked and there are
// any.
func (s Snapshot) oldest() (time.Duration, bool) {
	if s.Holders == nil {
		return 0, false
	}
	holders := s.Holders()
	if len(holders) == 0 {
		return 0, false
	}
	return holders[0].Age, true
}

// everyReason lists the reasons that there are.
func everyReason() []spillway.Reason {
	all := make([]spillway.Reason, len(spillway.RefusalCounts{}))
	for i := range all {
		all[i] = spillway.Reason(i)
	}
	return all
}

func (s Snapshot) executorPoints(w *writer) {
	e := s.Executor
	w.value(queueSize, float64(e.Depth), s.Name)
	w.value(queueCapacity, float64(e.Capacity), s.Name)
	w.value(queueOldest, e.Oldest.Seconds(), s.Name)
	w.value(submitterCount, float64(e.Parked), s.Name)
	w.value(workerCount, float64(e.Busy), s.Name, "busy")
	w.value(workerCount, float64(e.Idle), s.Name, "idle")
	w.value(workerLimit, float64(e.Workers), s.Name)
	w.value(submissions, float64(e.Submitted), s.Name)
	taskPoints(w, e)
	w.value(lateTasks, float64(e.Late), s.Name)
	w.value(lostItems, float64(e.LostItems), s.Name)
	w.times(taskWait, &e.Wait, s.Name)
	w.times(taskRun, &e.Run, s.Name)
}

// taskPoints writes what became of tasks: what their operation ended with, or why it
// wasn't begun.
func taskPoints(w *writer, e *deadline.Stats) {
	for o, n := range e.Ended {
		kind := spillway.Outcome(o).String()
		if spillway.Outcome(o) == spillway.OutcomeOK {
			kind = "" // success has no error.type
		}
		w.value(tasks, float64(n), e.Name, kind)
	}
	for r, n := range e.Refused {
		w.value(tasks, float64(n), e.Name, spillway.Reason(r).String())
	}
	w.value(tasks, float64(e.Aborted), e.Name, errorAborted)
	w.value(tasks, float64(e.Canceled), e.Name, errorCanceled)
	w.value(tasks, float64(e.AfterClose), e.Name, errorClosed)
	w.value(tasks, float64(e.Invalid), e.Name, errorInvalid)
}

func (s Snapshot) retryPoints(w *writer) {
	r := s.Retry
	for i := range r.Ended {
		reason, once := retry.StopReason(i), r.Ended[i]-r.Retried[i]
		kind := reason.String()
		if reason == retry.StopSuccess {
			kind = ""
		}
		if reason == retry.StopCanceled {
			once += r.Canceled // those that were canceled before the first attempt
		}
		w.value(retryOperations, float64(once), s.Name, kind, "false")
		w.value(retryOperations, float64(r.Retried[i]), s.Name, kind, "true")
	}
	w.value(retryOperations, float64(r.Invalid), s.Name, errorInvalid, "false")
	w.value(retryOperations, float64(r.Aborted), s.Name, errorAborted)
	w.value(retryAttempts, float64(r.Originals), s.Name, "original")
	w.value(retryAttempts, float64(r.Retries), s.Name, "retry")
	w.value(retryWaiting, float64(r.BackingOff), s.Name)
	w.times(retryDelay, &r.Delays, s.Name)
}

func (s Snapshot) budgetPoints(w *writer) {
	b := s.Budget
	w.value(budgetLimit, float64(b.Burst), s.Name)
	w.value(budgetAvailable, b.Available, s.Name)
	w.value(budgetRetries, float64(b.Granted), s.Name)
	w.value(budgetRetries, float64(b.Denied), s.Name, "budget_exhausted")
}
