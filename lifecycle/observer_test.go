//go:build go1.25

package lifecycle_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/lifecycle"
)

// states notes what an observer is told.
type states struct {
	mu   sync.Mutex
	seen []lifecycle.State
}

func (s *states) note(tr lifecycle.Transition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, tr.To)
}

func (s *states) all() []lifecycle.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]lifecycle.State(nil), s.seen...)
}

// cycle is what observers see of a connection from its dial to its close.
var cycle = []lifecycle.State{lifecycle.Connecting, lifecycle.Connected, lifecycle.Closing, lifecycle.Disconnected}

// G-LIF-3, G-LIF-6: an observer may close the machine at any transition, and with a context
// that never ends. Nobody waits for anybody in a circle, and it sees the rest all the same.
func TestMachineObserverMayClose(t *testing.T) {
	for _, at := range cycle {
		t.Run(at.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &backend{}
				m := newMachine(t, b)
				var told states
				m.OnTransition(func(tr lifecycle.Transition) {
					if tr.To == at {
						_ = m.Close(context.Background())
					}
				})
				m.OnTransition(told.note)
				start := time.Now()
				_ = m.Connect(t.Context(), b.dial)
				require.NoError(t, m.Close(context.Background()))
				require.Zero(t, time.Since(start), "nobody waited until a bound was over")
				synctest.Wait()
				require.Equal(t, lifecycle.Disconnected, m.State())
				want := cycle
				if at == lifecycle.Connecting && len(told.all()) == 3 { // the dial was aborted
					want = []lifecycle.State{lifecycle.Connecting, lifecycle.Closing, lifecycle.Disconnected}
				}
				require.Equal(t, want, told.all())
				require.Zero(t, m.Stats().Open())
			})
		})
	}
}

// G-LIF-3, G-SUP-1: an observer that hangs keeps neither Connect nor Close beyond its bounds,
// and nothing from being dialled. When it goes on, everybody is told of everything, in order.
func TestMachineObserverThatHangsHoldsUpNobody(t *testing.T) {
	for _, at := range cycle {
		t.Run(at.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &backend{}
				m := newMachine(t, b)
				hang := make(chan struct{})
				var told states
				m.OnTransition(func(tr lifecycle.Transition) {
					if tr.To == at {
						<-hang
					}
				})
				m.OnTransition(told.note)
				start := time.Now()
				require.NoError(t, m.Connect(t.Context(), b.dial))
				require.Equal(t, lifecycle.Connected, m.State())
				require.LessOrEqual(t, time.Since(start), 30*time.Second)
				start = time.Now()
				require.NoError(t, m.Close(context.Background()))
				require.Equal(t, lifecycle.Disconnected, m.State())
				require.LessOrEqual(t, time.Since(start), 15*time.Second)

				// With a context that ends earlier they return earlier.
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				start = time.Now()
				require.NoError(t, m.Connect(ctx, b.dial))
				require.NoError(t, m.Close(ctx))
				require.LessOrEqual(t, time.Since(start), time.Second)
				close(hang)
				synctest.Wait()
				require.Equal(t, append(append([]lifecycle.State(nil), cycle...), cycle...), told.all())
			})
		})
	}
}

// G-LIF-6: when Connect and Close return, observers that don't hang have been told of what
// they did; who observes later isn't told of it.
func TestMachineObserversHaveBeenToldWhenItReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		var told, later states
		stop := m.OnTransition(func(tr lifecycle.Transition) {
			time.Sleep(time.Second)
			told.note(tr)
		})
		require.NoError(t, m.Connect(t.Context(), b.dial))
		require.Equal(t, cycle[:2], told.all())
		m.OnTransition(later.note)
		require.NoError(t, m.Close(t.Context()))
		require.Equal(t, cycle, told.all())
		require.Error(t, m.Connect(t.Context(), func(context.Context) (*conn, error) { return nil, errors.New("no") }))
		require.Len(t, told.all(), 6)
		require.Len(t, later.all(), 4)
		stop()

		// Also if the context is over, but then not for long.
		require.NoError(t, m.Connect(t.Context(), b.dial))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_ = m.Close(ended)
		require.Len(t, later.all(), 8)
		m.OnTransition(func(lifecycle.Transition) { time.Sleep(time.Hour) })
		require.NoError(t, m.Connect(t.Context(), b.dial))
		time.Sleep(3 * time.Hour)
		start := time.Now()
		_ = m.Close(ended)
		require.Equal(t, 100*time.Millisecond, time.Since(start))
		require.Equal(t, lifecycle.Disconnected, m.State())
		time.Sleep(3 * time.Hour)
		require.Len(t, later.all(), 12)
	}) // a goroutine that waits for something to tell would fail the bubble
}

// G-LIF-6: who has ended his observing isn't told any more.
func TestMachineObserverThatHasEndedIsToldNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		var told, other states
		stop := func() {}
		m.OnTransition(func(tr lifecycle.Transition) {
			other.note(tr)
			if tr.To == lifecycle.Connected {
				stop() // also of what is on its way
			}
		})
		stop = m.OnTransition(told.note)
		require.NoError(t, m.Connect(t.Context(), b.dial))
		require.NoError(t, m.Close(t.Context()))
		stop()
		require.Equal(t, cycle[:1], told.all())
		require.Equal(t, cycle, other.all())
	})
}

// G-LIF-6: what is kept for an observer that doesn't come back is bounded; the newest stays.
func TestMachineKeepsABoundedNumberOfTransitionsToTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		hang := make(chan struct{})
		m.OnTransition(func(lifecycle.Transition) { <-hang })
		var told states
		m.OnTransition(told.note)
		for range 1000 {
			require.NoError(t, m.Connect(t.Context(), b.dial))
			require.NoError(t, m.Close(t.Context()))
		}
		close(hang)
		synctest.Wait()
		seen := told.all()
		require.Len(t, seen, 1+1024, "the one that it hung in, and what was kept")
		require.Equal(t, cycle, seen[len(seen)-4:])
	})
}

// G-LIF-3, G-LIF-6: transitions from everywhere, observers that call the machine.
func TestMachineObserversConcurrentSafe(t *testing.T) {
	b := &backend{}
	m := newMachine(t, b)
	var mu sync.Mutex
	var last lifecycle.State
	wrong := 0
	m.OnTransition(func(tr lifecycle.Transition) {
		mu.Lock()
		if tr.From != last {
			wrong++
		}
		last = tr.To
		mu.Unlock()
		if tr.Generation%7 == 3 {
			_ = m.Close(context.Background())
		}
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 { // 800 transitions in all: none is dropped, however far the telling falls behind
				_ = m.Connect(t.Context(), b.dial)
				_ = m.Close(context.Background())
			}
		})
	}
	wg.Wait()
	done := make(chan struct{})
	m.OnTransition(func(tr lifecycle.Transition) {
		if tr.To == lifecycle.Disconnected {
			close(done)
		}
	})
	_ = m.Connect(t.Context(), b.dial) // the observer may abort it
	require.NoError(t, m.Close(t.Context()))
	<-done
	mu.Lock()
	defer mu.Unlock()
	require.Zero(t, wrong, "one transition begins where the one before it ended")
	require.Zero(t, m.Stats().Open())
}
