//go:build go1.25

package lane_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
)

// stressed is a set whose lanes wait, predict, lend and look for nested calls.
func stressed(t *testing.T) *lane.Set[int] {
	s, err := lane.NewSet[int](lane.SetConfig{
		Name: "db", Default: "normal", Classes: map[spillway.Class]string{spillway.Critical: "critical", spillway.Bulk: "bulk"},
		Lanes: []lane.Config{
			{Name: "critical", Limit: 4, MaxWaiting: 8, MaxWait: 200 * time.Microsecond, DetectNested: true},
			{Name: "normal", Limit: 3, MaxWaiting: 8, MaxWait: time.Millisecond, Predict: true, Track: spillway.TrackSite},
			{Name: "bulk", Limit: 2, MaxWaiting: 4, MaxWait: time.Millisecond, Order: lane.Newest},
		},
		Lending: lane.Lending{Brief: time.Second, Keep: 1, Ceiling: 2},
	})
	require.NoError(t, err)
	return s
}

// callAtRandom makes a call of any kind, and returns its error.
func callAtRandom(r *rand.Rand, s *lane.Set[int], running *atomic.Int64) error {
	class := []spillway.Class{spillway.Critical, spillway.Normal, spillway.Bulk}[r.IntN(3)]
	ctx, cancel := context.WithCancel(spillway.WithClass(context.Background(), class))
	defer cancel()
	if r.IntN(4) == 0 {
		defer time.AfterFunc(time.Duration(r.IntN(100))*time.Microsecond, cancel).Stop()
	}
	how := r.IntN(20)
	_, err := func() (v int, err error) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case errFails:
				err = errFails
			default: // a broken invariant, for one
				panic(v)
			}
		}()
		return s.Do(ctx, func(ctx context.Context) (int, error) {
			running.Add(1)
			defer running.Add(-1)
			runtime.Gosched()
			switch how {
			case 0:
				panic(errFails)
			case 1:
				return s.Do(ctx, nop)
			}
			return 1, ctx.Err()
		})
	}()
	return err
}

// requireWholeSet fails unless every permit is at home and every call was counted.
func requireWholeSet(t *testing.T, s *lane.Set[int]) {
	t.Helper()
	for _, st := range s.Stats() {
		require.Zero(t, st.InUse+st.Waiting+st.Borrowed, st.Name)
		require.Equal(t, st.Admitted, st.Ended.Total()+st.Aborted, st.Name)
	}
}

// A2, A3, A12, B23, B27, F16, R16, R57: calls of every kind, while limits and modes change:
// afterwards every lane is whole, and never more ran than all lanes together let in.
func TestSetStressLosesNoPermit(t *testing.T) {
	s := stressed(t)
	var running, peak, borrowed, calls atomic.Int64
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(4, uint64(i)))
			for range 400 {
				if i == 0 {
					l := s.Lane([]string{"critical", "normal", "bulk"}[r.IntN(3)])
					_ = l.SetLimit(1 + r.IntN(4))
					_ = l.Stats()
					_ = l.Holders()
					borrowed.Add(int64(l.Stats().Borrowed))
					continue
				}
				err := callAtRandom(r, s, &running)
				calls.Add(1)
				peak.Store(max(peak.Load(), running.Load()))
				var nested *spillway.NestedError
				if err != nil && !errors.Is(err, spillway.ErrBackpressure) && !errors.Is(err, context.Canceled) &&
					!errors.As(err, &nested) && !errors.Is(err, errFails) {
					panic(err)
				}
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, peak.Load(), int64(2*(4+4+4)), "a nested call is a second permit")
	requireWholeSet(t, s)
	for _, name := range []string{"critical", "normal", "bulk"} {
		require.NoError(t, s.Lane(name).SetLimit(2))
		hold(t, s.Lane(name), 2)
	}
}

// B27, R17, R124: calls of every kind, modes and the close of all lanes at once: who comes
// is refused as closed, and every permit is back when Close returns.
func TestSetStressCloseLeavesNothing(t *testing.T) {
	for round := range 20 {
		s := stressed(t)
		var running atomic.Int64
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range 8 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(round), uint64(i)))
				<-start
				for n := 0; ; n++ {
					if i == 0 {
						_ = s.Lane("normal").SetMode(spillway.Mode(r.IntN(4)))
					}
					if err := callAtRandom(r, s, &running); errors.Is(err, spillway.ErrClosed) {
						return
					}
				}
			})
		}
		close(start)
		for range round * 15 {
			runtime.Gosched()
		}
		if err := s.Close(context.Background()); err != nil {
			panic(err)
		}
		wg.Wait()
		requireWholeSet(t, s)
	}
}
