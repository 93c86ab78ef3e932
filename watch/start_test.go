//go:build go1.25

package watch_test

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/watch"
)

func newLimiter(t *testing.T) *limiter.Limiter[int] {
	t.Helper()
	l, err := limiter.New[int](limiter.Config{Name: "beside", Limit: 1})
	require.NoError(t, err)
	return l
}

// looked is a source that counts how often it is looked at, and then does something.
type looked struct {
	n    atomic.Int64
	then func()
}

func (s *looked) Sample() watch.Sample {
	if s.n.Add(1) > 1 && s.then != nil { // the first is Add's
		s.then()
	}
	return watch.Sample{Component: "limiter", Name: "x", At: time.Now(), Limit: 1}
}
func (s *looked) Holders() []spillway.Holder { return nil }

// G-WAT-4: a watcher whose context has ended can be started again; one goroutine looks at a
// time, and Close waits for all.
func TestWatcherStartsAgainAfterItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newWatcher(t, slog.LevelInfo)
		hang := make(chan struct{})
		var hangs atomic.Bool
		s := &looked{then: func() {
			if hangs.Load() {
				<-hang
			}
		}}
		w.Add(s)
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			before := s.n.Load()
			w.Start(ctx)
			w.Start(t.Context()) // it is running already
			time.Sleep(25 * time.Second)
			require.Equal(t, before+2, s.n.Load())
			cancel()
			time.Sleep(time.Minute)
			require.Equal(t, before+2, s.n.Load())
		}
		hangs.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		w.Start(ctx)
		time.Sleep(15 * time.Second) // in a look that hangs
		cancel()
		w.Start(t.Context())
		closed := make(chan error, 1)
		go func() { closed <- w.Close(context.Background()) }()
		time.Sleep(time.Hour)
		require.Empty(t, closed)
		close(hang)
		require.NoError(t, <-closed)
		last := s.n.Load()
		w.Start(t.Context())
		time.Sleep(time.Hour)
		require.Equal(t, last, s.n.Load(), "not after Close")
	})
}

// G-WAT-5: a source that ends the goroutine ends one look.
func TestWatcherSurvivesASourceThatExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newWatcher(t, slog.LevelInfo)
		s := &looked{then: runtime.Goexit}
		w.Add(s)
		w.Start(t.Context())
		time.Sleep(35 * time.Second)
		require.EqualValues(t, 4, s.n.Load())
		require.NoError(t, w.Close(t.Context()))
	})
}

// G-WAT-4: starting, ending and closing from many goroutines.
func TestWatcherStartConcurrentSafe(t *testing.T) {
	w, _ := newWatcher(t, slog.LevelInfo, func(c *watch.Config) { c.Interval = time.Microsecond })
	s := &looked{}
	w.Add(s)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				ctx, cancel := context.WithCancel(context.Background())
				w.Start(ctx)
				cancel()
			}
		})
	}
	wg.Wait()
	require.NoError(t, w.Close(context.Background()))
	last := s.n.Load()
	w.Start(context.Background())
	require.Equal(t, last, s.n.Load())
}

// wild is an error whose text can't be had.
type wild struct{ cause error }

func (e *wild) Error() string { return e.cause.Error() }

// G-WAT-5: nor does the text of an error harm the call that a trace follows.
func TestTraceSurvivesTheTextsOfErrors(t *testing.T) {
	w, j := newWatcher(t, slog.LevelDebug)
	tr := w.Trace(watch.Limiter(newLimiter(t)))
	refuse := func(spillway.Op[int]) spillway.Op[int] {
		return func(context.Context) (int, error) { return 0, (*wild)(nil) }
	}
	var err error
	require.NotPanics(t, func() {
		_, err = watch.Traced(tr, refuse)(func(context.Context) (int, error) { return 1, nil })(t.Context())
	})
	require.True(t, err == error((*wild)(nil))) //nolint:errorlint // asking it panics
	require.Contains(t, strings.Join(j.lines(), "\n"), "not acquired")
}
