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
	"github.com/spillway-go/spillway/internal/hammer"
)

// told is an executor with one worker, on which the function inside is called by a sink or a
// hook, once, with what that is given.
type told struct {
	e      *deadline.Executor[int]
	inside func(ctx context.Context)
	called atomic.Bool
}

func (w *told) call(ctx context.Context) {
	if w.called.CompareAndSwap(false, true) {
		w.inside(ctx)
	}
}

// The ways in which a worker comes to call a function of the user's that isn't a job: after a
// job that failed, after any job, and before the next one for those that died before it.
var onWorkers = map[string]func(t *testing.T, inside func(e *deadline.Executor[int], ctx context.Context)){
	"sink of a failure": func(t *testing.T, inside func(*deadline.Executor[int], context.Context)) {
		w := &told{}
		w.inside = func(ctx context.Context) { inside(w.e, ctx) }
		w.e = newExecutor(t, deadline.Config{Queue: 2, MaxSubmitters: 2, Drain: time.Hour, Sink: func(ctx context.Context, _ deadline.Failure) { w.call(ctx) }})
		require.NoError(t, w.e.Go(t.Context(), func(context.Context) (int, error) { return 0, errOp }))
		synctest.Wait()
		require.True(t, w.called.Load())
	},
	"ran": func(t *testing.T, inside func(*deadline.Executor[int], context.Context)) {
		w := &told{}
		w.inside = func(ctx context.Context) { inside(w.e, ctx) }
		w.e = newExecutor(t, deadline.Config{Queue: 2, MaxSubmitters: 2, Drain: time.Hour, Hooks: []deadline.Hooks{{
			Ran: func(ctx context.Context, _, _ time.Duration, _ error) { w.call(ctx) },
		}}})
		require.NoError(t, w.e.Go(t.Context(), answer(1)))
		synctest.Wait()
		require.True(t, w.called.Load())
	},
	"sink of the dead": func(t *testing.T, inside func(*deadline.Executor[int], context.Context)) {
		w := &told{}
		w.inside = func(ctx context.Context) { inside(w.e, ctx) }
		w.e = newExecutor(t, deadline.Config{Queue: 2, MaxSubmitters: 2, Drain: time.Hour, Sink: func(ctx context.Context, _ deadline.Failure) { w.call(ctx) }})
		release := occupy(t, w.e, 1)
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, w.e.Go(ctx, answer(1)))
		cancel()
		release()
		synctest.Wait()
		require.True(t, w.called.Load())
	},
}

// G-EXE-9: a sink or a hook on a worker that closes the executor would wait for that worker.
func TestExecutorCloseFromWithinASinkOrAHookIsAnError(t *testing.T) {
	for name, on := range onWorkers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on(t, func(e *deadline.Executor[int], ctx context.Context) {
					requireNested(t, e.Close(ctx))
					requireNested(t, e.Close(context.Background()))
					require.False(t, e.Stats().Closed)
				})
			})
		})
	}
}

// G-EXE-9: nor may they wait for a job, or for room, if there is no other worker to see to it.
func TestExecutorNestedCallFromASinkOrAHookIsAnError(t *testing.T) {
	for name, on := range onWorkers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				on(t, func(e *deadline.Executor[int], ctx context.Context) {
					for _, ctx := range []context.Context{context.Background(), context.WithoutCancel(ctx)} {
						_, err := e.Do(ctx, answer(1))
						requireNested(t, err)
					}
					f := must(t)(e.Submit(context.Background(), answer(3))) // needn't wait
					_, err := f.Wait(context.Background())
					requireNested(t, err)
					must(t)(e.Submit(context.Background(), answer(3)))
					_, err = e.Submit(context.Background(), answer(3))
					requireNested(t, err)
				})
				require.Zero(t, time.Since(begin))
			})
		})
	}
}

// G-EXE-9: somebody else isn't held up by what a sink may not do, and a sink may wait for a
// job as long as there is a free worker.
func TestExecutorNestedCallFromASinkIsServedByAFreeWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e *deadline.Executor[int]
		answers := make(chan int, 1)
		hold := make(chan struct{})
		e = newExecutor(t, deadline.Config{Workers: 2, Queue: 2, Drain: time.Hour, Sink: func(context.Context, deadline.Failure) {
			v, err := e.Do(context.Background(), answer(7))
			require.NoError(t, err)
			answers <- v
			<-hold
		}})
		require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) { return 0, errOp }))
		require.Equal(t, 7, <-answers)
		release := occupy(t, e, 1)
		others := make(chan error, 1)
		go func() { _, err := e.Do(t.Context(), answer(1)); others <- err }() // no worker is free, and one is in a sink
		synctest.Wait()
		require.Empty(t, others)
		release()
		require.NoError(t, <-others)
		close(hold)
	})
}

// G-EXE-9, G-EXE-6, G-EXE-7: sinks and hooks that call everything, on all workers at once.
func TestExecutorSinksThatCallBackConcurrentSafe(t *testing.T) {
	var e *deadline.Executor[int]
	var nested atomic.Int64
	back := func() {
		for _, err := range []error{
			e.Close(context.Background()),
			func() error { _, err := e.Do(context.Background(), answer(1)); return err }(),
			func() error {
				f, err := e.TrySubmit(context.Background(), answer(1))
				if err == nil {
					_, err = f.Wait(context.Background())
				}
				return err
			}(),
		} {
			if _, ok := err.(*spillway.NestedError); ok { //nolint:errorlint // it comes as it is
				nested.Add(1)
			}
		}
	}
	e = newExecutor(t, deadline.Config{
		Workers: 3, Queue: 8, MaxSubmitters: 2, Drain: time.Minute,
		Sink: func(_ context.Context, f deadline.Failure) {
			if f.Run > 0 || f.Wait > 0 { // most, and all that are told by a worker
				_ = e.Stats()
			}
		},
		Hooks: []deadline.Hooks{{Ran: func(_ context.Context, _, _ time.Duration, err error) {
			if err != nil {
				back()
			}
		}}},
	})
	fail := func(context.Context) (int, error) { return 0, errOp }
	hammer.Together(4, func(i int) {
		for n := range scaled(2000) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(n%3)*time.Millisecond+time.Hour)
			switch n % 4 {
			case 0:
				_, _ = e.Do(ctx, fail)
			case 1:
				_ = e.Go(ctx, fail)
			default:
				_ = e.Go(ctx, answer(1))
			}
			cancel()
		}
	})
	require.Positive(t, nested.Load())
	require.NoError(t, e.Close(context.Background()))
}
