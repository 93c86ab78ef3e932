//go:build go1.25

package lane_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
)

// weights is a meter that keeps the weights of the calls that have ended.
type weights []int

func (w *weights) Begin(context.Context, time.Duration) uint8 { return 0 }
func (w *weights) Full(time.Duration)                         {}
func (w *weights) End(s spillway.Sample)                      { *w = append(*w, s.Weight) }

// G-LAN-9: in a paced lane callers wait for their turn within the lane's rules, and a
// batch that is wider than the limit has one, too.
func TestLanePacedCallersWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 3, MaxWait: 25 * time.Millisecond})
		var seen weights
		require.Equal(t, 1, l.Limit())
		require.NoError(t, l.SetMeter(&seen, 1))
		require.NoError(t, l.SetMaxWeight(9))
		require.NoError(t, l.SetPace(10*time.Millisecond))
		require.Equal(t, 10*time.Millisecond, l.Stats().Pace)
		start, errs := time.Now(), make(chan error, 3)
		for i := range 3 {
			go func() {
				_, err := l.DoN(t.Context(), 1+4*i, func(context.Context) (int, error) {
					require.Equal(t, time.Duration(i+1)*10*time.Millisecond, time.Since(start))
					return 0, nil
				})
				errs <- err
			}()
			synctest.Wait()
		}
		require.NoError(t, <-errs)
		require.NoError(t, <-errs)
		require.Equal(t, spillway.ReasonMaxWait, reasonOf(t, <-errs))
		require.Equal(t, weights{1, 1}, seen, "the second was of weight 5")
	})
}

func TestLaneOfTheZeroValueCannotBeDriven(t *testing.T) {
	var l lane.Lane[int]
	require.Zero(t, l.Limit())
	require.ErrorIs(t, l.SetPace(1), spillway.ErrClosed)
	require.ErrorIs(t, l.SetMaxWeight(1), spillway.ErrClosed)
	require.ErrorIs(t, l.SetMeter(nil, 0), spillway.ErrClosed)
}
