//go:build go1.25

package deadline_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// The ways in which the executor tells of jobs that died on a goroutine of its own that is no
// worker: each has three of them told, a second each, from now on.
var aside = map[string]func(t *testing.T, e *deadline.Executor[int]){
	"cut off": func(t *testing.T, e *deadline.Executor[int]) {
		for range 3 {
			require.NoError(t, e.Go(t.Context(), answer(1)))
		}
		go func() { _ = e.Close(context.Background()) }()
		synctest.Wait()
	},
	"expired": func(t *testing.T, e *deadline.Executor[int]) {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		t.Cleanup(stop)
		for range 3 {
			require.NoError(t, e.Go(ctx, answer(1)))
		}
		<-ctx.Done()
		synctest.Wait()
	},
	"watched": func(t *testing.T, e *deadline.Executor[int]) {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		t.Cleanup(stop)
		for range 3 {
			must(t)(e.Submit(ctx, answer(1))).Done()
		}
		<-ctx.Done()
		synctest.Wait()
	},
}

// G-EXE-11: whoever closes waits until the sink and the hooks have been told, on whichever
// goroutine of the executor's, and whoever else has closed before.
func TestExecutorCloseWaitsForWhoTellsOfTheDead(t *testing.T) {
	for name, begin := range aside {
		for how, last := range map[string]func(){"returns": func() {}, "panics": func() { panic("sink") }, "exits": runtime.Goexit} {
			t.Run(name+"/"+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var told atomic.Int32
					tell := func() {
						time.Sleep(time.Second)
						told.Add(1)
						last()
					}
					e := newExecutor(t, deadline.Config{
						Queue: 8,
						Sink:  func(context.Context, deadline.Failure) { tell() },
						Hooks: []deadline.Hooks{{Rejected: func(context.Context, *spillway.Rejection) { tell() }}},
					})
					release := occupy(t, e, 1)
					begin(t, e)
					release()
					_ = e.Close(context.Background())
					require.GreaterOrEqual(t, told.Load(), int32(3))
					all := told.Load()
					time.Sleep(time.Minute)
					require.Equal(t, all, told.Load(), "after Close has returned nobody is told of anything")
				})
			})
		}
	}
}

// G-EXE-11: but not for longer than it may.
func TestExecutorCloseEndsThoughWhoTellsHangs(t *testing.T) {
	for name, begin := range aside {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hold := make(chan struct{})
				e := newExecutor(t, deadline.Config{
					Queue: 8, Sink: func(context.Context, deadline.Failure) { <-hold },
					Hooks: []deadline.Hooks{{Rejected: func(context.Context, *spillway.Rejection) { <-hold }}},
				})
				release := occupy(t, e, 1)
				begin(t, e)
				release()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				require.ErrorIs(t, e.Close(ctx), context.DeadlineExceeded)
				close(hold)
			})
		})
	}
}

// G-EXE-9: who is told there and closes would wait for himself; he may wait for a job.
func TestExecutorCloseByWhoIsToldOfTheDeadIsAnError(t *testing.T) {
	for name, begin := range aside {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var e *deadline.Executor[int]
				var told atomic.Int32
				tell := func() {
					requireNested(t, e.Close(context.Background()))
					if v, err := e.Do(context.Background(), answer(7)); err == nil {
						require.Equal(t, 7, v)
					} else {
						require.ErrorIs(t, err, spillway.ErrClosed)
					}
					told.Add(1)
				}
				e = newExecutor(t, deadline.Config{
					Queue: 8, Sink: func(context.Context, deadline.Failure) { tell() },
					Hooks: []deadline.Hooks{{Rejected: func(context.Context, *spillway.Rejection) { tell() }}},
				})
				release := occupy(t, e, 1)
				begin(t, e)
				release()
				_ = e.Close(context.Background())
				require.GreaterOrEqual(t, told.Load(), int32(3))
			})
		})
	}
}
