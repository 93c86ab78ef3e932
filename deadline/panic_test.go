//go:build go1.25

package deadline_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// B15, E29: G-EXE-6. One worker, five jobs that panic and five that call Goexit: all
// are done at once, and the next one runs.
func TestExecutorPanicsCostNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink failures
		e := newExecutor(t, deadline.Config{Queue: 20, Sink: sink.sink, Drain: time.Hour})
		before := runtime.NumGoroutine()
		begin := time.Now()
		for range 5 {
			require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) { panic("no") }))
			require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }))
		}
		_, err := e.Do(t.Context(), answer(1))
		require.NoError(t, err)
		require.Zero(t, time.Since(begin))
		synctest.Wait()
		require.Equal(t, uint64(10), e.Stats().Aborted)
		require.Equal(t, uint64(1), e.Stats().Ended.Total())
		require.LessOrEqual(t, runtime.NumGoroutine(), before+2)
		require.Len(t, sink.all(), 10)
		for _, f := range sink.all() {
			var p *spillway.PanicError
			require.ErrorAs(t, f.Err, &p)
			require.NotEmpty(t, p.Stack)
		}
	})
}

// E25: the panic of a job isn't lost: its caller gets it, with the stack it came from.
func TestExecutorPanicComesBackWithItsStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1})
		_, err := e.Do(t.Context(), func(context.Context) (int, error) { none := []int{}; i := len(none); return none[i], nil })
		var p *spillway.PanicError
		require.ErrorAs(t, err, &p)
		require.ErrorContains(t, err, `executor "test": function panicked: runtime error`)
		var asRuntime runtime.Error
		require.ErrorAs(t, err, &asRuntime)
		require.True(t, strings.Contains(string(p.Stack), "panic_test.go"), string(p.Stack))
	})
}

// F11, M-01, B11: G-EXE-6. Sinks and hooks may panic, call Goexit, and call every method.
func TestExecutorSinksAndHooksMayDoAnything(t *testing.T) {
	for name, last := range map[string]func(){
		"return": func() {},
		"panic":  func() { panic("from a hook") },
		"goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var e *deadline.Executor[int]
				var sunk, expired, rejected, depth atomic.Int64
				anything := func() {
					defer depth.Add(-1)
					if depth.Add(1) > 3 {
						return // a hook that is told of what it does itself needs an end
					}
					e.Stats()
					_ = e.SetWorkers(2)
					_ = e.SetMode(spillway.Enforce)
					_ = e.Go(context.Background(), answer(1))
					last()
				}
				e = newExecutor(t, deadline.Config{
					Workers: 2, Queue: 3, TTL: 10 * time.Second, Drain: time.Hour,
					Sink: func(_ context.Context, f deadline.Failure) {
						if sunk.Add(1); f.Items == 7 {
							expired.Add(1)
						}
						anything()
					},
					Hooks: []deadline.Hooks{{Rejected: func(context.Context, *spillway.Rejection) { rejected.Add(1); anything() }}},
				})
				fail := func(context.Context) (int, error) { return 0, errOp }
				for range 3 {
					require.NoError(t, e.Go(t.Context(), fail))
					require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) { panic(1) }))
					require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }))
					synctest.Wait()
				}
				require.Equal(t, int64(9), sunk.Load())
				for range 2 {
					require.NoError(t, e.Go(t.Context(), stubborn(time.Minute)))
				}
				for range 3 {
					require.NoError(t, e.GoN(t.Context(), 7, answer(1)))
				}
				time.Sleep(30 * time.Second) // three expire in one go, and each is told
				synctest.Wait()
				require.Equal(t, int64(3), expired.Load())
				require.GreaterOrEqual(t, rejected.Load(), int64(3))
				time.Sleep(time.Minute)
				_, err := e.Do(t.Context(), answer(1))
				require.NoError(t, err)
				require.Zero(t, e.Stats().Busy)
			})
		})
	}
}

// E32: an error whose methods panic is still its caller's.
func TestExecutorErrorsMayPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1})
		_, err := e.Do(t.Context(), func(context.Context) (int, error) { return 0, wild{} })
		require.Equal(t, wild{}, err)
		require.Equal(t, uint64(1), e.Stats().Ended.Of(spillway.OutcomeUnknown))
	})
}

type wild struct{}

func (wild) Error() string { return "wild" }

func (wild) Outcome() spillway.Outcome { panic("no class") }
