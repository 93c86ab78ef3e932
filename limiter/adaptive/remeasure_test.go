package adaptive

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// learning is a rule of which nobody said how long a call takes.
func learning(low float64) *rule { return &rule{low: low, high: 100} }

// held is a state at its floor, and the references that it has learned.
func held(limit float64) state {
	s := at(limit)
	s.healthy = limit / floorOverHealthy
	s.refs[0].value = float64(ref)
	return s
}

// slowly has the rule see windows in which calls take so many times what they did, until it
// looks whether it is the limit's fault, and returns after how long that was.
func slowly(r *rule, s *state, ratio float64) (ch Change, after time.Duration) {
	for ch.Cause != Remeasure && after < time.Hour {
		*s, ch = r.next(*s, calls(100, ratio).used(s.permits()))
		after += minWindow
	}
	return ch, after
}

// G-ADA-4, D13: a reference that is wrong is found out: calls take as long with few of them
// under way.
func TestRuleMeasuresAnew(t *testing.T) {
	r, s := learning(0.1), held(48)
	ch, after := slowly(r, &s, 3)
	require.Equal(t, []float64{48, 16}, []float64{ch.From, ch.To})
	require.InDelta(t, remeasureAfter, after, float64(100*ms))
	s, ch = r.next(s, calls(500, 5).used(48))
	require.Equal(t, 16.0, ch.To, "calls of before are among them")
	s, ch = r.next(s, calls(remeasureSamples-1, 3).used(16))
	require.Equal(t, 16.0, ch.To, "too few")
	s, ch = r.next(s, calls(1, 3).used(16))
	require.Equal(t, []any{48.0, Remeasure}, []any{ch.To, ch.Cause})
	require.InDelta(t, 3*float64(ref)*math.Exp(chance/math.Sqrt(remeasureSamples)), s.refs[0].value, 1000)
	_, ch = r.next(s, calls(100, 3).used(48))
	require.Equal(t, []any{60.0, Growth}, []any{ch.To, ch.Cause}, "all is well")
}

// G-ADA-4: a reference that is right stays: with few under way calls take what they should.
// Each look is put off twice as long as the one before, until all was well.
func TestRuleMeasuresAnewAndFindsItselfRight(t *testing.T) {
	r, s := learning(0.1), held(48)
	wait := remeasureAfter
	for range remeasureDoubles + 3 {
		ch, after := slowly(r, &s, 3)
		require.Equal(t, 16.0, ch.To)
		require.InDelta(t, wait, after, float64(100*ms))
		s, _ = r.next(s, calls(100, 1).used(16))
		s, ch = r.next(s, calls(100, 1.1).used(16))
		require.Equal(t, []any{48.0, Remeasure}, []any{ch.To, ch.Cause})
		require.InDelta(t, float64(ref), s.refs[0].value, 0.2*float64(ref))
		s.refs[0] = reference{value: float64(ref)}
		wait = min(2*wait, remeasureAfter<<remeasureDoubles)
	}
	s, _ = r.next(s, calls(100, 1).used(3))
	_, after := slowly(r, &s, 3)
	require.InDelta(t, remeasureAfter, after, float64(200*ms), "all was well")
}

// One call at a time has nothing to wait behind: what it takes it takes.
func TestRuleMeasuresAnewWithOneAtATime(t *testing.T) {
	for _, limit := range []float64{0.4, 1, 1.7} {
		r, s := learning(0.1), held(limit)
		ch, _ := slowly(r, &s, 5)
		require.Equal(t, math.Floor(limit)+1, ch.To)
		require.InEpsilon(t, 5*float64(ref), s.refs[0].value, 0.02)
	}
}

// What a larger limit is tolerated decides, to which it goes back; and calls that were under way
// over the limit aren't those of a look either.
func TestRuleMeasuresAnewByTheLimitItGoesBackTo(t *testing.T) {
	for ratio, want := range map[float64]float64{1.63: 1, 1.7: 1.7} {
		r, s := learning(0.1), held(48)
		for s.again.from == 0 {
			s, _ = r.next(s, calls(100, 3).used(60))
		}
		s, _ = r.next(s, calls(50, 5).used(60))
		s, _ = r.next(s, calls(10, 5).used(60))
		require.Zero(t, s.again.n)
		s, ch := r.next(s, calls(1000, ratio).used(16))
		require.Equal(t, 48.0, ch.To)
		require.InEpsilon(t, want*float64(ref), s.refs[0].value, 0.1, "%v", ratio)
	}
}

// Few windows that are well between those that are slow are chance, many aren't.
func TestRuleMeasuresAnewDespiteChance(t *testing.T) {
	for well, want := range map[int]bool{1: true, 3: false} {
		r, s := learning(0.1), held(48)
		looked := false
		for i := range 4000 {
			ratio := 3.0
			if i%4 < well {
				ratio = 1.6 // neither well nor too slow
			}
			var ch Change
			s, ch = r.next(s, calls(100, ratio).used(48))
			looked = looked || ch.Cause == Remeasure
			s.limit = max(s.limit, 48)
		}
		require.Equal(t, want, looked, "%d of 4", well)
	}
}

// G-ADA-4: a target is the operator's, and so is the static limit: if lowering the limit
// doesn't help to keep the one, the other is in force, until all is well or lowering helps.
func TestRuleGoesBackToTheStaticLimitIfATargetCannotBeKept(t *testing.T) {
	for name, better := range map[string]window{"well": calls(100, 1).used(3), "tolerated with few": calls(100, 1.2).used(20)} {
		r, s := ruleFor(0.1, 100), held(48)
		r.static = 60
		ch, _ := slowly(r, &s, 3)
		require.Equal(t, 16.0, ch.To)
		s, _ = r.next(s, calls(100, 3).used(48))
		s, ch = r.next(s, calls(100, 2.9).used(16))
		require.Equal(t, []any{60.0, Remeasure}, []any{ch.To, ch.Cause})
		for range 50 {
			s, ch = r.next(s, calls(100, 5).used(60))
			require.Equal(t, 60.0, ch.To)
		}
		s, ch = r.next(s, calls(100, 1).refused(50, 1).used(60))
		require.Equal(t, []any{30.0, Errors}, []any{ch.To, ch.Cause}, "what is worse than slow goes on")
		s.limit, s.fallen = 60, false
		if name != "well" {
			ch, _ = slowly(r, &s, 3)
			require.Equal(t, 20.0, ch.To)
			s, _ = r.next(s, better)
		}
		s, _ = r.next(s, better)
		require.False(t, s.again.helpless, name)
		s, ch = r.next(s, calls(100, 50).used(60))
		require.Less(t, ch.To, 60.0, name)
		require.Zero(t, s.refs[1].value)
	}
	r, s := ruleFor(0.1, 100), held(0.5)
	r.static = 12
	ch, _ := slowly(r, &s, 9)
	require.Equal(t, 12.0, ch.To, "with one at a time there is nothing to try")
}

// What nobody obeys says nothing; and where the limit can't be lowered there is nothing to
// be seen.
func TestRuleMeasuresNothingAnewWhereItCannot(t *testing.T) {
	shadow := learning(0.1)
	shadow.shadow = true
	for name, r := range map[string]*rule{"shadow": shadow, "bound": learning(31)} {
		s := held(48)
		_, after := slowly(r, &s, 3)
		require.Equal(t, time.Hour, after, name)
		require.Equal(t, 48.0, s.limit, name)
		require.Equal(t, float64(ref), s.refs[0].value, name)
	}
}

// What is worse than slow ends the look, and what it is about goes on from there.
func TestRuleMeasuresNothingAnewInAnOutage(t *testing.T) {
	silent := window{span: minWindow, silent: true}
	for name, w := range map[string]window{"silence": silent, "errors": calls(0, 1).refused(50, 1)} {
		r, s := learning(0.1), held(48)
		slowly(r, &s, 3)
		s, ch := r.next(s, w)
		require.Equal(t, 8.0, ch.To, name)
		require.Zero(t, s.again.from, name)
		s, ch = r.next(s, calls(100, 1).used(8))
		require.Equal(t, Recovery, ch.Cause, name)
		require.Equal(t, float64(ref), s.refs[0].value, name)
	}
}

// Without calls it comes to an end, too, and knows no more than before.
func TestRuleMeasuresAnewForNoLongerThanItMay(t *testing.T) {
	for _, n := range []int{0, 1} {
		r, s := learning(0.1), held(48)
		slowly(r, &s, 3)
		s, _ = r.next(s, calls(48, 1))
		s.again.long = 0
		var ch Change
		for range int(remeasureLongest/longWindow) - 1 {
			w := calls(n, 3)
			w.span = longWindow
			s, ch = r.next(s, w)
			require.Equal(t, 16.0, ch.To)
		}
		w := calls(n, 3)
		w.span = longWindow
		s, ch = r.next(s, w)
		require.Equal(t, 48.0, ch.To)
		require.Equal(t, float64(ref), s.refs[0].value, "%d calls are too few", n)
	}
}

// Calls that were under way before it aren't those of a look, however slowly they end; and
// it lasts until it has seen enough, as long as somebody wants more.
func TestRuleMeasuresSlowCallsAnew(t *testing.T) {
	r, s := learning(0.1), held(48)
	slowly(r, &s, 3)
	var ch Change
	for range 16 {
		w := calls(3, 100).used(48)
		w.span = maxWindow
		s, ch = r.next(s, w)
		require.Equal(t, 16.0, ch.To, "a call of before")
	}
	for range remeasureFew - 1 {
		w := calls(1, 3).used(16)
		w.span = longWindow
		s, ch = r.next(s, w)
		require.Equal(t, 16.0, ch.To, "too few")
	}
	s, ch = r.next(s, calls(1, 3).used(16))
	require.Equal(t, []any{48.0, Remeasure}, []any{ch.To, ch.Cause})
	require.InDelta(t, 3*float64(ref)*math.Exp(chance/math.Sqrt(remeasureFew)), s.refs[0].value, 1000)
}

// G-ADA-4: that all is well with few under way, until the limit is full again, is no reason to
// look sooner, nor does it teach what is needed.
func TestRuleIsWellOnceTheLimitCouldBeFull(t *testing.T) {
	r, s := learning(0.1), held(48)
	s.again.tries, s.well = 3, 0
	for range windowSamples - 1 {
		w := calls(1, 1).used(20)
		w.busy = 1
		s, _ = r.next(s, w)
		require.Equal(t, []any{3, 32.0}, []any{s.again.tries, s.healthy})
	}
	full := calls(1, 1).used(48)
	s, _ = r.next(s, full)
	w := calls(windowSamples-1, 1).used(20)
	s, _ = r.next(s, w)
	require.Equal(t, 3, s.again.tries, "it was full between")
	s, _ = r.next(s, w)
	require.Zero(t, s.again.tries)
	require.Less(t, s.healthy, 32.0)
}

// The references of all classes are raised together.
func TestRuleMeasuresAllClassesAnew(t *testing.T) {
	r, s := learning(0.1), held(1)
	s.refs[2].value = 7
	slowly(r, &s, 4)
	require.InEpsilon(t, 28, s.refs[2].value, 0.02)
	require.InEpsilon(t, s.refs[0].value/float64(ref), s.refs[2].value/7, 1e-9)
	require.Zero(t, s.refs[3].value)
}
