//go:build go1.25

package adaptive_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// board is a guard that only notes what it was told last.
type board struct{ limit, weight, every atomic.Int64 }

func (b *board) Name() string                { return "board" }
func (b *board) Limit() int                  { return int(b.limit.Load()) }
func (b *board) SetLimit(n int) error        { b.limit.Store(int64(n)); return nil }
func (b *board) SetPace(time.Duration) error { return nil }
func (b *board) SetMaxWeight(n int) error    { b.weight.Store(int64(n)); return nil }
func (b *board) SetMeter(_ spillway.Meter, every int) error {
	b.every.Store(int64(every))
	return nil
}

// G-ADA-1, G-ADA-10: however many operators decide at once, the guard ends up as the last decision
// has it.
func TestControllerLosesNoOrderConcurrentSafe(t *testing.T) {
	for range 2000 {
		b := new(board)
		b.limit.Store(10)
		cfg := trusted(20)
		cfg.Mode = spillway.Off
		ctl := drive(t, b, cfg)
		both := func(f, g func() error) {
			var wg sync.WaitGroup
			for _, h := range []func() error{f, g} {
				wg.Go(func() { _ = h() })
			}
			wg.Wait()
		}
		both(func() error { return ctl.SetTrusted(false) }, func() error { return ctl.SetMode(spillway.Enforce) })
		require.Equal(t, []int64{5, 20, 1}, []int64{b.limit.Load(), b.weight.Load(), b.every.Load()})
		both(func() error { return ctl.SetTrusted(true) }, ctl.Stop)
		require.Equal(t, []int64{10, 0, 0}, []int64{b.limit.Load(), b.weight.Load(), b.every.Load()})
		require.True(t, ctl.Stats().Stopped)
	}
}

// G-ADA-1: while another tells the guard of something, Stop leaves it to him to let go of it,
// and Stats says when he has.
func TestControllerIsStoppedOnceTheGuardIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := make(chan struct{})
		var once atomic.Bool
		l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 20, Hooks: []limiter.Hooks{{LimitChanged: func(from, to int) {
			if to > from && once.CompareAndSwap(false, true) {
				<-slow
			}
		}}}})
		require.NoError(t, err)
		ctl := drive(t, l, trusted(40))
		go keepBusy(l, 30, 50*ms, lasting(2*ms, nil))
		time.Sleep(time.Second)
		require.NoError(t, ctl.Stop())
		require.False(t, ctl.Stats().Stopped)
		close(slow)
		time.Sleep(time.Second)
		require.True(t, ctl.Stats().Stopped)
		require.Equal(t, 20, l.Limit())
	})
}

// G-ADA-10: a hook of the guard that ends the goroutine, as a failed assertion does, or panics,
// leaves the controller as able as before.
func TestControllerOutlivesAGuardHookThatEndsTheGoroutine(t *testing.T) {
	for name, end := range map[string]func(){"goexit": runtime.Goexit, "panic": func() { panic("no luck") }} {
		synctest.Test(t, func(t *testing.T) {
			var once atomic.Bool
			l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 20, Hooks: []limiter.Hooks{{LimitChanged: func(from, to int) {
				if to > from && once.CompareAndSwap(false, true) {
					end()
				}
			}}}})
			require.NoError(t, err)
			ctl := drive(t, l, trusted(40))
			keepBusy(l, 60, time.Second, lasting(2*ms, nil))
			require.True(t, once.Load())
			require.Equal(t, 40, l.Limit(), name)
			require.NoError(t, ctl.Stop())
			require.Equal(t, 20, l.Limit(), name)
		})
	}
}

// G-ADA-3, G-ADA-10: a decision that changes no limit is no change: a hook may repeat one.
func TestControllerTellsOfNoChangeThatIsNone(t *testing.T) {
	var ctl *adaptive.Controller
	var told []adaptive.Change
	cfg := trusted(40)
	cfg.Hooks = []adaptive.Hooks{{Changed: func(ch adaptive.Change) {
		told = append(told, ch)
		if ctl != nil {
			require.NoError(t, ctl.SetTrusted(true))
		}
	}}}
	l := newLimiter(t, 20)
	ctl = drive(t, l, cfg)
	require.Len(t, told, 1)
	require.Equal(t, []any{adaptive.Operator, 20.0, 4.0, false}, []any{told[0].Cause, told[0].From, told[0].To, told[0].Shadow})
	require.NoError(t, ctl.SetMode(spillway.Shadow))
	require.Len(t, told, 2)
	require.Equal(t, []any{4.0, 20.0, false}, []any{told[1].From, told[1].To, told[1].Shadow}, "that one is real")
	require.NoError(t, ctl.SetMode(spillway.Off))
	require.NoError(t, ctl.SetStatic(20))
	require.Len(t, told, 2)
	require.Equal(t, uint64(2), ctl.Stats().Changes.Of(adaptive.Operator))
}

// G-ADA-9: in Shadow and Off a call may weigh what it might without a controller.
func TestControllerLeavesTheWeightInShadow(t *testing.T) {
	for _, mode := range []spillway.Mode{spillway.Shadow, spillway.Off} {
		l := newLimiter(t, 20)
		cfg := trusted(40)
		cfg.Mode = mode
		drive(t, l, cfg)
		_, err := l.DoN(t.Context(), 30, func(context.Context) (int, error) { return 0, nil })
		require.ErrorAs(t, err, new(*spillway.WeightError), mode)
	}
}

// G-ADA-1: a caller of a weight that the static limit has room for is still waiting after Stop.
func TestControllerStopKeepsWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.New[int](lane.Config{Name: "db", Limit: 32, MaxWaiting: 4, MaxWait: time.Second})
		require.NoError(t, err)
		ctl := drive(t, l, trusted(64))
		go func() { _, _ = l.Do(context.Background(), lasting(100*ms, nil)) }()
		synctest.Wait()
		done := make(chan error, 1)
		go func() { _, err := l.DoN(context.Background(), 8, lasting(0, nil)); done <- err }()
		synctest.Wait()
		require.Equal(t, 1, l.Stats().Waiting)
		require.NoError(t, ctl.Stop())
		require.NoError(t, <-done)
		time.Sleep(time.Second)
	})
}

// What the caller does with his own slices later doesn't concern the controller.
func TestDriveCopiesItsConfiguration(t *testing.T) {
	cfg := trusted(40)
	cfg.Classes = []adaptive.Class{{Name: "scan", Target: time.Second}}
	told := 0
	cfg.Hooks = []adaptive.Hooks{{Changed: func(adaptive.Change) { told++ }}}
	ctl := drive(t, newLimiter(t, 20), cfg)
	cfg.Classes[0] = adaptive.Class{Name: "other", Target: time.Minute}
	cfg.Hooks[0] = adaptive.Hooks{}
	require.NoError(t, ctl.SetTrusted(false))
	require.Equal(t, 2, told)
	require.Equal(t, "scan", ctl.Stats().Classes[1].Name)
	require.Equal(t, time.Second, ctl.Stats().Classes[1].Target)
}

// G-ADA-1: permits are whole, and none is below the bound for that.
func TestControllerKeepsAFractionalBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 3)
		drive(t, l, adaptive.DefaultConfig(12))
		keepBusy(l, 20, 5*time.Second, lasting(200*ms, outcome(spillway.OutcomeTimeout)))
		require.Equal(t, 2, l.Limit(), "half of 3, and no less")
	})
}

// A guard has one controller: two would undo each other's doing, and the first to stop would
// take the other's eyes. Nothing of the guard is touched.
func TestDriveRefusesAGuardThatIsDriven(t *testing.T) {
	l := newLimiter(t, 20)
	first := drive(t, l, adaptive.DefaultConfig(40))
	limit, meter := l.Limit(), l.Meter()
	require.NotNil(t, meter)
	_, err := adaptive.Drive(l, adaptive.DefaultConfig(40))
	var wrong *spillway.ConfigError
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, `Guard is "db"`)
	require.Equal(t, limit, l.Limit())
	require.Same(t, meter, l.Meter())
	require.NoError(t, first.Stop())
	require.Nil(t, l.Meter())
	second := drive(t, l, adaptive.DefaultConfig(40))
	require.NotNil(t, l.Meter())
	require.NoError(t, second.Stop())

	dive, err := lane.New[int](lane.Config{Name: "lane", Limit: 20})
	require.NoError(t, err)
	require.Nil(t, dive.Meter())
	drive(t, dive, adaptive.DefaultConfig(40))
	require.NotNil(t, dive.Meter())
	none := new(limiter.Limiter[int])
	require.Nil(t, none.Meter())
	require.Nil(t, new(lane.Lane[int]).Meter())
}
