//go:build go1.25

package watch_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/watch"
)

// G-WAT-2: an executor whose workers hang in its sink is as stuck as one whose jobs hang, and
// isn't taken for idle.
func TestWatcherFindsAnExecutorThatHangsInItsSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang, begin := make(chan struct{}), make(chan struct{})
		e, err := deadline.New[int](deadline.Config{
			Name: "x", Workers: 1, Queue: 8, TTL: time.Hour, Drain: time.Hour,
			Sink: func(context.Context, deadline.Failure) { <-hang },
		})
		require.NoError(t, err)
		w, _ := newWatcher(t, slog.LevelInfo)
		w.Add(watch.Executor(e))
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) { <-begin; return 1, nil }))
		require.NoError(t, e.Go(ctx, func(context.Context) (int, error) { return 1, nil }))
		cancel()
		close(begin)
		synctest.Wait()
		require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) { return 1, nil }))
		s := watch.Executor(e).Sample()
		require.Equal(t, 1, s.InUse)
		require.Equal(t, 1, s.Waiting)
		for range 6 {
			time.Sleep(10 * time.Second)
			w.Look(t.Context())
		}
		v, _ := w.Verdict("executor", "x")
		require.Equal(t, watch.Stuck, v.Kind)
		close(hang)
		require.NoError(t, e.Close(t.Context()))
	})
}
