//go:build go1.25

package limiter_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
)

// last is a meter that keeps the last sample.
type last struct{ sample spillway.Sample }

func (l *last) Begin(context.Context, time.Duration) uint8 { return 2 }
func (l *last) Full(time.Duration)                         {}
func (l *last) End(s spillway.Sample)                      { l.sample = s }

// G-LIM-8, G-LIM-9, G-LIM-10: what drives a limiter sees its calls, can go below one, and
// lets a batch through that is wider than the limit.
func TestLimiterCanBeDriven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: 4, RetryAfter: time.Millisecond})
		require.Equal(t, 4, l.Limit())
		var seen last
		require.NoError(t, l.SetMeter(&seen, 1))
		require.NoError(t, l.SetMaxWeight(20))
		slow := func(context.Context) (int, error) { time.Sleep(time.Second); return 1, context.DeadlineExceeded }
		_, err := l.DoN(t.Context(), 20, slow)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.InDelta(t, time.Second, seen.sample.Took, 32)
		seen.sample.Took, seen.sample.At = 0, 0
		require.Equal(t, spillway.Sample{InUse: 4, Weight: 4, Outcome: spillway.OutcomeTimeout, Label: 2}, seen.sample)

		require.NoError(t, l.SetPace(time.Minute))
		_, err = l.Do(t.Context(), answer(1))
		require.Equal(t, &spillway.Rejection{
			Component: "limiter", Name: "test", Reason: spillway.ReasonPaced, Limit: 4, RetryAfter: time.Minute,
		}, err)
		require.ErrorContains(t, err, "the next call isn't due yet")
		require.Equal(t, time.Minute, l.Stats().Pace)
		time.Sleep(time.Minute)
		_, err = l.Do(t.Context(), answer(1))
		require.NoError(t, err)
		require.NoError(t, l.SetPace(0))
		requireWhole(t, l)
	})
}

func TestLimiterOfTheZeroValueCannotBeDriven(t *testing.T) {
	var l limiter.Limiter[int]
	require.Zero(t, l.Limit())
	require.ErrorIs(t, l.SetPace(1), spillway.ErrClosed)
	require.ErrorIs(t, l.SetMaxWeight(1), spillway.ErrClosed)
	require.ErrorIs(t, l.SetMeter(nil, 0), spillway.ErrClosed)
}
