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

// G-EXE-2: a job whose deadline passes while its worker tells of those that died before it
// isn't started.
func TestExecutorStartsNothingLateBehindASlowSink(t *testing.T) {
	for name, last := range map[string]func(){"returns": func() {}, "panics": func() { panic("sink") }, "exits": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newExecutor(t, deadline.Config{Queue: 8, Drain: time.Hour, Sink: func(context.Context, deadline.Failure) {
					time.Sleep(time.Second)
					last()
				}})
				release := occupy(t, e, 1)
				dead, cancel := context.WithCancel(t.Context())
				soon, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer stop()
				var late, ran atomic.Int64
				for range 2 {
					require.NoError(t, e.Go(dead, counted(&late)))
					require.NoError(t, e.Go(soon, counted(&late)))
					require.NoError(t, e.Go(t.Context(), counted(&ran)))
				}
				cancel()
				time.Sleep(10 * time.Millisecond)
				release()
				time.Sleep(time.Minute)
				require.Zero(t, late.Load())
				require.Equal(t, int64(2), ran.Load())
				require.Equal(t, uint64(2), e.Stats().Refused.Of(spillway.ReasonExpired))
				require.Equal(t, uint64(2), e.Stats().Canceled)
			})
		})
	}
}

// G-EXE-8: what stands behind the dead is free for another worker while the first tells of them.
func TestExecutorSlowSinkKeepsNoJobFromAnotherWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{
			Workers: 2, Queue: 8, Drain: time.Hour, Sink: func(context.Context, deadline.Failure) { time.Sleep(time.Minute) },
		})
		release := occupy(t, e, 2)
		dead, cancel := context.WithCancel(t.Context())
		require.NoError(t, e.Go(dead, answer(1)))
		good := must(t)(e.Submit(t.Context(), answer(7)))
		cancel()
		begin := time.Now()
		release()
		v, err := result(good)
		require.NoError(t, err)
		require.Equal(t, 7, v)
		require.Zero(t, time.Since(begin))
		synctest.Wait()
		st := e.Stats()
		require.Zero(t, st.Busy)
		require.Equal(t, 1, st.Idle, "the other has no job, but isn't free")
	})
}

// G-EXE-2: Ran is told of what ran, and of nothing that was found to be canceled right before
// its start.
func TestExecutorRanIsNotToldOfWhatDidNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type told struct{ ghost, run bool }
		var seen []told
		var doomed context.Context
		e := newExecutor(t, deadline.Config{Queue: 1000, Drain: time.Hour, Hooks: []deadline.Hooks{{
			Ran: func(ctx context.Context, wait, run time.Duration, err error) {
				seen = append(seen, told{ctx == doomed, wait >= 0 && run >= 0 && err == nil})
			},
		}}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		doomed, doom := context.WithCancel(ctx)
		var ran, ghosts atomic.Int64
		release := brisk(ctx, t, e, 100, func(i int) spillway.Op[int] {
			if i == 60 {
				return func(context.Context) (int, error) { doom(); return int(ran.Add(1)), nil }
			}
			return counted(&ran)
		})
		for range 50 {
			require.NoError(t, e.Go(doomed, counted(&ghosts)))
			require.NoError(t, e.Go(ctx, counted(&ran)))
		}
		release()
		require.NoError(t, e.Close(t.Context()))
		require.Zero(t, ghosts.Load())
		require.Equal(t, int64(150), ran.Load())
		require.NotEmpty(t, seen)
		for _, s := range seen {
			require.Equal(t, told{run: true}, s)
		}
	})
}

// G-EXE-11: a sink that hangs while Close tells it of what was cut off doesn't keep Close
// beyond its context; who waits for a job has been told before.
func TestExecutorCloseEndsThoughTheSinkHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		var sunk atomic.Int64
		e := newExecutor(t, deadline.Config{Queue: 8, Sink: func(context.Context, deadline.Failure) {
			<-hang
			sunk.Add(1)
		}})
		release := occupy(t, e, 1)
		for range 2 {
			require.NoError(t, e.Go(t.Context(), answer(1)))
		}
		f := must(t)(e.Submit(t.Context(), answer(1)))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		begin := time.Now()
		time.AfterFunc(time.Second, release)
		err := e.Close(ctx)
		require.Equal(t, time.Minute, time.Since(begin))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = f.Result()
		require.ErrorIs(t, err, spillway.ErrClosed)
		require.Zero(t, sunk.Load())
		close(hang)
		synctest.Wait()
		require.Equal(t, int64(2), sunk.Load())
	})
}

// G-EXE-6: a context whose code panics when it is asked why it is done costs no worker.
func TestExecutorContextsMayPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink failures
		e := newExecutor(t, deadline.Config{Queue: 8, Drain: time.Hour, Sink: sink.sink})
		release := occupy(t, e, 1)
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, e.Go(ctxPanics{ctx}, answer(1)))
		cancel()
		release()
		synctest.Wait()
		require.Len(t, sink.all(), 1)
		require.ErrorIs(t, sink.all()[0].Err, context.Canceled)
		v, err := e.Do(t.Context(), answer(2))
		require.NoError(t, err)
		require.Equal(t, 2, v)
	})
}

type ctxPanics struct{ context.Context }

func (ctxPanics) Value(any) any { panic("value") }
