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

// warm lets n jobs run, one after the other, that take d each.
func warm(t *testing.T, e *deadline.Executor[int], n int, d time.Duration) {
	t.Helper()
	for range n {
		ctx, cancel := context.WithTimeout(t.Context(), 10*d)
		_, err := e.Do(ctx, stubborn(d))
		cancel()
		require.NoError(t, err)
	}
}

// submitIn hands in a job with so much time left.
func submitIn(t *testing.T, e *deadline.Executor[int], left time.Duration, op spillway.Op[int]) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), left)
	t.Cleanup(cancel)
	return e.Go(ctx, op)
}

// Row 95: who can't be served in time is refused when he comes, not after he waited.
func TestExecutorPredictsWhoWillNotMakeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 100, Predict: 1, Drain: time.Hour})
		warm(t, e, 60, 100*time.Millisecond)
		long := func() error { return submitIn(t, e, time.Minute, stubborn(100*time.Millisecond)) }
		for range 10 { // two run, eight wait: the next starts in 450 ms at the latest
			require.NoError(t, long())
		}
		begin := time.Now()
		err := submitIn(t, e, 500*time.Millisecond, answer(1))
		requireReason(t, spillway.ReasonPredicted, err)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, time.Since(begin))
		require.NoError(t, submitIn(t, e, 600*time.Millisecond, answer(1)))
		require.Equal(t, uint64(1), e.Stats().Refused.Of(spillway.ReasonPredicted))
		time.Sleep(time.Minute)
		require.Zero(t, e.Stats().Late)
	})
}

// Config.Predict: with a quarter, nobody waits for more than a quarter of his time.
func TestExecutorPredictBoundsTheShareOfWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 100, Predict: 0.25, Drain: time.Hour})
		warm(t, e, 60, 100*time.Millisecond)
		for range 10 {
			require.NoError(t, submitIn(t, e, time.Minute, stubborn(100*time.Millisecond)))
		}
		requireReason(t, spillway.ReasonPredicted, submitIn(t, e, 3900*time.Millisecond, answer(1)))
		require.NoError(t, submitIn(t, e, 4100*time.Millisecond, answer(1)))
	})
}

// No prediction before there is something to go by, and none with Predict zero.
func TestExecutorPredictsNothingBeforeFiftyReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			share    float64
			releases int
			refused  bool
		}{{1, 48, false}, {1, 50, true}, {0, 60, false}} {
			e := newExecutor(t, deadline.Config{Queue: 100, Predict: c.share, Drain: time.Hour})
			warm(t, e, c.releases, 100*time.Millisecond)
			require.NoError(t, submitIn(t, e, time.Minute, stubborn(100*time.Millisecond)))
			err := submitIn(t, e, 50*time.Millisecond, answer(1))
			require.Equal(t, c.refused, err != nil, "%+v", c)
			time.Sleep(time.Minute)
		}
	})
}

// The first probing rule, G-EXE-10: everything got slow, then fast again. With every
// deadline below the estimate nothing would ever run any more; an idle executor lets
// one in, and the estimate falls.
func TestExecutorProbesWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 10, Predict: 1, Drain: time.Hour})
		warm(t, e, 100, time.Second)
		ran, first := 0, 0
		for i := range 4000 { // one each 5 ms, of 1 ms, which have 20 ms
			err := submitIn(t, e, 20*time.Millisecond, func(ctx context.Context) (int, error) {
				ran++
				return lasting(time.Millisecond)(ctx)
			})
			if err == nil && first == 0 {
				first = i + 1
			}
			time.Sleep(5 * time.Millisecond)
		}
		synctest.Wait()
		require.Equal(t, 1, first, "nothing runs: the first one is let in")
		require.Greater(t, ran, 3900)
		require.Zero(t, e.Stats().Late)
	})
}

// The second probing rule, G-EXE-10: one worker hangs, so the executor is never idle.
// Without the rule nobody would get to the other worker.
func TestExecutorProbesWhenNothingWasStartedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 10, TTL: 10 * time.Hour, Predict: 1, Drain: 20 * time.Hour})
		warm(t, e, 100, time.Second)
		require.NoError(t, e.Go(t.Context(), stubborn(5*time.Hour)))
		var starts []time.Duration
		begin := time.Now()
		for range 10_000 { // one each 5 ms, of 1 ms, which have 20 ms
			_ = submitIn(t, e, 20*time.Millisecond, func(ctx context.Context) (int, error) {
				starts = append(starts, time.Since(begin))
				return lasting(time.Millisecond)(ctx)
			})
			time.Sleep(5 * time.Millisecond)
		}
		synctest.Wait()
		require.NotEmpty(t, starts)
		require.InDelta(t, 50*time.Millisecond, starts[0], float64(5*time.Millisecond))
		require.Greater(t, len(starts), 7000, "the estimate has fallen, and they run")
	})
}

// A probe is started even if the estimate says that it comes too late: it was let in
// to find out. Others that have become hopeless in the queue are not. Row 96.
func TestExecutorDropsTheHopelessBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 10, Predict: 1, Drain: time.Hour})
		warm(t, e, 60, 100*time.Millisecond)
		// As predicted the second would have 150 ms; the first takes longer than usual.
		require.NoError(t, submitIn(t, e, time.Minute, stubborn(200*time.Millisecond)))
		ran := false
		var err error
		ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer cancel()
		_, err = e.Do(ctx, func(context.Context) (int, error) { ran = true; return 0, nil })
		r := rejectionOf(t, spillway.ReasonPredicted, err)
		require.Equal(t, 200*time.Millisecond, r.Wait)
		require.False(t, ran)
	})
}

// A backend that stalls shows in that nothing ends: jobs that came after notice by the
// age of what runs, long before the mean of what has ended could tell.
func TestExecutorPredictionSeesAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 4, Queue: 100, Predict: 1, Drain: time.Hour})
		warm(t, e, 60, 10*time.Millisecond)
		for range 6 {
			require.NoError(t, submitIn(t, e, time.Minute, stubborn(10*time.Second)))
		}
		require.NoError(t, submitIn(t, e, time.Second, answer(1)))
		time.Sleep(5 * time.Second)
		requireReason(t, spillway.ReasonPredicted, submitIn(t, e, time.Second, answer(1)))
	})
}

// Shadow counts the refusals and makes none; Off doesn't look. The bounds hold.
func TestExecutorModesGovernThePrediction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 3, Predict: 1, Mode: spillway.Shadow, Drain: time.Hour})
		warm(t, e, 60, 100*time.Millisecond)
		require.NoError(t, submitIn(t, e, time.Minute, stubborn(100*time.Millisecond)))
		synctest.Wait()
		require.NoError(t, submitIn(t, e, 50*time.Millisecond, answer(1)))
		require.Equal(t, uint64(1), e.Stats().WouldRefuse)
		require.NoError(t, e.SetMode(spillway.Off))
		require.NoError(t, submitIn(t, e, 50*time.Millisecond, answer(1)))
		require.Equal(t, uint64(1), e.Stats().WouldRefuse)
		require.NoError(t, submitIn(t, e, 50*time.Millisecond, answer(1)))
		requireReason(t, spillway.ReasonQueueFull, submitIn(t, e, time.Hour, answer(1)))
		require.NoError(t, e.SetMode(spillway.Enforce))
		require.Zero(t, e.Stats().Refused.Of(spillway.ReasonPredicted))
	})
}
