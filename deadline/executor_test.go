//go:build go1.25

package deadline_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/internal/hammer"
)

// Row 49 is in submit_test.go; here: value and error come back untouched.
func TestExecutorDoReturnsWhatTheOperationReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1})
		v, err := e.Do(t.Context(), answer(7))
		require.NoError(t, err)
		require.Equal(t, 7, v)
		v, err = e.Wrap(func(context.Context) (int, error) { return 3, errOp })(t.Context())
		require.Same(t, errOp, err)
		require.Equal(t, 3, v)
		f, err := deadline.Share[string](e).Submit(t.Context(), func(context.Context) (string, error) { return "shared", nil })
		require.NoError(t, err)
		s, err := f.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "shared", s)
		st := e.Stats()
		require.Equal(t, uint64(2), st.Ended.Of(spillway.OutcomeOK))
		require.Equal(t, uint64(1), st.Ended.Of(spillway.OutcomeUnknown))
	})
}

// Rows 47, 48, E13, E17: G-EXE-1. A full queue refuses at once, and to the job exactly,
// and takes the next when there is room.
func TestExecutorQueueIsBoundedExactly(t *testing.T) {
	for _, size := range []int{0, 1, 2, 256} {
		for _, workers := range []int{1, 2, 3} {
			synctest.Test(t, func(t *testing.T) {
				e := newExecutor(t, deadline.Config{Workers: workers, Queue: size, Drain: time.Hour})
				release := make(chan struct{})
				// Nobody has had the time to wake up; a free worker counts all the same.
				for i := range workers + size {
					_, err := e.TrySubmit(t.Context(), waiting(release))
					require.NoError(t, err, "job %d of %d workers and %d places", i, workers, size)
				}
				before := time.Now()
				_, err := e.TrySubmit(t.Context(), waiting(release))
				r := rejectionOf(t, spillway.ReasonQueueFull, err)
				require.Equal(t, &spillway.Rejection{Component: "executor", Name: "test", Reason: spillway.ReasonQueueFull, Limit: size}, r)
				require.Zero(t, time.Since(before))
				synctest.Wait()
				st := e.Stats()
				require.Equal(t, size, st.Depth)
				require.Equal(t, workers, st.Busy)
				require.Zero(t, st.Idle)
				close(release)
				synctest.Wait()
				v, err := e.Do(t.Context(), answer(3))
				require.NoError(t, err)
				require.Equal(t, 3, v)
			})
		}
	}
}

// Rows 51, 52, E34, E35: G-EXE-1, G-EXE-12. However many jobs, there are so many
// goroutines as workers, and a waiting job costs none.
func TestExecutorHasNoMoreGoroutinesThanWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		e := newExecutor(t, deadline.Config{Workers: 4, Queue: 10_000, Drain: 24 * time.Hour, TTL: 24 * time.Hour})
		require.LessOrEqual(t, runtime.NumGoroutine(), before+1, "before there is work")
		var now, most atomic.Int64
		for range 10_000 {
			require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Millisecond)
				now.Add(-1)
				return 0, nil
			}))
		}
		synctest.Wait()
		require.LessOrEqual(t, runtime.NumGoroutine(), before+4+1)
		time.Sleep(10 * time.Second)
		require.Equal(t, int64(4), most.Load())
		require.Equal(t, uint64(10_000), e.Stats().Ended.Of(spillway.OutcomeOK))
		require.LessOrEqual(t, runtime.NumGoroutine(), before+4+1)
	})
}

// B19, W17: G-EXE-8.
func TestExecutorStartsJobsInTheOrderTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 5, MaxSubmitters: 100, Drain: time.Hour})
		release := occupy(t, e, 1)
		var order []int
		for i := range 50 {
			go func() {
				_, err := e.Do(context.Background(), func(context.Context) (int, error) {
					order = append(order, i)
					return 0, nil
				})
				require.NoError(t, err)
			}()
			synctest.Wait()
		}
		require.Equal(t, 45, e.Stats().Parked)
		release()
		synctest.Wait()
		require.Len(t, order, 50)
		require.IsIncreasing(t, order)
	})
}

// Row 60, E44: one stuck handler leaves the others at work.
func TestExecutorSlowJobDoesNotBlockTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 100, TTL: 10 * time.Hour, Drain: 20 * time.Hour})
		require.NoError(t, e.Go(t.Context(), stubborn(10*time.Hour)))
		begin := time.Now()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				_, err := e.Do(t.Context(), lasting(time.Second))
				require.NoError(t, err)
			})
		}
		all.Wait()
		require.Equal(t, 50*time.Second, time.Since(begin))
	})
}

// Row 66: no job waits longer than the queue divided by the rate at which it drains.
func TestExecutorWaitIsBoundedByQueueOverRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const queue, workers, run = 20, 4, 100 * time.Millisecond
		e := newExecutor(t, deadline.Config{Workers: workers, Queue: queue, Drain: time.Hour})
		var longest atomic.Int64
		for range 200 { // ten seconds at five times what can be done
			for range 10 {
				came := time.Now()
				_, _ = e.TrySubmit(t.Context(), func(context.Context) (int, error) {
					longest.Store(max(longest.Load(), int64(time.Since(came))))
					time.Sleep(run)
					return 0, nil
				})
			}
			time.Sleep(50 * time.Millisecond)
		}
		// The job in front may have just begun: one more round.
		require.LessOrEqual(t, time.Duration(longest.Load()), run*queue/workers+run)
		require.Greater(t, time.Duration(longest.Load()), run*queue/workers/2)
		require.NotZero(t, e.Stats().Refused.Of(spillway.ReasonQueueFull))
	})
}

// E6: tasks get lost with few workers.
func TestExecutorLosesNothingWithFewWorkers(t *testing.T) {
	for workers := 1; workers <= 3; workers++ {
		e := newExecutor(t, deadline.Config{Workers: workers, Queue: 64, MaxSubmitters: 4, Drain: time.Minute})
		var done atomic.Int64
		hammer.Together(4, func(int) {
			for range scaled(25_000) {
				f, err := e.Submit(t.Context(), func(context.Context) (int, error) { return int(done.Add(1)), nil })
				if err != nil {
					t.Error(err)
					return
				}
				_ = f
			}
		})
		require.NoError(t, e.Close(t.Context()))
		require.EqualValues(t, 4*scaled(25_000), done.Load())
		require.EqualValues(t, 4*scaled(25_000), e.Stats().Ended.Of(spillway.OutcomeOK))
	}
}

// E24: a nil function is an error, and so is a job without an end.
func TestExecutorRefusesWhatCannotWork(t *testing.T) {
	e, err := deadline.New[int](deadline.Config{Name: "test", Workers: 1})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	_, err = e.Do(ctx, nil)
	require.ErrorIs(t, err, deadline.ErrNilOp)
	require.ErrorIs(t, e.Go(t.Context(), answer(1)), deadline.ErrNoDeadline)
	require.NotErrorIs(t, deadline.ErrNoDeadline, spillway.ErrBackpressure)
	for _, err := range []error{deadline.ErrNoDeadline, deadline.ErrNilOp} {
		require.Equal(t, spillway.OutcomePermanent, spillway.OutcomeOf(err), "the code has to change")
		require.Equal(t, spillway.Status{HTTP: 500, GRPC: 13}, spillway.StatusOf(err))
	}
	for _, items := range []int{0, -1, deadline.MaxItems + 1} {
		var weight *spillway.WeightError
		require.ErrorAs(t, e.GoN(ctx, items, answer(1)), &weight)
		require.Equal(t, items, weight.Weight)
	}
	require.Equal(t, uint64(5), e.Stats().Invalid)
	require.Equal(t, uint64(5), e.Stats().Submitted)
	require.NoError(t, e.Close(t.Context()))
}

// B7: G-EXE-2. A done context admits nothing, even if workers are free.
func TestExecutorDoneContextAdmitsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1})
		cause := errOp
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		_, err := e.Do(ctx, answer(1))
		require.Same(t, cause, err)
		require.Same(t, cause, e.Go(ctx, answer(1)))
		late, stop := context.WithTimeout(t.Context(), -1)
		defer stop()
		_, err = e.Submit(late, answer(1))
		requireReason(t, spillway.ReasonExpired, err)
		require.ErrorIs(t, err, deadline.ErrExpired)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		st := e.Stats()
		require.Equal(t, uint64(2), st.Canceled)
		require.Equal(t, uint64(1), st.Refused.Of(spillway.ReasonExpired))
		require.Zero(t, st.Ended.Total())
	})
}

func TestExecutorZeroValueIsClosed(t *testing.T) {
	var e deadline.Executor[int]
	require.Empty(t, e.Name())
	_, err := e.Do(t.Context(), answer(1))
	require.ErrorIs(t, err, spillway.ErrClosed)
	_, err = e.Submit(t.Context(), answer(1))
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.ErrorIs(t, e.Go(t.Context(), answer(1)), spillway.ErrClosed)
	require.ErrorIs(t, e.SetWorkers(2), spillway.ErrClosed)
	require.ErrorIs(t, e.SetMode(spillway.Off), spillway.ErrClosed)
	require.NoError(t, e.Close(t.Context()))
	require.True(t, e.Stats().Closed)
}
