//go:build go1.25

package adaptive_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

const ms = time.Millisecond

// Every fault at once, and the guard as it was.
func TestDriveNamesEveryFault(t *testing.T) {
	f := &fake{limit: 50}
	_, err := adaptive.Drive(f, adaptive.Config{
		Min: 0, Max: 20, Target: -1, Mode: spillway.RefuseAll, Recent: -1,
		Classes: []adaptive.Class{{Name: "a"}, {Name: "a"}, {Name: "", Target: -1}},
	})
	var e *spillway.ConfigError
	require.ErrorAs(t, err, &e)
	var fields []string
	for _, fault := range e.Faults {
		fields = append(fields, fault.Field)
	}
	require.Equal(t, []string{"Min", "Limit", "Target", "Classes[1].Name", "Classes[2].Name", "Classes[2].Target", "Mode", "Recent"}, fields)
	require.Equal(t, &fake{limit: 50}, f)
	_, err = adaptive.Drive(nil, trusted(20))
	require.ErrorContains(t, err, "Guard is <nil>")
	_, err = adaptive.Drive(f, adaptive.Config{Min: 0.0001, Max: 0, Classes: make([]adaptive.Class, 16)})
	require.ErrorContains(t, err, "Max is 0")
	require.ErrorContains(t, err, "Classes is 16: must be 15 at most")
	require.ErrorContains(t, err, "Limit is 50: the guard's own limit must be from Min to Max, 0.0001 to 0")
}

func TestDriveThatFailsLeavesTheGuardAsItWas(t *testing.T) {
	f := &fake{limit: 10, fail: errors.New("no meter")}
	_, err := adaptive.Drive(f, trusted(20))
	require.Equal(t, f.fail, err)
	require.Equal(t, &fake{limit: 10, fail: f.fail}, f)
}

// G-ADA-1: the limit starts low, moves, stays within its bounds; and Stop gives back what
// was there.
func TestControllerDrivesALimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 8)
		cfg := trusted(12)
		ctl := drive(t, l, cfg)
		require.Equal(t, 4, l.Limit())
		keepBusy(l, 30, time.Second, lasting(2*ms, nil))
		require.Equal(t, 12, l.Limit(), "all was well")
		st := ctl.Stats()
		require.Equal(t, 12.0, st.Limit)
		require.Equal(t, []any{"db", spillway.Enforce, true, 8, false}, []any{st.Name, st.Mode, st.Trusted, st.Static, st.Broken})
		require.InDelta(t, 2*ms, st.Latency, float64(ms))
		require.InDelta(t, 2*ms, st.Classes[0].Reference, float64(ms)/10)
		require.Equal(t, st.Changes.Of(adaptive.Growth)+1, uint64(len(st.Recent)))
		require.Equal(t, []any{adaptive.Operator, 8.0, 4.0}, []any{st.Recent[0].Cause, st.Recent[0].From, st.Recent[0].To}, "Drive")
		require.Positive(t, st.Windows)
		keepBusy(l, 30, 5*time.Second, lasting(20*ms, nil))
		require.Less(t, l.Limit(), 2, "ten times as slow, and never well")

		require.NoError(t, ctl.Stop())
		require.Equal(t, 8, l.Limit())
		require.Zero(t, l.Stats().Pace)
		_, err := l.DoN(t.Context(), 9, lasting(0, nil))
		require.ErrorAs(t, err, new(*spillway.WeightError))
		windows := ctl.Stats().Windows
		keepBusy(l, 30, time.Second, lasting(2*ms, nil))
		require.Equal(t, windows, ctl.Stats().Windows, "nobody measures any more")
		require.ErrorIs(t, ctl.Stop(), spillway.ErrClosed)
		require.ErrorIs(t, ctl.SetMode(spillway.Off), spillway.ErrClosed)
		require.True(t, ctl.Stats().Stopped)
	})
}

func TestControllerOfTheZeroValueDrivesNothing(t *testing.T) {
	var ctl adaptive.Controller
	require.ErrorIs(t, ctl.Stop(), spillway.ErrClosed)
	require.ErrorIs(t, ctl.SetMode(spillway.Enforce), spillway.ErrClosed)
	require.ErrorIs(t, ctl.SetTrusted(true), spillway.ErrClosed)
	require.True(t, ctl.Stats().Stopped)
}

// G-ADA-1, X19: until it is trusted the limit stays within half and twice the static one.
func TestControllerStaysNearTheStaticLimitUntilTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 10)
		ctl := drive(t, l, adaptive.DefaultConfig(100))
		require.Equal(t, 5, l.Limit())
		keepBusy(l, 60, time.Second, lasting(2*ms, nil))
		require.Equal(t, 20, l.Limit())
		keepBusy(l, 60, 3*time.Second, lasting(200*ms, outcome(spillway.OutcomeTimeout)))
		require.Equal(t, 5, l.Limit())
		require.NoError(t, ctl.SetTrusted(true))
		keepBusy(l, 60, 3*time.Second, lasting(200*ms, outcome(spillway.OutcomeTimeout)))
		require.Equal(t, 1, l.Limit())
		require.Positive(t, l.Stats().Pace)
		require.NoError(t, ctl.SetTrusted(false))
		require.Equal(t, 5, l.Limit())
		require.Zero(t, l.Stats().Pace)
	})
}

// G-ADA-9: Shadow computes and tells, and leaves the static limit; Off measures nothing;
// Enforce starts low again, with what was learned.
func TestControllerModes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 10)
		cfg := trusted(50)
		cfg.Mode = spillway.Shadow
		var mu sync.Mutex
		var told []adaptive.Change
		cfg.Hooks = []adaptive.Hooks{{}, {Changed: func(c adaptive.Change) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, c)
		}}}
		ctl := drive(t, l, cfg)
		require.Equal(t, 10, l.Limit())
		keepBusy(l, 30, time.Second, lasting(2*ms, nil))
		require.Equal(t, 10, l.Limit())
		require.Greater(t, ctl.Stats().Limit, 15.0)
		require.NotEmpty(t, told)
		for _, c := range told {
			require.True(t, c.Shadow)
		}
		require.NoError(t, ctl.SetMode(spillway.Off))
		windows := ctl.Stats().Windows
		keepBusy(l, 30, time.Second, lasting(2*ms, nil))
		require.Equal(t, []any{10, windows}, []any{l.Limit(), ctl.Stats().Windows})
		require.NoError(t, ctl.SetMode(spillway.Enforce))
		require.Equal(t, 4, l.Limit())
		require.InDelta(t, 2*ms, ctl.Stats().Classes[0].Reference, float64(ms)/10)
		keepBusy(l, 30, time.Second, lasting(2*ms, nil))
		require.Greater(t, l.Limit(), 15)
		st := ctl.Stats()
		require.Equal(t, uint64(1), st.Changes.Of(adaptive.Operator), "the limit in force was changed once")
		require.ErrorContains(t, ctl.SetMode(spillway.RefuseAll), "must be Enforce, Shadow or Off")
		require.Equal(t, st.Changes, ctl.Stats().Changes)
	})
}

// G-ADA-3: the last changes are kept, and no more than were asked for.
func TestControllerKeepsTheLastChanges(t *testing.T) {
	f := &fake{limit: 100}
	cfg := trusted(1000)
	cfg.Recent = 3
	var told []adaptive.Change
	cfg.Hooks = []adaptive.Hooks{{Changed: func(c adaptive.Change) { told = append(told, c) }}}
	ctl := drive(t, f, cfg)
	at := f.feed(0, 2, ms, 4)
	for range 20 {
		at = f.feed(at, 60, 25*ms, f.limit)
	}
	st := ctl.Stats()
	require.Greater(t, len(told), 5)
	require.Equal(t, told[len(told)-3:], st.Recent)
	require.Equal(t, 1000.0, st.Last.To)
	require.Equal(t, st.Recent[1].To, st.Recent[2].From)
	cfg.Recent = 0
	none := drive(t, &fake{limit: 10}, cfg)
	require.NoError(t, none.SetTrusted(false))
	require.Empty(t, none.Stats().Recent)
}

// G-ADA-10: hooks, of the controller and of the guard, may call both back, and may panic.
func TestControllerHooksMayCallBackAndPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ctl *adaptive.Controller
		var limits []int
		l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 10, Hooks: []limiter.Hooks{{
			LimitChanged: func(_, to int) {
				limits = append(limits, to)
				if ctl != nil {
					_ = ctl.Stats()
					if to > 20 {
						require.NoError(t, ctl.SetMode(spillway.Shadow))
					}
				}
				panic("the guard's hook")
			},
		}}})
		require.NoError(t, err)
		cfg := trusted(100)
		cfg.Hooks = []adaptive.Hooks{{Changed: func(adaptive.Change) {
			if ctl != nil {
				_ = ctl.Stats()
			}
			panic("the controller's hook")
		}}}
		ctl = drive(t, l, cfg)
		keepBusy(l, 60, time.Second, lasting(2*ms, nil))
		require.Equal(t, []int{4, 6, 9, 13, 20}, limits[:5])
		require.Equal(t, 10, l.Limit(), "the mode that its own hook set is in force")
		require.Equal(t, spillway.Shadow, ctl.Stats().Mode)
	})
}

// G-ADA-11: calls hang, callers keep coming: the limit is lowered for the silence. If
// nobody comes, nothing happens, and no harm.
func TestControllerNoticesThatNothingComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 32)
		ctl := drive(t, l, trusted(32))
		keepBusy(l, 40, time.Second, lasting(2*ms, nil))
		require.Equal(t, 32, l.Limit())
		for range 32 {
			go func() { _, _ = l.Do(context.Background(), lasting(time.Minute, nil)) }()
		}
		synctest.Wait()
		time.Sleep(10 * time.Second)
		require.Equal(t, 32, l.Limit(), "nobody called")
		for range 800 {
			time.Sleep(ms)
			_, err := l.Do(t.Context(), lasting(0, nil))
			require.ErrorIs(t, err, spillway.ErrBackpressure)
		}
		require.Equal(t, 1, l.Limit())
		st := ctl.Stats()
		require.GreaterOrEqual(t, st.Changes.Of(adaptive.Silence), uint64(5))
		require.Equal(t, 1.0, st.Limit, "one call under way is the question whether it goes on")
		time.Sleep(time.Minute)
		keepBusy(l, 40, 2*time.Second, lasting(2*ms, nil))
		require.Equal(t, 32, l.Limit())
	})
}

// A call now and then is no silence, and neither is a long pause.
func TestControllerIdleIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 8)
		ctl := drive(t, l, trusted(8))
		for range 200 {
			_, err := l.Do(t.Context(), lasting(2*ms, nil))
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
		}
		st := ctl.Stats()
		require.Equal(t, adaptive.CauseCounts{adaptive.Idle: st.Changes.Of(adaptive.Idle), adaptive.Operator: 1}, st.Changes)
		require.Equal(t, 3, l.Limit(), "twice what is used, and one")
	})
}

// G-ADA-12: a batch that is wider than the limit has become runs alone.
func TestControllerLetsAWideBatchRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.New[int](lane.Config{Name: "db", Limit: 20, MaxWaiting: 50, MaxWait: time.Second})
		require.NoError(t, err)
		ctl := drive(t, l, trusted(20))
		for range 300 {
			_, _ = l.Do(t.Context(), lasting(0, outcome(spillway.OutcomeNetwork)))
			time.Sleep(20 * ms)
		}
		require.Equal(t, 0.1, ctl.Stats().Limit)
		require.Positive(t, l.Stats().Pace)
		start := time.Now()
		_, err = l.DoN(t.Context(), 20, lasting(ms, nil))
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(start), 101*ms)
		_, err = l.DoN(t.Context(), 21, lasting(ms, nil))
		require.ErrorAs(t, err, new(*spillway.WeightError))
	})
}

// G-ADA-5: calls are measured by their class; a class that nobody configured is none.
func TestControllerMeasuresByClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 8)
		cfg := trusted(8)
		cfg.Classes = []adaptive.Class{{Name: "scan"}, {Name: "batch", Target: 70 * ms}}
		ctl := drive(t, l, cfg)
		for range 800 {
			for class, d := range map[string]time.Duration{"scan": 30 * ms, "": 2 * ms, "unheard of": 2 * ms} {
				ctx := t.Context()
				if class != "" {
					ctx = adaptive.WithClass(ctx, class)
				}
				_, err := l.Do(ctx, lasting(d, nil))
				require.NoError(t, err)
			}
		}
		classes := ctl.Stats().Classes
		for i, want := range []adaptive.ClassStats{
			{Name: "", Reference: 2 * ms},
			{Name: "scan", Reference: 30 * ms},
			{Name: "batch", Reference: 40 * ms, Target: 70 * ms},
		} {
			require.InEpsilon(t, want.Reference, classes[i].Reference, 0.01)
			want.Reference = classes[i].Reference
			require.Equal(t, want, classes[i])
		}
	})
}

// G-ADA-8: at high rates one in so many is measured, and the limit moves as before.
func TestControllerMeasuresFewOfMany(t *testing.T) {
	f := &fake{limit: 100}
	ctl := drive(t, f, trusted(100))
	var at time.Duration
	for range 30 {
		at = f.feed(at, 10000/f.every, 20*ms, f.limit)
	}
	require.GreaterOrEqual(t, f.every, 32)
	require.Equal(t, f.every, ctl.Stats().Every)
	require.Equal(t, 100, f.limit)
	for range 10 {
		at = f.feed(at, 100/f.every, 20*ms, 1)
	}
	require.Equal(t, 1, f.every)
	require.NoError(t, ctl.SetMode(spillway.Off))
	require.Nil(t, f.meter)
	require.NoError(t, ctl.SetMode(spillway.Enforce))
	require.NotNil(t, f.meter)
}
