//go:build go1.25

package lifecycle_test

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/lifecycle"
)

// flappy is a backend that can be down, and counts how many dials are under way.
type flappy struct {
	backend
	down        atomic.Bool
	sick        atomic.Bool // its connections answer no checks
	now, most   atomic.Int32
	at          []time.Duration // when it was dialled; guarded by backend.mu
	began       time.Time
	checks      atomic.Int32
	dialTakes   time.Duration
	deaf        chan struct{} // checks hang until this is closed
	checkPanics bool
}

func (f *flappy) dial(ctx context.Context) (*conn, error) {
	f.most.Store(max(f.most.Load(), f.now.Add(1)))
	defer f.now.Add(-1)
	f.mu.Lock()
	f.at = append(f.at, time.Since(f.began))
	f.mu.Unlock()
	select {
	case <-time.After(f.dialTakes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if f.down.Load() {
		return nil, errDial
	}
	return f.backend.dial(ctx)
}

func (f *flappy) check(_ context.Context, c *conn) error {
	f.checks.Add(1)
	if f.deaf != nil {
		<-f.deaf
	}
	if c.closed {
		panic("checked after its close")
	}
	if f.sick.Load() {
		if f.checkPanics {
			panic(errDial)
		}
		return errDial
	}
	return nil
}

func supervise(t *testing.T, f *flappy, change ...func(*lifecycle.SupervisorConfig[*conn])) (*lifecycle.Machine[*conn], *lifecycle.Supervisor[*conn]) {
	t.Helper()
	f.began = time.Now()
	m := newMachine(t, &f.backend)
	cfg := lifecycle.DefaultSupervisorConfig(f.dial)
	cfg.Backoff = func(attempt int) time.Duration { return time.Duration(attempt) * time.Second }
	for _, c := range change {
		c(&cfg)
	}
	s, err := lifecycle.Supervise(t.Context(), m, cfg)
	require.NoError(t, err)
	return m, s
}

// end stops the supervisor and then closes the machine, and nothing is left.
func end(t *testing.T, f *flappy, m *lifecycle.Machine[*conn], s *lifecycle.Supervisor[*conn]) {
	t.Helper()
	require.NoError(t, s.Stop(t.Context()))
	require.NoError(t, m.Close(t.Context()))
	synctest.Wait() // an orphan is closed on a goroutine of the machine
	_, open := f.counts()
	require.Zero(t, open)
	require.LessOrEqual(t, f.most.Load(), int32(1), "one dial at a time")
	require.True(t, s.Stats().Stopped)
}

// G-SUP-1, G-SUP-2; R120: it connects at once, goes on with a growing back-off while the
// backend is down, and is connected when it is up.
func TestSupervisorDialsUntilThereIsAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flappy{}
		f.down.Store(true)
		m, s := supervise(t, f)
		time.AfterFunc(9*time.Second, func() { f.down.Store(false) })
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		require.Equal(t, []time.Duration{0, 1 * time.Second, 3 * time.Second, 6 * time.Second, 10 * time.Second}, f.at)
		synctest.Wait()
		st := s.Stats()
		require.EqualValues(t, 5, st.Dials)
		require.EqualValues(t, 4, st.Failed)
		require.ErrorIs(t, st.LastError, errDial)
		end(t, f, m, s)
	})
}

// G-SUP-2; R120, D3: a backend that accepts and drops at once is asked ever more rarely,
// one dial at a time; a connection that lasted starts from the beginning.
func TestSupervisorFlappingBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flappy{dialTakes: 10 * time.Millisecond}
		m, s := supervise(t, f)
		stop := m.OnTransition(func(tr lifecycle.Transition) {
			if tr.To == lifecycle.Connected {
				go func() { _ = m.Close(context.Background()) }()
			}
		})
		time.Sleep(66 * time.Second)
		stop()
		dials, _ := f.counts()
		require.Equal(t, 11, dials, "after 1, 2, 3 … seconds")
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		time.Sleep(time.Minute)
		lost := time.Now()
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		require.Less(t, time.Since(lost), 1100*time.Millisecond, "the first back-off again")
		end(t, f, m, s)
	})
}

// Attempt counts the dials that brought no lasting connection: one that lasts ends the row
// while it lasts, not when it is lost.
func TestSupervisorAttemptEndsWithALastingConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flappy{}
		f.down.Store(true)
		m, s := supervise(t, f)
		time.AfterFunc(9*time.Second, func() { f.down.Store(false) })
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		require.Equal(t, 4, s.Stats().Attempt, "it may be lost again at once")
		time.Sleep(10*time.Second - time.Nanosecond)
		require.Equal(t, 4, s.Stats().Attempt)
		time.Sleep(time.Nanosecond)
		require.Zero(t, s.Stats().Attempt)
		require.NoError(t, m.Close(t.Context()))
		synctest.Wait()
		require.Equal(t, 1, s.Stats().Attempt, "as Backoff is told")
		end(t, f, m, s)
	})
}

// G-SUP-3; R120: a nudge ends the back-off, but a storm of them is no storm of dials.
func TestSupervisorNudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flappy{}
		f.down.Store(true)
		m, s := supervise(t, f, func(c *lifecycle.SupervisorConfig[*conn]) {
			c.Backoff = func(int) time.Duration { return time.Hour }
		})
		synctest.Wait()
		require.WithinDuration(t, time.Now().Add(time.Hour), s.Stats().NextDial, 0)
		for range 1000 {
			s.Nudge()
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		dials := s.Stats().Dials
		require.GreaterOrEqual(t, dials, uint64(9))
		require.LessOrEqual(t, dials, uint64(11))
		f.down.Store(false)
		s.Nudge()
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		require.Less(t, time.Since(f.began), 2*time.Second)
		end(t, f, m, s)
	})
}

// G-SUP-3; F6: nudging while a dial is under way neither hangs nor starts another.
func TestSupervisorNudgeWhileConnecting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flappy{dialTakes: 20 * time.Second}
		m, s := supervise(t, f)
		for range 64 {
			go s.Nudge()
		}
		synctest.Wait()
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		require.Len(t, f.at, 1)
		end(t, f, m, s)
	})
}

// G-SUP-4; F1, F5: Stop returns at once from a dial and from a back-off, twice, and leaves the
// machine as it is.
func TestSupervisorStop(t *testing.T) {
	for name, after := range map[string]time.Duration{"dial": time.Second, "back-off": 90 * time.Second, "connected": 130 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &flappy{dialTakes: 20 * time.Second}
				f.down.Store(true)
				m, s := supervise(t, f, func(c *lifecycle.SupervisorConfig[*conn]) {
					c.Backoff = func(int) time.Duration { return 80 * time.Second }
				})
				time.AfterFunc(95*time.Second, func() { f.down.Store(false) })
				time.Sleep(after)
				start := time.Now()
				var wg sync.WaitGroup
				for range 2 {
					wg.Go(func() { require.NoError(t, s.Stop(t.Context())) })
				}
				wg.Wait()
				require.Zero(t, time.Since(start))
				require.Equal(t, after > 120*time.Second, m.State() == lifecycle.Connected)
				time.Sleep(time.Hour)
				require.Equal(t, after > 120*time.Second, m.State() == lifecycle.Connected, "nobody dials any more")
				end(t, f, m, s)
			})
		})
	}
}

// G-SUP-3: a nudge doesn't put off a check that is due before MinGap is over.
func TestSupervisorNudgePutsNothingOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flappy{}
		m, s := supervise(t, f, func(c *lifecycle.SupervisorConfig[*conn]) {
			c.Check, c.CheckEvery, c.MinGap = f.check, time.Second, time.Minute
		})
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		synctest.Wait()
		s.Nudge()
		time.Sleep(10*time.Second + time.Millisecond)
		require.EqualValues(t, 10, f.checks.Load())
		end(t, f, m, s)
	})
}

// G-SUP-5; X13: a connection is dropped after three checks in a row have failed, not
// after two, and a panicking check is a failed one.
func TestSupervisorCheckHasHysteresis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flappy{checkPanics: true}
		m, s := supervise(t, f, func(c *lifecycle.SupervisorConfig[*conn]) { c.Check = f.check })
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		time.Sleep(11 * time.Second)
		f.sick.Store(true) // for two checks
		time.Sleep(10 * time.Second)
		f.sick.Store(false)
		time.Sleep(30 * time.Second)
		require.EqualValues(t, 1, m.Generation(), "two failed checks are no reason")
		require.EqualValues(t, 2, s.Stats().CheckFailed)
		f.sick.Store(true)
		time.Sleep(16 * time.Second)
		f.sick.Store(false)
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		require.EqualValues(t, 2, m.Generation())
		require.EqualValues(t, 1, s.Stats().Reconnects)
		end(t, f, m, s)
	})
}

// A nudge brings a check forward; a storm of them doesn't undo the hysteresis.
func TestSupervisorNudgeBringsTheCheckForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flappy{}
		f.sick.Store(true)
		m, s := supervise(t, f, func(c *lifecycle.SupervisorConfig[*conn]) { c.Check = f.check })
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		for range 3000 {
			s.Nudge()
			time.Sleep(time.Millisecond)
		}
		require.EqualValues(t, 1, f.checks.Load())
		require.EqualValues(t, 1, m.Generation())
		end(t, f, m, s)
	})
}

// G-SUP-4, G-SUP-5; F1: a check that never ends counts as failed, holds up neither the
// next connection nor, for longer than it may, Stop.
func TestSupervisorDeafCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flappy{deaf: make(chan struct{})}
		m, s := supervise(t, f, func(c *lifecycle.SupervisorConfig[*conn]) { c.Check = f.check })
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		time.Sleep(18 * time.Second)
		require.EqualValues(t, 1, f.checks.Load(), "no second check beside one that hangs")
		time.Sleep(13 * time.Second) // the close waits for the check's lease
		require.EqualValues(t, 2, m.Generation())
		require.Equal(t, 1, m.Stats().Orphans)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, s.Stop(ctx), context.DeadlineExceeded)
		close(f.deaf)
		end(t, f, m, s)
	})
}

// R184, L-22: faults are named, and the zero Supervisor does nothing.
func TestSuperviseNamesItsFaults(t *testing.T) {
	check := func(context.Context, *conn) error { return nil }
	_, err := lifecycle.Supervise(t.Context(), nil, lifecycle.SupervisorConfig[*conn]{Settle: -1, Check: check})
	for _, field := range []string{"Machine", "Dial", "MinGap", "Settle", "CheckEvery", "CheckTimeout", "CheckFailures"} {
		require.ErrorContains(t, err, field+" is")
	}
	_, err = lifecycle.Supervise(nil, nil, lifecycle.DefaultSupervisorConfig((&flappy{}).dial)) //nolint:staticcheck // what somebody does
	require.ErrorContains(t, err, "ctx is <nil>: must not be nil")
	var zero lifecycle.Supervisor[*conn]
	zero.Nudge()
	require.NoError(t, zero.Stop(t.Context()))
	require.Zero(t, zero.Stats())
}

// C1, C9, T-01: for any attempt the default back-off is within its cap, and jittered.
func TestDefaultBackoffIsCappedAndJittered(t *testing.T) {
	for _, attempt := range []int{math.MinInt, -1, 0, 1, 2, 5, 9, 10, 34, 64, 1000, math.MaxInt} {
		seen := map[time.Duration]bool{}
		for range 100 {
			d := lifecycle.DefaultBackoff(attempt)
			require.GreaterOrEqual(t, d, 50*time.Millisecond)
			require.LessOrEqual(t, d, 30*time.Second)
			seen[d] = true
		}
		require.Greater(t, len(seen), 50)
	}
}

// A back-off function that panics or says nonsense slows nothing and nobody down to a stop.
func TestSupervisorSurvivesItsBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flappy{}
		f.down.Store(true)
		m, s := supervise(t, f, func(c *lifecycle.SupervisorConfig[*conn]) {
			c.Backoff = func(attempt int) time.Duration {
				if attempt == 2 {
					panic("boom")
				}
				return -time.Hour
			}
		})
		time.Sleep(10 * time.Second)
		f.down.Store(false)
		require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
		require.InDelta(t, 100, len(f.at), 5, "MinGap apart")
		end(t, f, m, s)
	})
}
