//go:build go1.25

package watch_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/watch"
)

// R171, E32 to E34: acquiring and acquired, with how many are free, for debugging.
func TestTraceLogsAcquiringAndAcquired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWatcher(t, slog.LevelDebug)
		l := newLane(t, lane.Config{Limit: 2})
		tr := w.Trace(watch.Lane(l))
		do := watch.Traced(tr, l.Wrap)(func(context.Context) (int, error) { return 7, errors.New("the operation's own") })
		_, err := do(spillway.WithClass(t.Context(), spillway.Critical))
		require.EqualError(t, err, "the operation's own")
		lines := j.lines()
		require.Len(t, lines, 2, "%v", lines)
		for i, want := range [][]string{
			{"level=DEBUG", `msg="watch: acquiring"`, "component=lane", "name=db", "available=2", "class=critical"},
			{`msg="watch: acquired"`, "available=1", "waited=0s"},
		} {
			for _, w := range want {
				require.Contains(t, lines[i], w)
			}
		}
		last := tr.Last()
		require.Len(t, last, 1)
		require.Contains(t, last[0].Site, "TestTraceLogsAcquiringAndAcquired")
		require.Equal(t, spillway.Critical, last[0].Class)
		require.NoError(t, last[0].Err, "it was let in")
	})
}

// R26, E34: the last who asked, the newest first, also those who waited or were turned away.
func TestTraceKeepsTheLastAcquirers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWatcher(t, slog.LevelInfo, func(c *watch.Config) { c.Ring = 3 })
		l := newLane(t, lane.Config{Limit: 1})
		tr := w.Trace(watch.Lane(l))
		a := tr.Admission(l)
		for range 4 {
			p, err := a.Admit(t.Context())
			require.NoError(t, err)
			p.Release()
		}
		p, err := a.Admit(t.Context())
		require.NoError(t, err)
		time.AfterFunc(2*time.Second, p.Release)
		p, err = a.Admit(t.Context())
		require.NoError(t, err)
		p.Release()
		require.NoError(t, l.Close(t.Context()))
		_, err = a.Admit(t.Context())
		require.ErrorIs(t, err, spillway.ErrClosed)
		last := tr.Last()
		require.Len(t, last, 3)
		require.ErrorIs(t, last[0].Err, spillway.ErrClosed)
		require.Equal(t, 2*time.Second, last[1].Waited)
		require.Contains(t, last[1].Site, "trace_test.go")
		require.Empty(t, j.lines(), "the logger isn't at debug level")
	})
}

// G-WAT-3; R171: no more lines a second than said, and the next says how many are missing.
func TestTraceIsRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWatcher(t, slog.LevelDebug, func(c *watch.Config) { c.TraceRate = 10 })
		l := newLane(t, lane.Config{})
		do := watch.Traced(w.Trace(watch.Lane(l)), l.Wrap)(func(context.Context) (int, error) { return 1, nil })
		for range 500 {
			_, _ = do(t.Context())
		}
		require.Len(t, j.lines(), 10)
		time.Sleep(time.Second)
		_, _ = do(t.Context())
		require.Contains(t, strings.Join(j.lines(), ""), "suppressed=990")
		require.NoError(t, l.Close(t.Context()))
		_, err := do(t.Context())
		require.ErrorIs(t, err, spillway.ErrClosed)
		require.Contains(t, strings.Join(j.lines(), ""), "watch: not acquired")
	})
}

// G-WAT-6: a trace that is off allocates nothing, and needs no context of its own.
func TestTraceThatIsOffAllocatesNothing(t *testing.T) {
	w, _ := newWatcher(t, slog.LevelInfo, func(c *watch.Config) { c.Ring = 0 })
	l := newLane(t, lane.Config{})
	tr := w.Trace(watch.Lane(l))
	do := watch.Traced(tr, l.Wrap)(func(context.Context) (int, error) { return 1, nil })
	a := tr.Admission(l)
	ctx := context.Background()
	plain := l.Wrap(func(context.Context) (int, error) { return 1, nil })
	allocs := testing.AllocsPerRun(1000, func() { _, _ = do(ctx) })
	floor := testing.AllocsPerRun(1000, func() { _, _ = plain(ctx) })
	admit := testing.AllocsPerRun(1000, func() {
		p, _ := a.Admit(ctx)
		p.Release()
	})
	if !invariant.Enabled {
		require.Equal(t, floor, allocs)
		require.Zero(t, admit)
	}
	require.Panics(t, func() { watch.Traced[int](tr, nil) })
}
