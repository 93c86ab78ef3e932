//go:build go1.25

package deadline_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// Rows 91, 92: G-EXE-2, G-EXE-3. Eight seconds of queueing with five seconds to live:
// the handler is never called, the place is free, and it is counted and told.
func TestExecutorExpiredJobIsNeverStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []*spillway.Rejection
		e := newExecutor(t, deadline.Config{
			Queue: 1, TTL: 20 * time.Second, Drain: time.Hour,
			Hooks: []deadline.Hooks{{}, {Rejected: func(_ context.Context, r *spillway.Rejection) { told = append(told, r) }}},
		})
		must(t)(e.Submit(t.Context(), stubborn(8*time.Second)))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		called := false
		begin := time.Now()
		_, err := e.Do(ctx, func(context.Context) (int, error) { called = true; return 0, nil })
		require.Equal(t, 5*time.Second, time.Since(begin), "told at the deadline, not when reached")
		require.ErrorIs(t, err, deadline.ErrExpired)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		r := rejectionOf(t, spillway.ReasonExpired, err)
		require.Equal(t, 5*time.Second, r.Wait)
		require.EqualError(t, err, `executor "test" refused the call after 5s: too little of its time was left to start it`)
		require.Equal(t, 504, spillway.StatusOf(err).HTTP)
		st := e.Stats()
		require.Zero(t, st.Depth)
		require.Equal(t, uint64(1), st.Refused.Of(spillway.ReasonExpired))
		synctest.Wait() // hooks come after the answer
		require.Len(t, told, 1)
		require.Equal(t, spillway.ReasonExpired, told[0].Reason)
		time.Sleep(time.Minute)
		require.False(t, called)
	})
}

// Row 94: G-EXE-3. A queue full of expired jobs takes new ones, whoever hangs.
func TestExecutorExpiredJobsFreeTheirPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 100, TTL: time.Hour, Drain: 24 * time.Hour})
		require.NoError(t, e.Go(t.Context(), stubborn(10*time.Hour)))
		var futures []*deadline.Future[int]
		for i := range 100 {
			// The deadlines are in no order, and some are the same.
			ctx := deadlineOnly{t.Context(), time.Now().Add(time.Duration(1+i*37%50) * time.Second)}
			futures = append(futures, must(t)(e.TrySubmit(ctx, answer(i))))
		}
		_, err := e.TrySubmit(t.Context(), answer(1))
		requireReason(t, spillway.ReasonQueueFull, err)
		time.Sleep(50 * time.Second)
		for range 100 {
			must(t)(e.TrySubmit(t.Context(), answer(1)))
		}
		for _, f := range futures {
			_, err := f.Result()
			require.ErrorIs(t, err, deadline.ErrExpired)
		}
		require.Equal(t, uint64(100), e.Stats().Refused.Of(spillway.ReasonExpired))
	})
}

// Row 94: each leaves at its own deadline, not with the first or the last.
func TestExecutorEachJobExpiresAtItsOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 200, TTL: time.Hour, Drain: 24 * time.Hour})
		require.NoError(t, e.Go(t.Context(), stubborn(10*time.Hour)))
		for i := range 200 {
			// A context that has the deadline but never says so itself.
			ctx := deadlineOnly{t.Context(), time.Now().Add(time.Duration(1+i*73%200) * time.Second)}
			require.NoError(t, e.Go(ctx, answer(i)))
		}
		time.Sleep(500 * time.Millisecond)
		for i := range 200 {
			require.Equal(t, 200-i, e.Stats().Depth)
			time.Sleep(time.Second)
		}
		require.Zero(t, e.Stats().Depth)
	})
}

// deadlineOnly is a context whose Done channel says nothing of its deadline.
type deadlineOnly struct {
	context.Context
	at time.Time
}

func (c deadlineOnly) Deadline() (time.Time, bool) { return c.at, true }

// Row 94, E35: one timer, no goroutine: whoever waits for the future is told on time.
func TestExecutorFutureOfAnExpiredJobIsResolvedAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 100, TTL: 5 * time.Second, Drain: time.Hour})
		require.NoError(t, e.Go(t.Context(), stubborn(time.Hour)))
		before := runtime.NumGoroutine()
		begin := time.Now()
		var futures []*deadline.Future[int]
		for range 100 {
			futures = append(futures, must(t)(e.Submit(context.Background(), answer(1))))
		}
		synctest.Wait()
		require.LessOrEqual(t, runtime.NumGoroutine(), before+1)
		for _, f := range futures {
			<-f.Done()
			_, err := f.Result()
			require.ErrorIs(t, err, deadline.ErrExpired)
		}
		require.Equal(t, 5*time.Second, time.Since(begin))
	})
}

// E36: stale work isn't executed: queue older than its deadline, zero executed, all counted.
func TestExecutorRunsNothingOfAQueueThatIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 1000, TTL: time.Second, Drain: time.Hour})
		for range 2 {
			require.NoError(t, e.Go(t.Context(), stubborn(time.Second)))
		}
		ran := 0
		for range 1000 {
			require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) { ran++; return 0, nil }))
		}
		time.Sleep(time.Minute)
		require.Zero(t, ran) // the workers are free at the very moment of the deadline
		require.Equal(t, uint64(1000), e.Stats().Refused.Of(spillway.ReasonExpired))
		require.Equal(t, uint64(2), e.Stats().Ended.Total())
	})
}

// R102: what ended how can be told apart.
func TestExecutorErrorsTellHowAJobEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 9, TTL: 10 * time.Second, Drain: time.Hour})
		submit := func(ctx context.Context, op spillway.Op[int]) func() error {
			f := must(t)(e.Submit(ctx, op))
			return func() error { _, err := result(f); return err }
		}
		timed := submit(context.Background(), lasting(time.Hour))
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(context.Background())
		canceled := submit(ctx, answer(1))
		expired := submit(context.Background(), answer(1))
		cancel(errOp)
		for _, c := range []struct {
			name                              string
			err                               error
			expired, deadline, pressure, ours bool
		}{
			{"canceled in the queue", canceled(), false, false, false, true},
			{"timed out while running", timed(), false, true, false, false},
			{"expired in the queue", expired(), true, true, true, false},
		} {
			for _, m := range []struct {
				want   bool
				target error
			}{
				{c.expired, deadline.ErrExpired},
				{c.deadline, context.DeadlineExceeded},
				{c.pressure, spillway.ErrBackpressure},
				{c.ours, errOp},
			} {
				if m.want {
					require.ErrorIs(t, c.err, m.target, c.name)
				} else {
					require.NotErrorIs(t, c.err, m.target, c.name)
				}
			}
		}
		st := e.Stats()
		require.Equal(t, uint64(1), st.Ended.Of(spillway.OutcomeTimeout))
		require.Equal(t, uint64(1), st.Canceled)
		require.Equal(t, uint64(1), st.Refused.Of(spillway.ReasonExpired))
	})
}

// Row 96: what comes too late is a success to its caller and waste to the statistics.
func TestExecutorCountsLateWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 9, TTL: time.Second, Drain: time.Hour})
		v, err := e.Do(context.Background(), stubborn(2*time.Second))
		require.NoError(t, err)
		require.Equal(t, 1, v)
		_, err = e.Do(context.Background(), func(context.Context) (int, error) {
			time.Sleep(2 * time.Second)
			return 0, errOp
		})
		require.Same(t, errOp, err)
		_, err = e.Do(context.Background(), stubborn(time.Second)) // to the very end of its time
		require.NoError(t, err)
		st := e.Stats()
		require.Equal(t, uint64(2), st.Late)
		require.Equal(t, uint64(1), st.Ended.Of(spillway.OutcomeLate))
		require.Equal(t, uint64(1), st.Ended.Of(spillway.OutcomeUnknown))
		require.Equal(t, uint64(1), st.Ended.Of(spillway.OutcomeOK))
	})
}

// Rows 90, 97: one budget for waiting and running; the earlier of the two deadlines counts.
func TestExecutorJobHasOneDeadlineForWaitAndRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 9, TTL: 10 * time.Second, Drain: time.Hour})
		for _, c := range []struct{ own, left time.Duration }{{0, 7}, {8, 5}, {20, 7}} {
			require.NoError(t, e.Go(t.Context(), stubborn(3*time.Second)))
			ctx := t.Context()
			if c.own > 0 {
				timed, cancel := context.WithTimeout(ctx, c.own*time.Second)
				defer cancel()
				ctx = timed
			}
			_, err := e.Do(ctx, func(ctx context.Context) (int, error) {
				left, ok := deadline.Remaining(ctx)
				require.True(t, ok)
				require.Equal(t, c.left*time.Second, left)
				<-ctx.Done()
				require.ErrorIs(t, context.Cause(ctx), context.DeadlineExceeded)
				left, _ = deadline.Remaining(ctx)
				require.Zero(t, left)
				return 0, ctx.Err()
			})
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, deadline.ErrExpired)
		}
	})
}
