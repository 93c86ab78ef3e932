//go:build go1.25

package deadline_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// Overload 2.7: with too little time left nothing is sent.
func TestGateRefusesWhoHasTooLittleTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		op := deadline.Gate[int](50 * time.Millisecond)(func(context.Context) (int, error) { ran++; return 5, nil })
		for _, c := range []struct {
			left time.Duration
			want bool
		}{{time.Second, true}, {50 * time.Millisecond, true}, {50*time.Millisecond - 1, false}, {0, false}, {-1, false}} {
			ctx, cancel := context.WithTimeout(t.Context(), c.left)
			v, err := op(ctx)
			cancel()
			if c.want {
				require.NoError(t, err)
				require.Equal(t, 5, v)
				continue
			}
			require.ErrorIs(t, err, deadline.ErrExpired)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			requireReason(t, spillway.ReasonExpired, err)
			require.EqualError(t, err, "gate refused the call: less than 50ms left of its time")
		}
		require.Equal(t, 2, ran)
	})
}

func TestGateLetsPassWhoHasNoDeadline(t *testing.T) {
	v, err := deadline.Gate[int](time.Hour)(answer(1))(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	require.Equal(t, 1, v)
}

// B7: a canceled context admits nothing, however much time it has.
func TestGateRefusesWhoWasCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOp)
	_, err := deadline.Gate[int](0)(answer(1))(ctx)
	require.Same(t, errOp, err)
	require.NotErrorIs(t, err, spillway.ErrBackpressure)
}

func TestGateOfZeroRefusesWhatIsOver(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err := deadline.Gate[int](0)(answer(1))(ctx)
	require.ErrorIs(t, err, deadline.ErrExpired)
	require.Panics(t, func() { deadline.Gate[int](-1) })
}

func TestRemainingTellsTheTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ok := deadline.Remaining(context.WithoutCancel(t.Context()))
		require.False(t, ok)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		time.Sleep(20 * time.Second)
		left, ok := deadline.Remaining(ctx)
		require.True(t, ok)
		require.Equal(t, 40*time.Second, left)
		time.Sleep(time.Minute)
		left, _ = deadline.Remaining(ctx)
		require.Equal(t, -20*time.Second, left)
	})
}
