package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
)

// Kind is what a verdict comes to. The zero Kind is Idle.
type Kind uint8

// The kinds, from the harmless to those that need somebody.
const (
	Idle        Kind = iota // nothing is going on
	Busy                    // work is going on as it should; callers may wait a little
	LimitTight              // calls are refused while the backend answers as fast as ever
	BackendSlow             // permits are held longer than they used to be
	Leaking                 // permits are held that nobody will give back, by the look of it
	Stuck                   // no permit comes back while callers want some
)

var kindNames = [...]string{"idle", "busy", "limit tight", "backend slow", "leaking", "stuck"}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Verdict is what two snapshots of a guard say.
type Verdict struct {
	Kind   Kind   // the diagnosis
	Reason string // why, in words, with the numbers
}

// Thresholds say from where on something is the matter. The zero Thresholds find nothing
// but LimitTight; see [DefaultThresholds].
type Thresholds struct {
	// Baseline is the median of the hold times when all is well. Zero means what the guard
	// had measured when the first of the two snapshots was taken.
	Baseline time.Duration
	// SlowFactor is how many times the baseline the median of the hold times must be for
	// the backend to be slow. Zero means that it never is.
	SlowFactor float64
	// MinHolds is how many hold times must have been measured between the snapshots, and
	// before them for a baseline of the guard's own, to go by them. One call in 64 is
	// measured, of those that have waited in a lane one in 16.
	MinHolds uint64
	// StuckAfter is how long no permit may come back while callers want some. If the
	// baseline times SlowFactor is longer, that counts. Zero means for ever.
	StuckAfter time.Duration
	// LeakAfter is how long a permit may be held. Without tracked holders it is how long
	// permits may be in use while nothing at all happens. Zero means for ever.
	LeakAfter time.Duration
	// TightShare is the share of calls refused from which on the limit is too tight, from
	// 0 to 1. Zero means that one refusal is enough.
	TightShare float64
}

// DefaultThresholds returns those that fit calls of milliseconds: slow at twice the
// baseline, with ten measurements; stuck after 30 s, a leak after 5 minutes, a limit too
// tight from one call refused in a hundred.
func DefaultThresholds() Thresholds {
	return Thresholds{
		SlowFactor: 2, MinHolds: 10, StuckAfter: 30 * time.Second, LeakAfter: 5 * time.Minute, TightShare: 0.01,
	}
}

// Judge says what is the matter with a guard, from two snapshots of it and nothing else.
// The first of these that holds is the verdict:
//
//   - Stuck: callers wait, or were refused with every permit in use, and no permit has come
//     back for StuckAfter: a deadlock, or a backend that hangs.
//   - Leaking: permits are held for LeakAfter while others come and go.
//   - BackendSlow: the median of the hold times is SlowFactor times the baseline, whether
//     calls are refused or not, or nothing has ended for ten times as long: a higher limit
//     would make it worse.
//   - LimitTight: at least TightShare of the calls were refused for want of a permit, or
//     waited for one until their deadline, and the hold times are as ever, or unknown.
//   - Busy: something is going on. Callers that wait are contention, no fault.
//   - Idle: nothing is.
//
// What isn't later than before, or isn't the same guard, is judged by now alone. Judge is
// safe for concurrent use.
func Judge(before, now Sample, t Thresholds) Verdict {
	if !follows(before, now) {
		before = now
	}
	c := comparison{
		before: before, now: now, t: t, window: now.At.Sub(before.At),
		hold:    now.Hold.Sub(before.Hold),
		turned:  turnedAway(now) - turnedAway(before) + now.WouldRefuse - before.WouldRefuse,
		arrived: now.Admitted - before.Admitted,
		away:    "were turned away",
	}
	if would := now.WouldRefuse - before.WouldRefuse; would > 0 && would == c.turned { // mode Shadow
		c.away = "would have been turned away"
	}
	c.baseline = t.Baseline
	if c.baseline == 0 && before.Hold.Count >= max(t.MinHolds, 1) {
		c.baseline = before.Hold.Quantile(0.5)
	}
	c.quiet = quiet(before, now)
	for _, find := range []func() (Verdict, bool){c.stuck, c.leaking, c.slow, c.tight} {
		if v, found := find(); found {
			return v
		}
	}
	return c.rest()
}

// silentFactor is how much longer than a slow call it takes for silence to say that the
// backend is slow, while there are no hold times to go by, because nothing has ended.
const silentFactor = 10

// quiet is for how long nothing has happened to the permits in use. An idle guard isn't
// quiet: what begins after a long night isn't stuck in its first moment.
func quiet(before, now Sample) time.Duration {
	switch {
	case now.Released != before.Released || now.Admitted != before.Admitted:
		return min(now.Quiet, now.At.Sub(before.At)) // whatever the holders say
	case before.InUse == 0 || now.InUse == 0:
		return now.Quiet
	}
	return max(now.Quiet, before.Quiet+now.At.Sub(before.At))
}

// comparison is what the findings go by.
type comparison struct {
	before, now     Sample
	t               Thresholds
	window, quiet   time.Duration
	hold            spillway.Distribution // of the window
	baseline        time.Duration         // 0: unknown
	turned, arrived uint64                // turned away for want of a permit, and admitted, in the window
	away            string                // whether the former really were
}

// turnedAway counts what a higher limit would have prevented: refusals, and calls that
// waited until their time was over.
func turnedAway(s Sample) uint64 {
	c := s.Refused
	return c.Of(spillway.ReasonLimit) + c.Of(spillway.ReasonQueueFull) + c.Of(spillway.ReasonMaxWait) +
		c.Of(spillway.ReasonPredicted) + c.Of(spillway.ReasonDropped) + c.Of(spillway.ReasonPaced) + s.TimedOut
}

// wanted reports whether callers want permits that they don't get.
func (c comparison) wanted() bool {
	return c.now.Waiting > 0 || c.turned > 0 && c.now.available() == 0
}

func (c comparison) stuck() (Verdict, bool) {
	limit := max(c.t.StuckAfter, time.Duration(c.t.SlowFactor*float64(c.baseline)))
	if c.t.StuckAfter == 0 || c.quiet < limit || c.now.InUse == 0 || !c.wanted() {
		return Verdict{}, false
	}
	return Verdict{Stuck, fmt.Sprintf(
		"no permit has come back for %v, %d of %d are in use, %d callers wait and %d %s: a deadlock or a backend that hangs%s",
		short(c.quiet), c.now.InUse, c.now.Limit, c.now.Waiting, c.turned, c.away, oldest(c.now.Holders))}, true
}

func (c comparison) leaking() (Verdict, bool) {
	if c.t.LeakAfter == 0 {
		return Verdict{}, false
	}
	held := 0
	for _, h := range c.now.Holders {
		if h.Age >= c.t.LeakAfter {
			held++
		}
	}
	if held > 0 {
		return Verdict{Leaking, fmt.Sprintf("%s of %d in use have been held for %v or longer%s",
			atLeast(held, len(c.now.Holders)), c.now.InUse, short(c.t.LeakAfter), oldest(c.now.Holders))}, true
	}
	// Without holders a leak shows when all else is over. Ghosts go by themselves.
	lost := c.now.InUse - c.now.Ghosts
	if len(c.now.Holders) == 0 && lost > 0 && c.arrived == 0 && c.quiet >= c.t.LeakAfter {
		return Verdict{Leaking, fmt.Sprintf(
			"%d of %d permits are in use, though nothing was admitted and none came back for %v; track the holders to see whose they are",
			lost, c.now.Limit, short(c.quiet))}, true
	}
	return Verdict{}, false
}

func (c comparison) slow() (Verdict, bool) {
	silent := silentFactor * c.t.SlowFactor * float64(c.baseline)
	if silent > 0 && float64(c.quiet) >= silent && c.wanted() {
		return Verdict{BackendSlow, fmt.Sprintf("no permit has come back for %v, and to hold one for %v is usual; %d of %d are in use, %d callers wait%s",
			short(c.quiet), short(c.baseline), c.now.InUse, c.now.Limit, c.now.Waiting, oldest(c.now.Holders))}, true
	}
	if c.t.SlowFactor <= 0 || !c.known() || float64(c.median()) < c.t.SlowFactor*float64(c.baseline) {
		return Verdict{}, false
	}
	return Verdict{BackendSlow, fmt.Sprintf(
		"permits are held for %v, and %v is usual; %d of %d are in use, %d callers wait, %d of %d calls %s: the backend is slow, and a higher limit would load it more",
		short(c.median()), short(c.baseline), c.now.InUse, c.now.Limit, c.now.Waiting, c.turned, c.calls(), c.away)}, true
}

func (c comparison) tight() (Verdict, bool) {
	if c.turned == 0 || float64(c.turned) < c.t.TightShare*float64(c.calls()) {
		return Verdict{}, false
	}
	holds := "how long permits are held is not known well enough to say whether the backend is slow"
	if c.known() {
		holds = fmt.Sprintf("permits are held for %v, and %v is usual: the backend would bear more", short(c.median()), short(c.baseline))
	}
	return Verdict{LimitTight, fmt.Sprintf("%d of %d calls %s at a limit of %d; %s", c.turned, c.calls(), c.away, c.now.Limit, holds)}, true
}

func (c comparison) rest() Verdict {
	if c.now.InUse == 0 && c.now.Waiting == 0 && c.calls() == 0 {
		return Verdict{Idle, "nothing is going on"}
	}
	return Verdict{Busy, fmt.Sprintf("%d of %d permits are in use, %d callers wait, %d calls were admitted and %d %s in %v",
		c.now.InUse, c.now.Limit, c.now.Waiting, c.arrived, c.turned, c.away, short(c.window))}
}

// calls is how many calls came in the window. What Shadow would have refused was admitted.
func (c comparison) calls() uint64 {
	return c.arrived + turnedAway(c.now) - turnedAway(c.before)
}

// known reports whether the hold times can be compared with a baseline.
func (c comparison) known() bool {
	return c.baseline > 0 && c.hold.Count >= max(c.t.MinHolds, 1)
}

func (c comparison) median() time.Duration { return c.hold.Quantile(0.5) }

// short rounds a duration to three digits, which is what one wants to read.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// atLeast is a number that may be only that of those in a list.
func atLeast(n, listed int) string {
	if n == listed {
		return fmt.Sprintf("at least %d", n)
	}
	return fmt.Sprint(n)
}

// oldest names the oldest holder, if there is one.
func oldest(hs []spillway.Holder) string {
	if len(hs) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "; the oldest is held for %v", short(hs[0].Age))
	if hs[0].Site != "" {
		b.WriteString(" by " + hs[0].Site)
	}
	return b.String()
}
