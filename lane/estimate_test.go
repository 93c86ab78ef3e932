//go:build go1.25

package lane_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
)

func takes(d time.Duration) spillway.Op[int] {
	return func(context.Context) (int, error) { time.Sleep(d); return 0, nil }
}

// warm has a lane learn what a call takes.
func warm(l *lane.Lane[int], callers, each int, d time.Duration) {
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				_, _ = l.Do(context.Background(), takes(d))
			}
		})
	}
	wg.Wait()
}

// A stall says that a permit takes about as long as the stall has lasted, not that it
// takes for ever: a hint of hours would end every retry.
func TestLaneHintAfterAStallIsOfItsSize(t *testing.T) {
	for _, stall := range []time.Duration{500 * time.Millisecond, 5 * time.Second, time.Minute} {
		t.Run(stall.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLane(t, lane.Config{Limit: 4, MaxWaiting: 8, MaxWait: time.Hour})
				warm(l, 12, 40, 2*time.Millisecond)
				release := hold(t, l, 4)
				var wg sync.WaitGroup
				for range 8 {
					wg.Go(func() { _, _ = l.Do(t.Context(), nop) })
				}
				synctest.Wait()
				time.Sleep(stall)
				_, err := l.Do(t.Context(), nop)
				var r *spillway.Rejection
				require.ErrorAs(t, err, &r)
				require.GreaterOrEqual(t, r.RetryAfter, stall)
				require.LessOrEqual(t, r.RetryAfter, 10*stall, "nine would be in front, each a stall")
				require.Equal(t, 8, r.Limit, "the room's places")
				require.Equal(t, r.RetryAfter, l.Stats().RetryAfter)
				for range 4 {
					release()
				}
				wg.Wait()
				require.Zero(t, l.Stats().RetryAfter, "nobody waits")
				require.NoError(t, l.SetMode(spillway.RefuseAll))
				_, err = l.Do(t.Context(), nop)
				require.ErrorAs(t, err, &r)
				require.Zero(t, r.RetryAfter)
			})
		})
	}
}

// G-LAN-6: who can be served in time isn't refused, however long a call takes.
func TestLanePredictsSlowCallsToo(t *testing.T) {
	for _, service := range []time.Duration{2 * time.Millisecond, 200 * time.Millisecond, time.Second} {
		t.Run(service.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 5, MaxWait: 10 * service, Predict: true})
				var wg sync.WaitGroup
				for range 200 {
					for range 3 {
						wg.Go(func() { _, _ = l.Do(context.Background(), takes(service)) })
						time.Sleep(service / 4)
					}
					time.Sleep(service * 5 / 2)
				}
				wg.Wait()
				require.EqualValues(t, 600, l.Stats().Admitted)
			})
		})
	}
}

// G-LAN-6: a ghost's end is room like any other.
func TestLanePredictionCountsGhostsThatEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 4, MaxWaiting: 8, MaxWait: 200 * time.Millisecond, Predict: true})
		warm(l, 12, 40, 2*time.Millisecond)
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				for range 50 {
					p, err := l.Admit(context.Background())
					if err != nil {
						time.Sleep(5 * time.Millisecond)
						continue
					}
					p.ReleaseAfter(5 * time.Millisecond)
				}
			})
		}
		wg.Wait()
		require.Zero(t, l.Stats().Refused.Of(spillway.ReasonPredicted))
	})
}

// G-LAN-6: where the newest is served first, whoever comes is next.
func TestLanePredictsForTheNewestWhatItGets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 100, MaxWait: time.Second, Order: lane.Newest, Predict: true})
		warm(l, 4, 50, time.Millisecond)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { _, _ = l.Do(context.Background(), takes(time.Millisecond)) })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_, err := l.Do(ctx, takes(time.Millisecond))
		require.NoError(t, err)
		wg.Wait()
	})
}

// Whoever gave up has waited, too.
func TestLaneWaitCountsWhoGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 5, MaxWait: time.Hour})
		hold(t, l, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := l.Do(ctx, nop)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		wait := l.Stats().Wait
		require.EqualValues(t, 1, wait.Count)
		require.Equal(t, 10*time.Second, wait.Sum)
	})
}

// prying is a context of the caller's own, with code in it.
type prying struct {
	context.Context
	look func()
}

func (p prying) Deadline() (time.Time, bool) { p.look(); return time.Time{}, false }

// No caller's code runs under a lane's lock.
func TestLaneAsksContextsOutsideItsLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 1, MaxWait: time.Second, Predict: true})
		hold(t, l, 1)
		_, err := l.Do(prying{t.Context(), func() { _ = l.Stats() }}, nop)
		require.Equal(t, spillway.ReasonMaxWait, reasonOf(t, err))
	})
}

// The kill switch asks nothing of a call, and a closed lane says that it is closed.
func TestLaneModesThatQueueNobodyNeedNoBound(t *testing.T) {
	l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 1})
	_, err := l.Do(t.Context(), nop)
	var wrong *spillway.ConfigError
	require.ErrorAs(t, err, &wrong)
	require.EqualValues(t, 1, l.Stats().Invalid)
	require.NoError(t, l.SetMode(spillway.Off))
	_, err = l.Do(t.Context(), nop)
	require.NoError(t, err)
	require.NoError(t, l.SetMode(spillway.RefuseAll))
	_, err = l.Do(t.Context(), nop)
	require.Equal(t, spillway.ReasonRefuseAll, reasonOf(t, err))
	require.NoError(t, l.Close(t.Context()))
	_, err = l.Do(t.Context(), nop)
	require.ErrorIs(t, err, spillway.ErrClosed)

	l = newLane(t, lane.Config{Limit: 1, MaxWaiting: 1, MaxWait: time.Second, DetectNested: true})
	_, err = l.Do(t.Context(), func(ctx context.Context) (int, error) {
		require.NoError(t, l.SetMode(spillway.Off))
		return l.Do(ctx, nop)
	})
	require.NoError(t, err)
}

func TestRouterRefusesALaneThatIsNone(t *testing.T) {
	var none *lane.Lane[int]
	_, err := lane.NewRouter(lane.RouterConfig[int]{Name: "r", Lanes: map[string]lane.Runner[int]{"x": none}, Default: "x"})
	require.ErrorContains(t, err, "Lanes[x]")
}

// G-LAN-6, G-LIM-9: a call that is heavier than the limit waits for what it will take, and
// who comes behind it waits for no more than that either.
func TestLanePredictsForAHeavyCallWhatItTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 32, MaxWaiting: 64, MaxWait: 50 * time.Millisecond, Predict: true})
		require.NoError(t, l.SetMaxWeight(32))
		require.NoError(t, l.SetLimit(4))
		service := 10 * time.Millisecond
		warm(l, 6, 40, service)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				for ctx.Err() == nil {
					if _, err := l.Do(ctx, takes(service)); err != nil && ctx.Err() == nil {
						t.Errorf("a light call behind a heavy one: %v", err)
					}
				}
			})
		}
		for range 50 {
			time.Sleep(7 * service)
			_, err := l.DoN(ctx, 32, takes(service))
			require.NoError(t, err)
		}
		cancel()
		wg.Wait()
		require.Zero(t, l.Stats().Refused.Total())
	})
}
