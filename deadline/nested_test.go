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

// requireNested fails unless err says that a job called its own executor.
func requireNested(t *testing.T, err error) {
	t.Helper()
	var nested *spillway.NestedError
	require.ErrorAs(t, err, &nested)
	require.Equal(t, &spillway.NestedError{Component: "executor", Name: "test"}, nested)
	require.NotErrorIs(t, err, spillway.ErrBackpressure)
}

// G-EXE-9: nested pools hang in others. A job on a full pool that wants to wait for
// another job of its own executor gets an error, however far down it asks.
func TestExecutorNestedCallOnAFullPoolIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 2, MaxSubmitters: 5, Drain: time.Hour})
		other := newExecutor(t, deadline.Config{Queue: 1})
		for _, own := range []time.Duration{time.Minute, 2 * time.Hour} { // with a context of ours, and the caller's
			ctx, cancel := context.WithTimeout(context.Background(), own)
			defer cancel()
			begin := time.Now()
			_, err := e.Do(ctx, func(ctx context.Context) (int, error) {
				_, err := e.Do(context.WithValue(ctx, key{}, 1), answer(1))
				requireNested(t, err)
				_, err = other.Do(ctx, func(ctx context.Context) (int, error) { return e.Do(ctx, answer(1)) })
				requireNested(t, err)
				_, err = deadline.Share[string](e).Do(ctx, func(context.Context) (string, error) { return "", nil })
				requireNested(t, err)
				// What needn't wait is fine.
				f := must(t)(e.Submit(ctx, answer(3)))
				require.NoError(t, e.Go(ctx, answer(3)))
				_, err = f.Wait(ctx)
				requireNested(t, err)
				_, err = f.Result()
				require.ErrorIs(t, err, deadline.ErrPending)
				_, err = e.Submit(ctx, answer(3)) // full: it would have to wait for room
				requireNested(t, err)
				_, err = e.TrySubmit(ctx, answer(3))
				requireReason(t, spillway.ReasonQueueFull, err)
				return 2, nil
			})
			require.NoError(t, err)
			require.Zero(t, time.Since(begin))
		}
		require.Equal(t, uint64(8), e.Stats().Invalid)
	})
}

// G-EXE-9: as long as a worker is free a job may wait for another.
func TestExecutorNestedCallIsServedByAFreeWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 3, Queue: 2, Drain: time.Hour})
		var down func(depth int) spillway.Op[int]
		down = func(depth int) spillway.Op[int] {
			return func(ctx context.Context) (int, error) {
				v, err := e.Do(ctx, down(depth+1))
				if err != nil {
					requireNested(t, err)
					return depth, nil
				}
				return v, nil
			}
		}
		v, err := e.Do(t.Context(), down(1))
		require.NoError(t, err)
		require.Equal(t, 3, v)
	})
}

// E1: what can't be seen from the context ends with a deadline.
func TestExecutorHiddenNestedCallEndsWithADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 2, TTL: 10 * time.Second, Drain: time.Hour})
		begin := time.Now()
		_, err := e.Do(t.Context(), func(context.Context) (int, error) { return e.Do(context.Background(), answer(1)) })
		require.ErrorIs(t, err, deadline.ErrExpired)
		require.Equal(t, 10*time.Second, time.Since(begin))
	})
}

// E20: a producer that is blocked on Submit, and workers that wait for a context which
// only he would cancel: his own context ends it.
func TestExecutorBlockedProducerEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 1, MaxSubmitters: 1, Drain: time.Hour})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		submitted := 0
		for {
			if _, err := e.Submit(ctx, lasting(time.Hour)); err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				break
			}
			submitted++
		}
		require.GreaterOrEqual(t, submitted, 3) // at the very end a worker may be free first
		require.LessOrEqual(t, submitted, 4)
		synctest.Wait()
		require.Zero(t, e.Stats().Busy)
	})
}

// Close from inside a job: an error, nothing changed, no hang. G-EXE-9.
func TestExecutorCloseFromWithinAJobIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 2})
		_, err := e.Do(t.Context(), func(ctx context.Context) (int, error) {
			requireNested(t, e.Close(ctx))
			return 0, nil
		})
		require.NoError(t, err)
		// With a foreign context, too.
		_, err = e.Do(t.Context(), func(context.Context) (int, error) {
			requireNested(t, e.Close(context.Background()))
			requireNested(t, deadline.Share[string](e).Close(context.Background()))
			return 0, nil
		})
		require.NoError(t, err)
		require.False(t, e.Stats().Closed)
		// A job of another executor isn't one of this, and may close it.
		other := newExecutor(t, deadline.Config{Queue: 2})
		_, err = e.Do(t.Context(), func(context.Context) (int, error) { return 0, other.Close(context.Background()) })
		require.NoError(t, err)
		// On a goroutine of its own with a foreign context it can't be seen: it waits for
		// itself, but not for longer than that lives.
		inner := make(chan error, 1)
		_, err = e.Do(t.Context(), func(context.Context) (int, error) {
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				inner <- e.Close(ctx)
			}()
			time.Sleep(2 * time.Second)
			return 0, nil
		})
		require.NoError(t, err)
		var report *deadline.CloseError
		require.ErrorAs(t, <-inner, &report)
		require.Equal(t, 1, report.Running)
		require.ErrorIs(t, report, context.DeadlineExceeded)
	})
}
