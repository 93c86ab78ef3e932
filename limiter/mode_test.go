package limiter_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
)

// R32, B-14.
func TestLimiterShadowRefusesNothingAndCountsWhatItWould(t *testing.T) {
	refused := 0
	l := newLimiter(t, limiter.Config{Limit: 2, Mode: spillway.Shadow, Hooks: []limiter.Hooks{{
		Rejected: func(context.Context, *spillway.Rejection) { refused++ },
	}}})
	a, b := admit(t, l, 1), admit(t, l, 1)
	require.Zero(t, l.Stats().WouldRefuse)
	v, err := l.Do(t.Context(), answer(1))
	require.NoError(t, err)
	require.Equal(t, 1, v)
	_, err = l.DoN(t.Context(), 100, answer(1))
	require.NoError(t, err)
	require.Equal(t, uint64(2), l.Stats().WouldRefuse)
	require.Zero(t, l.Stats().Refused.Total())
	require.Zero(t, refused)
	a.Release()
	b.Release()
	requireWhole(t, l)
}

// R32.
func TestLimiterOffAdmitsEverythingUncounted(t *testing.T) {
	l := newLimiter(t, limiter.Config{Mode: spillway.Off})
	v, err := l.DoN(t.Context(), -7, func(ctx context.Context) (int, error) { return l.Do(ctx, answer(2)) })
	require.NoError(t, err)
	require.Equal(t, 2, v)
	p := admit(t, l, 50)
	require.Equal(t, spillway.Permit{}, p)
	p.Release()
	require.Equal(t, limiter.Stats{Name: "test", Mode: spillway.Off, Limit: 1, Available: 1}, l.Stats())
}

func TestLimiterRefuseAllRunsNothing(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 10, Mode: spillway.RefuseAll})
	_, err := l.Do(t.Context(), func(context.Context) (int, error) {
		t.Error("the operation ran")
		return 0, nil
	})
	require.Equal(t, &spillway.Rejection{Component: "limiter", Name: "test", Reason: spillway.ReasonRefuseAll, Limit: 10}, err)
	require.Equal(t, uint64(1), l.Stats().Refused.Of(spillway.ReasonRefuseAll))
}

// R32.
func TestLimiterModeChangesWithCallsUnderWayKeepTheCountExact(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 2})
	v, err := l.Do(t.Context(), func(ctx context.Context) (int, error) { // counted
		require.NoError(t, l.SetMode(spillway.Off))
		return l.DoN(ctx, 2, func(ctx context.Context) (int, error) { // not counted
			require.NoError(t, l.SetMode(spillway.Enforce))
			require.Equal(t, 1, l.Stats().InUse)
			return l.Do(ctx, func(ctx context.Context) (int, error) { // counted
				_, err := l.Do(ctx, answer(0))
				require.ErrorIs(t, err, spillway.ErrBackpressure)
				require.NoError(t, l.SetMode(spillway.RefuseAll))
				return 6, nil
			})
		})
	})
	require.NoError(t, err)
	require.Equal(t, 6, v)
	require.Equal(t, uint64(2), l.Stats().Admitted)
	requireWhole(t, l)
}

// R16, B-04.
func TestLimiterRefusesWithTheLimitOfTheMoment(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 1})
	p := admit(t, l, 1)
	for _, n := range []int{3, 2, 7} {
		require.NoError(t, l.SetLimit(n))
		_, err := l.DoN(t.Context(), n, answer(1))
		var r *spillway.Rejection
		require.ErrorAs(t, err, &r)
		require.Equal(t, n, r.Limit)
	}
	p.Release()
	requireWhole(t, l)
}

// R16.
func TestLimiterRaisedLimitAdmitsAndLoweredTakesNothingAway(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 1})
	a := admit(t, l, 1)
	require.NoError(t, l.SetLimit(3))
	b := admit(t, l, 2)
	require.NoError(t, l.SetLimit(1))
	require.Equal(t, 3, l.Stats().InUse)
	require.Zero(t, l.Stats().Available)
	b.Release()
	_, err := l.Admit(t.Context())
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	a.Release()
	admit(t, l, 1).Release()
	requireWhole(t, l)
}

// F11, B11, P5.
func TestLimiterHooksMayCallTheLimiterAndPanic(t *testing.T) {
	var l *limiter.Limiter[int]
	told := 0
	l = newLimiter(t, limiter.Config{Hooks: []limiter.Hooks{
		{Rejected: func(ctx context.Context, r *spillway.Rejection) {
			_ = l.SetLimit(r.Limit + 1)
			_, _ = l.Do(ctx, answer(1))
			_ = l.SetLimit(r.Limit)
			panic("a rude hook")
		}},
		{Rejected: func(context.Context, *spillway.Rejection) { told++ }},
	}})
	p := admit(t, l, 1)
	_, err := l.Do(t.Context(), answer(1))
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.Equal(t, 1, told)
	require.Equal(t, uint64(2), l.Stats().Admitted, "the hook's call was admitted")
	p.Release()
	requireWhole(t, l)
}
