//go:build go1.25

package watch_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/watch"
)

// journal is what was logged.
type journal struct {
	mu sync.Mutex
	bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.Buffer.Write(p)
}

// lines returns what was logged since the last time.
func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	text := strings.TrimSuffix(j.String(), "\n")
	j.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func newWatcher(t testing.TB, level slog.Level, change ...func(*watch.Config)) (*watch.Watcher, *journal) {
	t.Helper()
	j := &journal{}
	cfg := watch.DefaultConfig(slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: level})))
	for _, f := range change {
		f(&cfg)
	}
	w, err := watch.New(cfg)
	require.NoError(t, err)
	return w, j
}

func newLane(t testing.TB, cfg lane.Config) *lane.Lane[int] {
	t.Helper()
	cfg.Name = "db"
	if cfg.Limit == 0 {
		cfg.Limit = 4
	}
	cfg.MaxWaiting, cfg.MaxWait = 10, time.Hour
	l, err := lane.New[int](cfg)
	require.NoError(t, err)
	return l
}

// serve has n callers run operations of d each, for as long as ctx lets them; who is
// refused comes back a little later.
func serve(ctx context.Context, l *lane.Lane[int], n int, d time.Duration) *sync.WaitGroup {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for ctx.Err() == nil {
				_, err := l.Do(ctx, func(context.Context) (int, error) { time.Sleep(d); return 1, nil })
				if err != nil {
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	return &wg
}

// G-WAT-2, G-WAT-3, G-WAT-4; R24, E31: callers that wait for each other's permits are
// found to be stuck; that is said once, and again while it lasts; then that it is over.
func TestWatcherFindsADeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWatcher(t, slog.LevelInfo)
		l := newLane(t, lane.Config{Limit: 2, Track: spillway.TrackStack})
		w.Add(watch.Lane(l))
		w.Start(t.Context())
		w.Start(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				_, _ = l.Do(ctx, func(ctx context.Context) (int, error) {
					time.Sleep(time.Second)
					return l.Do(ctx, func(context.Context) (int, error) { return 1, nil })
				})
			})
		}
		time.Sleep(25 * time.Second)
		require.Empty(t, j.lines(), "not yet")
		time.Sleep(10 * time.Second)
		lines := j.lines()
		require.Len(t, lines, 1)
		for _, want := range []string{
			"level=ERROR", `msg="watch: stuck"`, "component=lane", "name=db", "available=0", "waiting=2",
			"2 of 2 are in use", "holders.0.site=", "watcher_test.go", "holders.1.stack=",
		} {
			require.Contains(t, lines[0], want)
		}
		time.Sleep(2 * time.Minute)
		require.Len(t, j.lines(), 2, "once a minute while it lasts")
		v, ok := w.Verdict("lane", "db")
		require.True(t, ok)
		require.Equal(t, watch.Stuck, v.Kind)
		cancel()
		wg.Wait()
		time.Sleep(20 * time.Second)
		lines = j.lines()
		require.Len(t, lines, 1)
		require.Contains(t, lines[0], "level=INFO")
		require.Contains(t, lines[0], "before=stuck")
		require.NoError(t, w.Close(t.Context()))
		require.NoError(t, w.Close(t.Context()))
		w.Start(t.Context())
		time.Sleep(time.Hour)
		require.Empty(t, j.lines(), "nobody looks any more")
	})
}

// G-WAT-2; R24, E35: contention is no fault; a slow backend and a tight limit are told apart.
func TestWatcherTellsContentionTightAndSlowApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWatcher(t, slog.LevelInfo)
		l := newLane(t, lane.Config{})
		w.Add(watch.Lane(l))
		w.Start(t.Context())
		run := func(callers int, hold time.Duration) watch.Kind {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			wg := serve(ctx, l, callers, hold)
			time.Sleep(time.Minute)
			v, _ := w.Verdict("lane", "db")
			cancel()
			wg.Wait()
			return v.Kind
		}
		require.Equal(t, watch.Busy, run(12, 10*time.Millisecond), "eight wait, always")
		require.Empty(t, j.lines(), "busy is for debugging")
		require.Equal(t, watch.BackendSlow, run(12, 50*time.Millisecond))
		require.Contains(t, strings.Join(j.lines(), "\n"), "a higher limit would load it more")
		require.NoError(t, l.SetLimit(1))
		require.Equal(t, watch.LimitTight, run(14, 10*time.Millisecond))
		require.NoError(t, w.Close(t.Context()))
	})
}

// R23, E27: a permit that nobody gives back is reported with its site and age, and keeps
// nobody from going on.
func TestWatcherReportsALeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWatcher(t, slog.LevelInfo)
		l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 10, Track: spillway.TrackSite})
		require.NoError(t, err)
		remove := w.Add(watch.Limiter(l))
		w.Start(t.Context())
		forgotten, err := l.Admit(t.Context())
		require.NoError(t, err)
		for range 70 {
			_, err := l.Do(t.Context(), func(context.Context) (int, error) { time.Sleep(5 * time.Second); return 1, nil })
			require.NoError(t, err)
		}
		lines := j.lines()
		require.Len(t, lines, 1)
		for _, want := range []string{"level=WARN", `msg="watch: leaking"`, "TestWatcherReportsALeak", "holders.0.age=", "1 of "} {
			require.Contains(t, lines[0], want)
		}
		forgotten.Release()
		time.Sleep(12 * time.Second) // not in the moment of a snapshot
		require.Contains(t, strings.Join(j.lines(), ""), "before=leaking")
		remove()
		remove()
		_, ok := w.Verdict("limiter", "db")
		require.False(t, ok)
		require.NoError(t, w.Close(t.Context()))
	})
}

// G-WAT-3, G-WAT-6; R25: a refusal is one line with how things stand; a storm of them is a
// line a minute, and costs no allocation.
func TestWatcherRejectedIsOneLineAndAllocatesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWatcher(t, slog.LevelInfo)
		cfg := lane.Config{Name: "db", Limit: 1, Track: spillway.TrackStack, Hooks: []lane.Hooks{{Rejected: w.Rejected}}}
		l, err := lane.New[int](cfg)
		require.NoError(t, err)
		w.Add(watch.Lane(l))
		p, err := l.Admit(spillway.WithClass(t.Context(), spillway.Bulk))
		require.NoError(t, err)
		ask := func() {
			_, err := l.Do(t.Context(), func(context.Context) (int, error) { return 1, nil })
			require.ErrorIs(t, err, spillway.ErrBackpressure)
		}
		for range 1000 {
			ask()
		}
		lines := j.lines()
		require.Len(t, lines, 1)
		for _, want := range []string{
			"level=WARN", "watch: refused", "why=limit_reached", "available=0", "waiting=0", "limit=1", "holders.0.age=",
			"holders.0.class=bulk", "holders.0.stack=", "suppressed=0",
		} {
			require.Contains(t, lines[0], want)
		}
		time.Sleep(time.Minute)
		ask()
		lines = j.lines()
		require.Len(t, lines, 1)
		require.Contains(t, lines[0], "suppressed=999")
		p.Release()

		r := &spillway.Rejection{Component: "lane", Name: "db"}
		ctx := context.Background()
		require.True(t, invariant.Enabled || testing.AllocsPerRun(100, func() { w.Rejected(ctx, r) }) == 0)
		w.Rejected(ctx, nil)
		w.Rejected(ctx, &spillway.Rejection{Component: "executor", Name: "nobody knows"})
		require.Contains(t, strings.Join(j.lines(), ""), `name="nobody knows"`)
	})
}

// G-WAT-3; R25: so is a caller whose own deadline comes while it waits.
func TestWatcherWaitedIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWatcher(t, slog.LevelInfo)
		l := newLane(t, lane.Config{Limit: 1, Track: spillway.TrackStack, Hooks: []lane.Hooks{{Rejected: w.Rejected, Waited: w.Waited("db")}}})
		w.Add(watch.Lane(l))
		p, err := l.Admit(t.Context())
		require.NoError(t, err)
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second+time.Duration(i))
				defer cancel()
				_, err := l.Do(ctx, func(context.Context) (int, error) { return 1, nil })
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
		}
		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		_, err = l.Do(gone, func(context.Context) (int, error) { return 1, nil })
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, j.lines(), "who goes away by himself wasn't left to wait for too long")
		wg.Wait()
		lines := j.lines()
		require.Len(t, lines, 1)
		for _, want := range []string{
			"level=WARN", `msg="watch: timed out"`, "component=lane", "name=db", "waited=2s", "available=0", "waiting=2",
			"oldest_wait=2s", "holders.0.age=2", "holders.0.stack=", "watcher_test.go",
		} {
			require.Contains(t, lines[0], want)
		}
		require.EqualValues(t, 4, l.Stats().Canceled)
		require.EqualValues(t, 3, l.Stats().TimedOut)
		p.Release()
	})
}

// faulty is a source, or a handler, that panics if it is told to.
type faulty struct {
	watch.Source
	slog.Handler
	bad bool
}

func (f *faulty) Sample() watch.Sample {
	if f.bad {
		panic("boom")
	}
	return watch.Sample{Component: "limiter", Name: "faulty", At: time.Now()}
}
func (f *faulty) Holders() []spillway.Holder                { return nil }
func (f *faulty) Enabled(context.Context, slog.Level) bool  { return true }
func (f *faulty) Handle(context.Context, slog.Record) error { panic("boom") }

// G-WAT-5; M-01, R176, F11: a source that panics is said to, and the others are judged;
// a handler that panics, or calls back in, breaks nothing.
func TestWatcherSurvivesItsSourcesAndItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWatcher(t, slog.LevelDebug)
		f := &faulty{}
		l := newLane(t, lane.Config{})
		w.Add(f, watch.Lane(l))
		w.Add(&faulty{bad: true}, nil)
		f.bad = true
		for range 3 {
			p, err := l.Admit(t.Context())
			require.NoError(t, err)
			time.Sleep(time.Second)
			w.Look(t.Context())
			p.Release()
		}
		text := strings.Join(j.lines(), "\n")
		require.Equal(t, 1, strings.Count(text, "source failed"))
		require.Contains(t, text, "watch: busy")

		cfg := watch.DefaultConfig(slog.New(&faulty{}))
		bad, err := watch.New(cfg)
		require.NoError(t, err)
		bad.Rejected(t.Context(), &spillway.Rejection{})
		var again *watch.Watcher
		again, err = watch.New(watch.DefaultConfig(slog.New(handlerFunc(func() {
			again.Look(context.Background())
			again.Verdict("lane", "db")
			again.Add(watch.Lane(l))()
		}))))
		require.NoError(t, err)
		again.Add(watch.Lane(l))
		p, err := l.Admit(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Second)
		again.Look(t.Context())
		p.Release()
	})
}

type handlerFunc func()

func (f handlerFunc) Enabled(context.Context, slog.Level) bool  { return true }
func (f handlerFunc) Handle(context.Context, slog.Record) error { f(); return nil }
func (f handlerFunc) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f handlerFunc) WithGroup(string) slog.Handler             { return f }

// R184: the zero Watcher, and a trace of it, do nothing.
func TestZeroWatcherDoesNothing(t *testing.T) {
	var w watch.Watcher
	l := newLane(t, lane.Config{})
	w.Add(watch.Lane(l))()
	w.Start(t.Context())
	w.Look(t.Context())
	w.Rejected(t.Context(), &spillway.Rejection{})
	require.NoError(t, w.Close(t.Context()))
	_, ok := w.Verdict("lane", "db")
	require.False(t, ok)
	v, err := watch.Traced(w.Trace(watch.Lane(l)), l.Wrap)(func(context.Context) (int, error) { return 3, nil })(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, v)
	var none *watch.Trace
	require.Empty(t, none.Last())
}

// G-WAT-4, F11: adding, looking, refusing and closing from many goroutines.
func TestWatcherConcurrentSafe(t *testing.T) {
	w, _ := newWatcher(t, slog.LevelDebug, func(c *watch.Config) { c.Every = time.Nanosecond })
	l := newLane(t, lane.Config{Track: spillway.TrackSite})
	tr := w.Trace(watch.Lane(l))
	do := watch.Traced(tr, l.Wrap)(func(context.Context) (int, error) { return 1, nil })
	w.Start(context.Background())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				_, _ = do(context.Background())
				remove := w.Add(watch.Lane(l))
				w.Look(context.Background())
				w.Rejected(context.Background(), &spillway.Rejection{Component: "lane", Name: "db"})
				w.Verdict("lane", "db")
				tr.Last()
				if i%2 == 0 {
					remove()
				}
			}
			require.NoError(t, w.Close(context.Background()))
		})
	}
	wg.Wait()
}
