//go:build go1.25

package lane_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
)

const (
	slots   = 16
	service = 2 * time.Millisecond
)

// capacity is what the slots serve in a second.
var capacity = float64(slots) / service.Seconds()

// backend serves in random time, as many at once as the lane lets in.
func backend(seed uint64) func(context.Context) (int, error) {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 1))
	return func(context.Context) (int, error) {
		mu.Lock()
		d := time.Duration(rng.ExpFloat64() * float64(service))
		mu.Unlock()
		time.Sleep(d)
		return 0, nil
	}
}

// G-LAN-6; X17: at 1.2, 2 and 10 times what the lane can serve, with deadlines of ten
// service times, it does what it can, and whom it can't serve it tells at once.
func TestLanePredictionKeepsGoodputUnderOverload(t *testing.T) {
	for over, seeds := range map[float64]uint64{1.2: 2, 2: 2, 10: 1} {
		for seed := range seeds {
			synctest.Test(t, func(t *testing.T) {
				l := newLane(t, lane.Config{Limit: slots, MaxWaiting: 5 * slots / 2, MaxWait: 10 * time.Millisecond, Predict: true})
				op := backend(seed)
				rng := rand.New(rand.NewPCG(seed, 2))
				const d = time.Second
				tr := load(rng, over*capacity, d, 10*service, func(ctx context.Context) error {
					_, err := l.Do(ctx, op)
					return err
				})
				goodput := float64(tr.good) / (capacity * d.Seconds())
				t.Logf("%gx seed %d: goodput %.3f late %d of %d, refused %d, decided p50 %v p99 %v, latency p99 %v",
					over, seed, goodput, tr.late, tr.good, tr.refused, quantile(tr.decision, 0.5), quantile(tr.decision, 0.99), quantile(tr.latency, 0.99))
				require.GreaterOrEqual(t, goodput, 0.98)
				require.LessOrEqual(t, float64(tr.late), 0.01*float64(tr.good), "wasted work")
				require.Zero(t, quantile(tr.decision, 0.99), "who is refused is refused at once")
			})
		}
	}
}

// R67: at 0.7 of what it can serve a lane that predicts refuses hardly anybody.
func TestLanePredictionLeavesNormalLoadAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: slots, MaxWaiting: 5 * slots / 2, MaxWait: 10 * time.Millisecond, Predict: true})
		op := backend(1)
		tr := load(rand.New(rand.NewPCG(1, 2)), 0.7*capacity, 3*time.Second, 10*service, func(ctx context.Context) error {
			_, err := l.Do(ctx, op)
			return err
		})
		require.LessOrEqual(t, float64(tr.refused), 0.005*float64(tr.offered))
	})
}

// G-LAN-6: a time of slow calls can't lock the prediction up: with the estimates at
// their worst, a caller is let in to probe, and the waiting room is used again.
func TestLanePredictionNeverLocksUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 4, MaxWaiting: 10, MaxWait: 50 * time.Millisecond, Predict: true})
		took := time.Millisecond
		op := func(ctx context.Context) (int, error) { time.Sleep(took); return 0, ctx.Err() }
		run := func(d time.Duration) (tr *traffic, waited uint64) {
			before := l.Stats().Wait.Count
			tr = load(rand.New(rand.NewPCG(1, 3)), 8000, d, 20*time.Millisecond, func(ctx context.Context) error {
				_, err := l.Do(ctx, op)
				return err
			})
			return tr, l.Stats().Wait.Count - before
		}
		before, waited := run(500 * time.Millisecond)
		require.Greater(t, before.good, 1900)
		require.Greater(t, waited, uint64(1000))
		took = time.Second // every call takes fifty times its deadline, for a while
		during, _ := run(2 * time.Second)
		require.Zero(t, during.good)
		took = time.Millisecond
		time.Sleep(time.Second)
		after, waited := run(500 * time.Millisecond)
		t.Logf("after: good %d refused %d waited %d service %v", after.good, after.refused, waited, l.Stats().Service)
		require.Greater(t, after.good, 1900)
		require.Greater(t, waited, uint64(1000), "the waiting room must be in use again")
	})
}

// R56, W9: bulk at twenty times its limit beside a critical lane at half of its own:
// the critical doesn't notice.
func TestSetBulkDoesNotMoveTheCritical(t *testing.T) {
	run := func(t *testing.T, bulk bool) (tr *traffic) {
		synctest.Test(t, func(t *testing.T) {
			set, err := lane.NewSet[int](lane.SetConfig{
				Name: "db", Default: "normal", Classes: map[spillway.Class]string{spillway.Critical: "critical", spillway.Bulk: "bulk"},
				Lanes: []lane.Config{
					{Name: "critical", Limit: slots, MaxWaiting: slots, MaxWait: 10 * time.Millisecond},
					{Name: "normal", Limit: slots},
					{Name: "bulk", Limit: slots / 2, MaxWaiting: slots, MaxWait: 100 * time.Millisecond, Predict: true},
				},
			})
			require.NoError(t, err)
			var wg sync.WaitGroup
			if bulk {
				wg.Go(func() {
					op := backend(7)
					other := load(rand.New(rand.NewPCG(7, 7)), 20*capacity/2, 2*time.Second, 500*time.Millisecond, func(ctx context.Context) error {
						_, err := set.Do(spillway.WithClass(ctx, spillway.Bulk), op)
						return err
					})
					require.Greater(t, other.refused, other.good*10)
				})
			}
			op := backend(8)
			tr = load(rand.New(rand.NewPCG(8, 8)), capacity/2, 2*time.Second, 50*time.Millisecond, func(ctx context.Context) error {
				_, err := set.Do(spillway.WithClass(ctx, spillway.Critical), op)
				return err
			})
			wg.Wait()
		})
		return tr
	}
	quiet, busy := run(t, false), run(t, true)
	require.GreaterOrEqual(t, float64(busy.good), 0.999*float64(busy.offered))
	require.LessOrEqual(t, quantile(busy.latency, 0.99), 2*quantile(quiet.latency, 0.99))
}

// G-LAN-6: a lane that has seen nothing yet predicts nothing: its first callers wait.
func TestLaneFreshPredictsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 1, MaxWait: time.Second, Predict: true})
		release := hold(t, l, 1)
		errs := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			_, err := l.Do(ctx, nop)
			errs <- err
		}()
		synctest.Wait()
		require.Equal(t, 1, l.Stats().Waiting)
		release()
		require.NoError(t, <-errs)
	})
}
