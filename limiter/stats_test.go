//go:build go1.25

package limiter_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/limiter"
)

// R18.
func TestLimiterStatsAreThoseOfTheMoment(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 10, Mode: spillway.Shadow})
	p := admit(t, l, 4)
	require.Equal(t, limiter.Stats{
		Name: "test", Mode: spillway.Shadow, Limit: 10, InUse: 4, Available: 6, Admitted: 1,
	}, l.Stats())
	q := admit(t, l, 8)
	st := l.Stats()
	require.Equal(t, 12, st.InUse)
	require.Zero(t, st.Available)
	require.Equal(t, "test", l.Name())
	p.Release()
	q.Release()
	requireWhole(t, l)
}

// R19: G-LIM-7.
func TestLimiterCountsEveryCallOnce(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 4, DetectNested: true})
	var calls, running atomic.Int64
	running.Store(7)
	hammer.Together(8, func(i int) {
		if i == 0 {
			for running.Load() > 0 {
				st := l.Stats()
				require.LessOrEqual(t, st.Ended.Total()+st.Aborted, st.Admitted)
				require.LessOrEqual(t, st.InUse, 4)
			}
			return
		}
		defer running.Add(-1)
		r := rand.New(rand.NewPCG(4, uint64(i)))
		done, cancel := context.WithCancel(context.Background())
		cancel()
		for range 2000 {
			calls.Add(1)
			switch r.IntN(6) {
			case 0:
				_, _ = l.Do(done, answer(1))
			case 1:
				_, _ = l.DoN(t.Context(), r.IntN(9)-2, answer(1))
			case 2:
				func() {
					defer func() { _ = recover() }()
					_, _ = l.Do(t.Context(), func(context.Context) (int, error) { panic("op") })
				}()
			case 3:
				_, _ = l.DoN(t.Context(), 2, func(ctx context.Context) (int, error) {
					calls.Add(1)
					return l.Do(ctx, answer(1)) // nested
				})
			case 4:
				p, _ := l.AdmitN(t.Context(), 3)
				runtime.Gosched()
				p.ReleaseWith(spillway.OutcomeOverload)
			case 5:
				_, _ = l.Do(t.Context(), func(context.Context) (int, error) { return 0, errOp })
			}
		}
	})
	st := l.Stats()
	for name, n := range map[string]uint64{
		"admitted": st.Admitted, "refused": st.Refused.Total(), "canceled": st.Canceled, "invalid": st.Invalid, "aborted": st.Aborted,
	} {
		require.Positive(t, n, name)
	}
	require.EqualValues(t, calls.Load(), st.Admitted+st.Refused.Total()+st.Canceled+st.Invalid+st.AfterClose)
	requireWhole(t, l)
}

// Every 64th call is timed.
func TestLimiterSamplesHowLongPermitsAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: 2})
		for i := range 64 {
			_, err := l.Do(t.Context(), func(context.Context) (int, error) {
				time.Sleep(time.Second)
				return i, nil
			})
			require.NoError(t, err)
		}
		for range 64 {
			p := admit(t, l, 1)
			time.Sleep(time.Minute)
			p.Release()
		}
		hold := l.Stats().Hold
		require.Equal(t, uint64(2), hold.Count)
		require.InDelta(t, time.Minute+time.Second, hold.Sum, 4)
		require.InEpsilon(t, time.Second, hold.Quantile(0.5), 0.25)
		require.InEpsilon(t, time.Minute, hold.Quantile(1), 0.25)
	})
}

// R26: the site is that of the caller, not of the toolkit.
func TestLimiterListsWhoHoldsAPermitOldestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: 9, Track: spillway.TrackSite})
		p, err := l.AdmitN(spillway.WithClass(t.Context(), spillway.Critical), 3)
		line := lineAbove()
		require.NoError(t, err)
		time.Sleep(time.Minute)
		// Between this test and the limiter there are frames of the root package and
		// of the limiter itself.
		op := spillway.Chain(
			spillway.Fallback(func(_ context.Context, err error) (int, error) { return 0, err }),
			l.Wrap,
		)(func(context.Context) (int, error) {
			holders := l.Holders()
			require.Len(t, holders, 2)
			require.Equal(t, 3, holders[0].Weight)
			require.InDelta(t, time.Minute, holders[0].Age, 2)
			require.Equal(t, spillway.Critical, holders[0].Class)
			require.Contains(t, holders[0].Site, "limiter_test.TestLimiterListsWhoHoldsAPermitOldestFirst")
			require.Contains(t, holders[0].Site, fmt.Sprintf("stats_test.go:%d", line))
			require.Empty(t, holders[0].Stack)
			require.Equal(t, 1, holders[1].Weight)
			require.Empty(t, holders[1].Class)
			require.Contains(t, holders[1].Site, "stats_test.go:")
			return 1, nil
		})
		_, err = op(t.Context())
		require.NoError(t, err)
		p.Release()
		require.Empty(t, l.Holders())
	})
}

// lineAbove returns the number of the line before that of its caller.
func lineAbove() int {
	_, _, line, _ := runtime.Caller(1)
	return line - 1
}

// R23.
func TestLimiterTellsOfLongHoldsWithTheirStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []spillway.Holder
		l := newLimiter(t, limiter.Config{
			Limit: 2, Track: spillway.TrackStack, HoldWarn: time.Minute,
			Hooks: []limiter.Hooks{{HeldLong: func(h spillway.Holder) { told = append(told, h) }}},
		})
		_, err := l.Do(t.Context(), answer(1))
		require.NoError(t, err)
		require.Empty(t, told)
		_, err = l.Do(t.Context(), func(context.Context) (int, error) {
			time.Sleep(time.Minute + 1)
			return 1, nil
		})
		require.NoError(t, err)
		require.Len(t, told, 1)
		require.InDelta(t, time.Minute, told[0].Age, 3)
		require.Contains(t, told[0].Site, "stats_test.go:")
		require.Contains(t, told[0].Stack, "limiter_test.TestLimiterTellsOfLongHoldsWithTheirStack")
		require.Contains(t, told[0].Stack, "testing.tRunner")
		require.Equal(t, uint64(2), l.Stats().Hold.Count, "tracked holds are all timed")
	})
}

func TestLimiterListsNobodyUnlessAsked(t *testing.T) {
	l := newLimiter(t, limiter.Config{})
	admit(t, l, 1)
	require.Empty(t, l.Holders())
}

// R26: a goroutine that begins in the limiter has no caller, and the site says so: it isn't
// the runtime's.
func TestLimiterListsAHolderWithoutACaller(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 1, Track: spillway.TrackSite})
	held, free := make(chan struct{}), make(chan struct{})
	defer close(free)
	go l.Do(t.Context(), func(context.Context) (int, error) { close(held); <-free; return 1, nil }) //nolint:errcheck // nobody waits for it
	<-held
	require.Contains(t, l.Holders()[0].Site, "limiter.(*Limiter[...]).Do ")
}
