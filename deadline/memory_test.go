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

// E8: G-EXE-12. What a job closes over and its context's values can be collected when
// it has ended, whichever way it did, while the executor and the future live on.
func TestExecutorKeepsNothingOfAJobThatHasEnded(t *testing.T) {
	for name, run := range map[string]func(e *deadline.Executor[int], ctx context.Context, op spillway.Op[int]) any{
		"go": func(e *deadline.Executor[int], ctx context.Context, op spillway.Op[int]) any { return e.Go(ctx, op) },
		"do": func(e *deadline.Executor[int], ctx context.Context, op spillway.Op[int]) any {
			v, _ := e.Do(ctx, op)
			return v
		},
		"submit": func(e *deadline.Executor[int], ctx context.Context, op spillway.Op[int]) any {
			f, _ := e.Submit(ctx, op)
			return f
		},
		"canceled": func(e *deadline.Executor[int], ctx context.Context, op spillway.Op[int]) any {
			ctx, cancel := context.WithCancel(ctx)
			release := make(chan struct{})
			_ = e.Go(context.Background(), waiting(release))
			f, _ := e.TrySubmit(ctx, op)
			cancel()
			e.Stats()
			close(release)
			return f
		},
		"refused": func(e *deadline.Executor[int], ctx context.Context, op spillway.Op[int]) any {
			_ = e.SetMode(spillway.RefuseAll)
			return e.Go(ctx, op)
		},
	} {
		for _, own := range []time.Duration{time.Minute, 2 * time.Hour} { // with the caller's context, and one of ours
			t.Run(name+"/"+own.String(), func(t *testing.T) {
				collected := make(chan string, 2)
				e := newExecutor(t, deadline.Config{Queue: 4, Drain: time.Minute})
				kept := func() any {
					big, value := new([1 << 20]byte), new([1 << 16]byte)
					runtime.AddCleanup(big, func(s string) { collected <- s }, "closure")
					runtime.AddCleanup(value, func(s string) { collected <- s }, "context")
					// No context with a timer: the runtime keeps stopped timers for a while, and
					// what they refer to.
					parent, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, value))
					defer cancel()
					ctx := &deadlineOnly{parent, time.Now().Add(own)}
					return run(e, ctx, func(context.Context) (int, error) { return len(big), nil })
				}()
				_ = e.SetMode(spillway.Enforce)
				_, _ = e.Do(context.Background(), answer(1)) // the one before has ended by then
				got := map[string]bool{}
				for range 1000 { // rounds of the collector, not a time to wait
					if len(got) == 2 {
						break
					}
					runtime.GC()
					select {
					case s := <-collected:
						got[s] = true
					default:
						runtime.Gosched()
					}
				}
				require.Len(t, got, 2)
				runtime.KeepAlive(kept)
				runtime.KeepAlive(e)
			})
		}
	}
}

// The entries of jobs that were started long ago don't pile up in the expiry heap.
func TestExecutorForgetsTheDeadlinesOfWhatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 10, MaxSubmitters: 1, TTL: 24 * time.Hour, Drain: time.Hour})
		var before, after runtime.MemStats
		for i := range scaled(20_000) { // parked ones go into the heap at once; the queue never runs dry
			if i == scaled(5000) {
				runtime.GC()
				runtime.ReadMemStats(&before)
			}
			must(t)(e.Submit(context.Background(), lasting(time.Millisecond)))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(256<<10))
	})
}

// E31: an executor that was closed is nobody's any more, though the deadlines of its jobs are
// hours away.
func TestExecutorThatIsClosedIsForgotten(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 1000 {
		e, err := deadline.New[int](deadline.Config{Name: "test", Workers: 1, Queue: 1, TTL: 24 * time.Hour, Drain: time.Hour})
		require.NoError(t, err)
		_, err = e.Do(context.Background(), answer(1))
		require.NoError(t, err)
		require.NoError(t, e.Close(context.Background()))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(4<<20))
}
