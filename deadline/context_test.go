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

type key struct{}

// F10, row 98: values and the tighter deadline of the caller reach the job.
func TestExecutorJobContextIsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1, TTL: time.Minute})
		for _, own := range []time.Duration{time.Second, time.Hour, 0} {
			ctx := context.WithValue(t.Context(), key{}, "kept")
			if own > 0 {
				timed, cancel := context.WithTimeout(ctx, own)
				defer cancel()
				ctx = timed
			}
			_, err := e.Do(spillway.WithClass(ctx, spillway.Critical), func(ctx context.Context) (int, error) {
				require.Equal(t, "kept", ctx.Value(key{}))
				class, _ := spillway.ClassFrom(ctx)
				require.Equal(t, spillway.Critical, class)
				left, ok := deadline.Remaining(ctx)
				require.True(t, ok)
				require.NoError(t, ctx.Err())
				require.NoError(t, context.Cause(ctx))
				if own > 0 {
					require.Equal(t, min(own, time.Minute), left)
				} else {
					require.Equal(t, time.Minute, left)
				}
				ctx.Done()
				require.Equal(t, "kept", ctx.Value(key{}), "also once somebody has asked for Done")
				return 0, nil
			})
			require.NoError(t, err)
		}
	})
}

// Row 93: G-EXE-4. A caller's cancel and the deadline end the job's context, on time,
// whether it looks at Done, at Err, or through a derived context.
func TestExecutorJobContextEndsOnTime(t *testing.T) {
	watch := map[string]func(ctx context.Context) error{
		"done": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"err": func(ctx context.Context) error {
			for ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			return ctx.Err()
		},
		"derived": func(ctx context.Context) error {
			child, cancel := context.WithTimeout(ctx, 24*time.Hour)
			defer cancel()
			<-child.Done()
			return child.Err()
		},
		"after": func(ctx context.Context) error {
			over := make(chan struct{})
			defer context.AfterFunc(ctx, func() { close(over) })()
			<-over
			return ctx.Err()
		},
	}
	for name, wait := range watch {
		for _, own := range []time.Duration{0, 3 * time.Second} { // a context of ours, and the caller's
			t.Run(name+"/"+own.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := newExecutor(t, deadline.Config{Queue: 1, TTL: 5 * time.Second})
					ctx, cancel := context.WithCancelCause(context.Background())
					defer cancel(nil)
					if own > 0 {
						timed, stop := context.WithTimeout(ctx, own)
						defer stop()
						ctx = timed
					}
					run := func(ctx context.Context) (int, error) {
						err := wait(ctx)
						require.Equal(t, err, ctx.Err())
						<-ctx.Done()
						return 0, context.Cause(ctx)
					}
					begin := time.Now()
					_, err := e.Do(ctx, run)
					require.Equal(t, context.DeadlineExceeded, err)
					if own > 0 {
						require.InDelta(t, own, time.Since(begin), float64(time.Millisecond))
						return
					}
					require.InDelta(t, 5*time.Second, time.Since(begin), float64(time.Millisecond))
					begin = time.Now()
					go func() {
						time.Sleep(time.Second)
						cancel(errOp)
					}()
					_, err = e.Do(ctx, run)
					require.Same(t, errOp, err)
					require.InDelta(t, time.Second, time.Since(begin), float64(time.Millisecond))
				})
			})
		}
	}
}

// F7, E23: a hundred thousand jobs under one parent leave nothing behind on it.
func TestExecutorLeavesNothingBehindOnALongLivedContext(t *testing.T) {
	e := newExecutor(t, deadline.Config{Queue: 1, TTL: time.Hour})
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	tight, stop := context.WithTimeout(parent, time.Minute)
	defer stop()
	round := func(n int) {
		for range n {
			for _, ctx := range []context.Context{parent, tight} {
				_, err := e.Do(ctx, func(ctx context.Context) (int, error) {
					<-done(ctx)
					return 0, ctx.Err()
				})
				require.NoError(t, err)
			}
		}
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	round(1000)
	before := heap()
	round(scaled(50_000))
	require.Less(t, heap()-before, int64(1<<20))
}

// done asks a context for Done, and gives a channel that is closed.
func done(ctx context.Context) <-chan struct{} {
	_ = ctx.Done()
	closed := make(chan struct{})
	close(closed)
	return closed
}

// F8: a context of a job that has returned is over, also for who kept it, and says so.
func TestExecutorJobContextIsOverWhenTheJobIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1, TTL: time.Hour})
		for _, early := range []bool{true, false} {
			var kept context.Context
			_, err := e.Do(context.Background(), func(ctx context.Context) (int, error) {
				if kept = ctx; early {
					ctx.Done()
				}
				return 0, nil
			})
			require.NoError(t, err)
			synctest.Wait()
			require.ErrorIs(t, kept.Err(), context.Canceled)
			<-kept.Done()
			require.ErrorIs(t, context.Cause(kept), context.Canceled)
		}
	})
}

// A context that is no pointer, and can't be compared at all.
func TestExecutorTakesContextsThatCannotBeCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 2, TTL: time.Hour, Drain: time.Hour})
		ctx := incomparable{deadlineOnly{t.Context(), time.Now().Add(time.Minute)}, []int{1}}
		for range 3 {
			_, err := e.Do(ctx, func(ctx context.Context) (int, error) { return 1, ctx.Err() })
			require.NoError(t, err)
		}
	})
}

type incomparable struct {
	context.Context
	_ []int
}

// T-18, row 103: when the caller has gone the job's context ends, the worker is free
// and no goroutine stays. What must not be cut short takes context.WithoutCancel.
func TestExecutorCanceledCallEndsTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1, TTL: time.Hour})
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		_, err := e.Do(ctx, lasting(time.Minute))
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		require.Zero(t, e.Stats().Busy)

		ctx, cancel = context.WithCancel(context.Background())
		wrote := false
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		_, err = e.Do(ctx, func(ctx context.Context) (int, error) {
			_, err := lasting(time.Minute)(context.WithoutCancel(ctx))
			wrote = err == nil
			return 0, err
		})
		require.NoError(t, err)
		require.True(t, wrote)
	})
}

// untilDone lasts until its context ends.
func untilDone(ctx context.Context) (int, error) {
	<-ctx.Done()
	return 0, nil
}

// pooled is a context that is used again for another request, as those of HTTP frameworks are.
type pooled struct{ context.Context }

// G-EXE-4: a context from a pool is known by its Done, too: a job of the next request isn't
// judged by the deadline of the one before, nor run under what that has ended.
func TestExecutorTakesContextsFromAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 8, Drain: time.Hour})
		ctx := new(pooled)
		first, end := context.WithTimeout(t.Context(), time.Second)
		ctx.Context = first
		_ = must(t)(e.TrySubmit(ctx, untilDone))
		require.NoError(t, e.Go(t.Context(), stubborn(time.Minute))) // it isn't idle between the two
		synctest.Wait()
		end()
		fresh, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		time.Sleep(30 * time.Second)
		ctx.Context = fresh
		f := must(t)(e.TrySubmit(ctx, func(ctx context.Context) (int, error) { return 1, ctx.Err() }))
		v, err := result(f)
		require.NoError(t, err)
		require.Equal(t, 1, v)
	})
}
