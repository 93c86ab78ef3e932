//go:build go1.25

package deadline_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// Row 54: G-EXE-11. What was accepted is run to its end, nothing new comes in, and when
// Close has returned every worker is gone.
func TestExecutorCloseDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 8, Drain: time.Minute})
		var ran atomic.Int64
		for range 10 {
			require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) {
				time.Sleep(time.Second)
				ran.Add(1)
				return 0, nil
			}))
		}
		begin := time.Now()
		closed := make(chan error, 1)
		go func() { closed <- e.Close(t.Context()) }()
		synctest.Wait()
		_, err := e.Do(t.Context(), answer(1))
		require.Equal(t, &spillway.ClosedError{Component: "executor", Name: "test"}, err)
		require.NoError(t, <-closed)
		require.Equal(t, 5*time.Second, time.Since(begin))
		require.Equal(t, int64(10), ran.Load())
		synctest.Wait()
		require.Equal(t, uint64(1), e.Stats().AfterClose)
		require.NoError(t, e.Close(t.Context()), "a second time")
	})
}

// Row 54, B10, B13, E2: G-EXE-11. When the time to drain is over the rest is canceled: what
// waits ends as closed, what runs has its context canceled, and both are reported.
func TestExecutorCloseCutsTheRestOff(t *testing.T) {
	for name, drain := range map[string]time.Duration{"drain": 3 * time.Second, "none": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sink failures
				e := newExecutor(t, deadline.Config{Workers: 2, Queue: 4, MaxSubmitters: 3, Drain: drain, Sink: sink.sink})
				causes := make(chan error, 2)
				op := func(ctx context.Context) (int, error) {
					select {
					case <-ctx.Done():
					case <-time.After(time.Hour):
					}
					causes <- context.Cause(ctx)
					return 0, ctx.Err()
				}
				tight, stop := context.WithTimeout(context.Background(), time.Minute)
				defer stop()
				running := []*deadline.Future[int]{must(t)(e.Submit(context.Background(), op)), must(t)(e.Submit(tight, op))}
				synctest.Wait()
				waiting := must(t)(e.Submit(context.Background(), answer(1)))
				for range 3 {
					require.NoError(t, e.GoN(t.Context(), 5, answer(1)))
				}
				parked := make(chan error, 3)
				for range 3 {
					go func() { _, err := e.Submit(context.Background(), answer(1)); parked <- err }()
				}
				synctest.Wait()
				begin := time.Now()
				err := e.Close(context.Background())
				require.Equal(t, drain, time.Since(begin))
				var report *deadline.CloseError
				require.ErrorAs(t, err, &report)
				require.Equal(t, &deadline.CloseError{Name: "test", Unstarted: 4, Cut: 2}, report)
				require.EqualError(t, err, `executor "test": closed with 4 jobs never started, 2 cut off, 0 still running`)
				for _, f := range running {
					_, err := result(f)
					require.ErrorIs(t, err, context.Canceled, "its own error")
					require.ErrorIs(t, <-causes, spillway.ErrClosed)
				}
				_, err = result(waiting)
				require.ErrorIs(t, err, spillway.ErrClosed)
				for range 3 {
					require.ErrorIs(t, <-parked, spillway.ErrClosed)
				}
				synctest.Wait()
				require.Len(t, sink.all(), 3)
				require.Equal(t, uint64(15), e.Stats().LostItems)
				require.Equal(t, uint64(7), e.Stats().AfterClose)
				require.Equal(t, report, e.Close(context.Background()), "the same again")
			})
		})
	}
}

// B13, E19: G-EXE-11. Close keeps to its context, whatever still runs; who waits for
// that is told, and a later Close sees the worker out.
func TestExecutorCloseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 4, Drain: time.Hour})
		f := must(t)(e.Submit(context.Background(), stubborn(time.Minute)))
		done := make(chan error, 1)
		go func() { _, err := e.Do(context.Background(), stubborn(time.Minute)); done <- err }()
		synctest.Wait()
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, errOp)
		defer cancel()
		begin := time.Now()
		err := e.Close(ctx)
		require.Equal(t, time.Second, time.Since(begin))
		require.ErrorIs(t, err, errOp)
		var report *deadline.CloseError
		require.ErrorAs(t, err, &report)
		require.Equal(t, &deadline.CloseError{Name: "test", Cut: 2, Running: 2, Cause: errOp}, report)
		_, err = f.Result()
		require.ErrorIs(t, err, spillway.ErrClosed)
		require.Empty(t, done, "who lent his own data waits for the operation")
		require.Equal(t, 2, e.Stats().Busy)
		err = e.Close(context.Background())
		require.Equal(t, time.Minute, time.Since(begin))
		require.ErrorAs(t, err, &report)
		require.Equal(t, &deadline.CloseError{Name: "test", Cut: 2}, report)
		require.NoError(t, <-done)
		_, err = f.Result()
		require.ErrorIs(t, err, spillway.ErrClosed, "resolved once and for good")
		require.Equal(t, uint64(2), e.Stats().Ended.Total())
	})
}

// E14, E16, E31: any number at the same time, on a used and on an unused executor.
func TestExecutorCloseIsConcurrentAndIdempotent(t *testing.T) {
	for _, jobs := range []int{0, 5} {
		synctest.Test(t, func(t *testing.T) {
			e := newExecutor(t, deadline.Config{Workers: 2, Queue: 8, Drain: time.Hour})
			for range jobs {
				require.NoError(t, e.Go(t.Context(), lasting(time.Second)))
			}
			closed := make(chan error, 64)
			for range 64 {
				go func() { closed <- e.Close(context.Background()) }()
			}
			for range 64 {
				require.NoError(t, <-closed)
			}
			require.True(t, e.Stats().Closed)
			require.NoError(t, e.SetWorkers(9))
			require.ErrorIs(t, e.Go(t.Context(), answer(1)), spillway.ErrClosed, "it stays closed")
		})
	}
}

// A done context closes at once; idle workers go.
func TestExecutorCloseWithADoneContextStillCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 8, Drain: time.Hour})
		_, err := e.Do(t.Context(), answer(1))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = e.Close(ctx)
		synctest.Wait()
		require.True(t, e.Stats().Closed)
		require.NoError(t, e.Close(context.Background()))
	})
}

// E31: a thousand executors come and go.
func TestExecutorsLeaveNoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 1000 { // the bubble doesn't end while there is one left
			e, err := deadline.New[int](deadline.Config{Name: "short", Workers: 2, Queue: 1, TTL: time.Minute, Drain: time.Hour})
			require.NoError(t, err)
			require.NoError(t, e.Go(t.Context(), answer(1)))
			require.NoError(t, e.Close(t.Context()))
		}
	})
}

// E1: ten thousand queued jobs are canceled; whoever waits for them is told.
func TestExecutorCancelOfManyQueuedJobsReachesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 10_000, Drain: time.Hour})
		release := occupy(t, e, 1)
		ctx, cancel := context.WithCancel(context.Background())
		ran := 0
		var futures []*deadline.Future[int]
		for range 10_000 {
			futures = append(futures, must(t)(e.Submit(ctx, func(context.Context) (int, error) { ran++; return 0, nil })))
		}
		cancel()
		for _, f := range futures {
			_, err := result(f)
			require.ErrorIs(t, err, context.Canceled)
		}
		require.Zero(t, e.Stats().Depth)
		release()
		require.NoError(t, e.Close(context.Background()))
		require.Zero(t, ran)
		require.Equal(t, uint64(10_000), e.Stats().Canceled)
	})
}
