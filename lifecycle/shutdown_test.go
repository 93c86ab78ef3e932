//go:build go1.25

package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lifecycle"
)

var errStep = errors.New("step failed")

// trace notes the steps in the order in which they begin.
type trace struct {
	mu    sync.Mutex
	began []string
}

func (tr *trace) step(name string, run func(ctx context.Context) error) lifecycle.Step {
	return lifecycle.Step{Name: name, Run: func(ctx context.Context) error {
		tr.mu.Lock()
		tr.began = append(tr.began, name)
		tr.mu.Unlock()
		if run == nil {
			return nil
		}
		return run(ctx)
	}}
}

func (tr *trace) order() []string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.Clone(tr.began)
}

func newShutdown(t *testing.T, cfg lifecycle.ShutdownConfig) *lifecycle.Shutdown {
	t.Helper()
	s, err := lifecycle.NewShutdown(cfg)
	require.NoError(t, err)
	return s
}

func takes(d time.Duration) func(context.Context) error {
	return func(context.Context) error { time.Sleep(d); return nil }
}

// full is a shutdown with a step in every phase, of which drain runs what it is given.
func full(tr *trace, drain func(context.Context) error) lifecycle.ShutdownConfig {
	return lifecycle.ShutdownConfig{
		Timeout:    30 * time.Second,
		Close:      []lifecycle.Step{tr.step("client", nil)},
		Flush:      []lifecycle.Step{tr.step("log", nil), tr.step("telemetry", nil)},
		Drain:      []lifecycle.Step{tr.step("lane", drain)},
		StopIntake: []lifecycle.Step{tr.step("listener", takes(time.Second))},
		LameDuck:   5 * time.Second,
		Unready:    []lifecycle.Step{tr.step("readiness", nil)},
	}
}

var wholeOrder = []string{"readiness", "listener", "lane", "log", "telemetry", "client"}

// G-SHU-1; L-24, R124: the order is the same however the configuration is written.
func TestShutdownKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &trace{}
		var listenerAt time.Duration
		start := time.Now()
		cfg := full(tr, takes(time.Second))
		cfg.StopIntake[0].Run = func(context.Context) error { listenerAt = time.Since(start); return nil }
		report, err := newShutdown(t, cfg).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, slices.Delete(slices.Clone(wholeOrder), 1, 2), tr.order())
		require.Equal(t, 5*time.Second, listenerAt, "calls go on while the balancer finds out")
		require.Equal(t, 6*time.Second, report.Took)
		var phases []string
		for _, s := range report.Steps {
			phases = append(phases, s.Phase)
			require.False(t, s.Cut || s.Running || s.Err != nil)
		}
		require.Equal(t, []string{"unready", "lame duck", "stop intake", "drain", "flush", "flush", "close"}, phases)
	})
}

// G-SHU-2; L-24, T-10: whatever a step does wrong, the later ones run, in time.
func TestShutdownLaterStepsRunAllTheSame(t *testing.T) {
	deaf := make(chan struct{})
	for name, c := range map[string]struct {
		drain   func(context.Context) error
		want    error
		cut     bool
		running bool
	}{
		"error":  {drain: func(context.Context) error { return errStep }, want: errStep},
		"panic":  {drain: func(context.Context) error { panic(errStep) }, want: errStep},
		"goexit": {drain: func(context.Context) error { goexit(); return nil }},
		"slow":   {drain: func(ctx context.Context) error { <-ctx.Done(); return errStep }, want: errStep, cut: true},
		"deaf":   {drain: func(context.Context) error { <-deaf; return nil }, want: lifecycle.ErrStepRunning, cut: true, running: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deaf = make(chan struct{})
				tr := &trace{}
				s := newShutdown(t, full(tr, c.drain))
				start := time.Now()
				report, err := s.Run(t.Context())
				require.LessOrEqual(t, time.Since(start), 30*time.Second)
				require.Equal(t, wholeOrder, tr.order())
				var e *lifecycle.ShutdownError
				require.ErrorAs(t, err, &e)
				require.Len(t, e.Steps, 1)
				require.Equal(t, e.Steps[0], report.Steps[3])
				require.Equal(t, c.cut, e.Steps[0].Cut)
				require.Equal(t, c.running, e.Steps[0].Running)
				require.ErrorContains(t, err, `drain "lane"`)
				if c.want != nil {
					require.ErrorIs(t, err, c.want)
				} else {
					var p *spillway.PanicError
					require.ErrorAs(t, err, &p)
				}
				close(deaf)
			})
		})
	}
}

// G-SHU-3: one bound for all: timeouts are kept free for later steps, the rest is shared.
func TestShutdownSharesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &trace{}
		hang := func(ctx context.Context) error { <-ctx.Done(); time.Sleep(time.Second); return errStep }
		cfg := lifecycle.ShutdownConfig{
			Timeout: 100 * time.Second,
			Drain:   []lifecycle.Step{tr.step("a", hang), tr.step("quick", takes(5*time.Second)), tr.step("b", hang)},
			Close:   []lifecycle.Step{tr.step("c", hang)},
		}
		cfg.Close[0].Timeout = 10 * time.Second
		start := time.Now()
		report, err := newShutdown(t, cfg).Run(t.Context())
		require.ErrorIs(t, err, errStep)
		require.LessOrEqual(t, time.Since(start), 100*time.Second)
		var limits []int
		for _, s := range report.Steps {
			limits = append(limits, int(s.Limit.Seconds()))
		}
		// 90 s for three; then what is left of 100 s without the ten of c, for two, and for one.
		require.Equal(t, []int{30, 31, 57, 10}, limits)
	})
}

// G-SHU-3: a second signal means hurry: no delay, and every step still gets its chance.
func TestShutdownHurries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &trace{}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second, cancel)
		start := time.Now()
		deaf := make(chan struct{})
		cfg := full(tr, func(context.Context) error { <-deaf; return nil })
		cfg.StopIntake[0].Run = func(ctx context.Context) error { return context.Cause(ctx) }
		report, err := newShutdown(t, cfg).Run(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, lifecycle.ErrStepRunning)
		require.Equal(t, 2*time.Second+100*time.Millisecond, time.Since(start))
		require.Contains(t, tr.order(), "client")
		require.True(t, report.Steps[1].Cut)
		close(deaf)
	})
}

// G-SHU-3: who is told to hurry when his time is nearly over has no more than is left of it.
func TestShutdownHurriedLateKeepsItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := make(chan struct{})
		s := newShutdown(t, lifecycle.ShutdownConfig{
			Timeout: time.Second,
			Drain:   []lifecycle.Step{{Name: "deaf", Run: func(context.Context) error { <-deaf; return nil }}},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 990*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := s.Run(ctx)
		require.ErrorIs(t, err, lifecycle.ErrStepRunning)
		require.Equal(t, time.Second, time.Since(start))
		close(deaf)
	})
}

// F2: running it twice is running it once.
func TestShutdownRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &trace{}
		s := newShutdown(t, full(tr, func(context.Context) error { return errStep }))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				report, err := s.Run(t.Context())
				require.ErrorIs(t, err, errStep)
				require.Len(t, report.Steps, 7)
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Run(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		wg.Wait()
		require.Len(t, tr.order(), 6)
	})
}

// G-SHU-1: a shutdown has the steps it was made with, whatever becomes of the slices.
func TestShutdownCopiesItsSteps(t *testing.T) {
	var ran []string
	step := func(name string) lifecycle.Step {
		return lifecycle.Step{Name: name, Run: func(context.Context) error { ran = append(ran, name); return nil }}
	}
	common := append(make([]lifecycle.Step, 0, 2), step("common"))
	s := newShutdown(t, lifecycle.ShutdownConfig{Timeout: time.Second, Close: append(common, step("mine"))})
	_ = append(common, step("another's"))
	_, err := s.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"common", "mine"}, ran)
}

// L-22, R184: faults are found at start-up, and nothing to do is done at once.
func TestShutdownNamesItsFaults(t *testing.T) {
	_, err := lifecycle.NewShutdown(lifecycle.ShutdownConfig{
		LameDuck: -1, Drain: []lifecycle.Step{{Timeout: -1}}, Close: []lifecycle.Step{lifecycle.CloseStep("db", nil)},
	})
	for _, text := range []string{"Timeout is 0s", "LameDuck is -1ns", `Drain[0].Name is ""`, "Drain[0].Run is <nil>", "Drain[0].Timeout is -1ns", "Close[0].Run is <nil>"} {
		require.ErrorContains(t, err, text)
	}
	step := func(d time.Duration) lifecycle.Step {
		return lifecycle.Step{Name: "x", Timeout: d, Run: func(context.Context) error { return nil }}
	}
	_, err = lifecycle.NewShutdown(lifecycle.ShutdownConfig{
		Timeout: 10 * time.Second, LameDuck: 5 * time.Second, Drain: []lifecycle.Step{step(4 * time.Second), step(3 * time.Second)},
	})
	require.ErrorContains(t, err, "Drain[1].Timeout is 3s: must be at most 1s, which the steps before leave of Timeout")
	_, err = lifecycle.NewShutdown(lifecycle.ShutdownConfig{Timeout: time.Second, LameDuck: time.Minute})
	require.ErrorContains(t, err, "LameDuck is 1m0s: must be at most 1s")
	var zero lifecycle.Shutdown
	report, err := zero.Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, report)
	m := newMachine(t, &backend{})
	report, err = newShutdown(t, lifecycle.ShutdownConfig{
		Timeout: time.Second, Close: []lifecycle.Step{lifecycle.CloseStep("db", m)},
	}).Run(t.Context())
	require.NoError(t, err)
	require.Len(t, report.Steps, 1)
}
