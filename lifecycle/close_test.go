//go:build go1.25

package lifecycle_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lifecycle"
)

func goexit() { runtime.Goexit() }

// G-LIF-3; L-06, F1, F2: closing what was never opened, and again and again.
func TestMachineCloseIsIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, m.Connect(t.Context(), b.dial))
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() { require.NoError(t, m.Close(t.Context())) })
		}
		wg.Wait()
		require.NoError(t, m.Close(t.Context()))
		require.Equal(t, lifecycle.Disconnected, m.State())
		require.False(t, b.closedTwice)
		require.Zero(t, b.open)
	})
}

// G-LIF-3; X11, L-06, F1: Close during a dial cancels it, and Connect says so.
func TestMachineCloseAbortsConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		result := make(chan error, 1)
		go func() {
			result <- m.Connect(t.Context(), func(ctx context.Context) (*conn, error) {
				<-ctx.Done()
				time.Sleep(time.Second) // takes a while to notice, and then brings one all the same
				return b.dial(ctx)
			})
		}()
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- m.Close(t.Context()) }()
		require.ErrorIs(t, <-result, lifecycle.ErrConnectAborted)
		require.Equal(t, lifecycle.Closing, m.State(), "nobody may dial while the old dial is under way")
		require.ErrorIs(t, m.Connect(t.Context(), b.dial), lifecycle.ErrClosing)
		require.NoError(t, <-closed)
		require.Equal(t, lifecycle.Disconnected, m.State())
		dials, open := b.counts()
		require.Equal(t, 1, dials)
		require.Zero(t, open)
	})
}

// G-LIF-3; X11: a dial that doesn't listen can't hold up Close.
func TestMachineCloseDoesNotWaitForADeafDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		go func() {
			_ = m.Connect(t.Context(), func(ctx context.Context) (*conn, error) {
				time.Sleep(time.Hour)
				return b.dial(ctx)
			})
		}()
		synctest.Wait()
		start := time.Now()
		require.ErrorIs(t, m.Close(t.Context()), lifecycle.ErrStillClosing)
		require.Equal(t, 5*time.Second, time.Since(start))
		require.Equal(t, lifecycle.Disconnected, m.State())
		time.Sleep(2 * time.Hour)
		_, open := b.counts()
		require.Zero(t, open)
	})
}

// G-LIF-3; L-05, B28: a Close function that fails, panics, exits or hangs.
func TestMachineCloseSurvivesItsCloseFunction(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name  string
		close func(context.Context, *conn) error
		want  error
		took  time.Duration
	}{
		{"error", func(context.Context, *conn) error { return boom }, boom, 0},
		{"panic", func(context.Context, *conn) error { panic(boom) }, boom, 0},
		{"goexit", func(context.Context, *conn) error { goexit(); return nil }, nil, 0},
		{"hang", func(ctx context.Context, _ *conn) error { time.Sleep(time.Minute); return ctx.Err() }, lifecycle.ErrStillClosing, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t, &backend{}, func(cfg *lifecycle.Config[*conn]) { cfg.Close = c.close })
				require.NoError(t, m.Connect(t.Context(), (&backend{}).dial))
				start := time.Now()
				err := m.Close(t.Context())
				require.Error(t, err)
				if c.want != nil {
					require.ErrorIs(t, err, c.want)
				}
				require.Equal(t, c.took, time.Since(start))
				require.Equal(t, lifecycle.Disconnected, m.State())
				require.NoError(t, m.Connect(t.Context(), (&backend{}).dial), "a bad close must not end the machine")
				time.Sleep(2 * time.Minute)
				require.EqualValues(t, 1, m.Stats().CloseErrors)
				require.Error(t, m.Stats().LastError)
			})
		})
	}
}

// G-LIF-4; L-25, R115: Close waits for the leases, and no new one is given.
func TestMachineCloseWaitsForLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		drainingCalled := false
		m := newMachine(t, b, func(c *lifecycle.Config[*conn]) {
			c.Draining = func(*conn) { drainingCalled = true; panic("must not matter") }
		})
		require.NoError(t, m.Connect(t.Context(), b.dial))
		l, err := m.Lease()
		require.NoError(t, err)
		closed := make(chan error, 1)
		go func() { closed <- m.Close(t.Context()) }()
		synctest.Wait()
		require.Equal(t, lifecycle.Closing, m.State())
		require.True(t, drainingCalled)
		_, err = m.Lease()
		var state *lifecycle.StateError
		require.ErrorAs(t, err, &state)
		require.Equal(t, lifecycle.Closing, state.State)
		require.Equal(t, spillway.OutcomeLocal, spillway.OutcomeOf(err))
		require.False(t, l.Conn().closed)
		time.Sleep(time.Second)
		l.Release()
		require.NoError(t, <-closed)
		require.Zero(t, b.open)
	})
}

// G-LIF-4: a lease that outlives Close keeps its connection, and closes it.
func TestMachineOrphanIsClosedByItsLastLease(t *testing.T) {
	for _, c := range []struct {
		name string
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		took time.Duration
	}{
		{"drain timeout", func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }, 10 * time.Second},
		{"context", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &backend{}
				m := newMachine(t, b)
				require.NoError(t, m.Connect(t.Context(), b.dial))
				first, err := m.Lease()
				require.NoError(t, err)
				second, err := m.Lease()
				require.NoError(t, err)
				ctx, cancel := c.ctx(t.Context())
				defer cancel()
				start := time.Now()
				err = m.Close(ctx)
				require.ErrorIs(t, err, lifecycle.ErrOrphaned)
				require.ErrorContains(t, err, "2")
				require.Equal(t, c.took, time.Since(start))
				require.Equal(t, lifecycle.Disconnected, m.State())
				require.Equal(t, 1, m.Stats().Orphans)

				// G-LIF-5, L-03: the next generation is another one.
				require.NoError(t, m.Connect(t.Context(), b.dial))
				require.Equal(t, 2, b.open)
				first.Release()
				first.Release()
				require.False(t, second.Conn().closed)
				second.Release()
				synctest.Wait()
				require.Equal(t, 1, b.open)
				require.Zero(t, m.Stats().Orphans)
				require.EqualValues(t, 1, m.Stats().Orphaned)
				require.Equal(t, lifecycle.Connected, m.State())
				require.NoError(t, m.Close(t.Context()))
				require.False(t, b.closedTwice)
				require.Zero(t, m.Stats().Open())
			})
		})
	}
}

// G-LIF-3: Close from inside a bound operation would wait for itself; it ends in
// its bound, and the operation's own lease closes the connection.
func TestMachineCloseFromInsideAnOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		require.NoError(t, m.Connect(t.Context(), b.dial))
		op := lifecycle.Bind(m, func(ctx context.Context, c *conn) (bool, error) {
			err := m.Close(ctx)
			return c.closed, err
		})
		closedInside, err := op(t.Context())
		require.ErrorIs(t, err, lifecycle.ErrOrphaned)
		require.False(t, closedInside)
		synctest.Wait()
		require.Zero(t, b.open)
	})
}

// F11, P5, F6: observers are told in order, may call the machine, and may panic.
func TestMachineObserversSeeTransitionsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		var seen []lifecycle.State
		stop := m.OnTransition(func(tr lifecycle.Transition) {
			seen = append(seen, tr.To)
			if tr.To == lifecycle.Connected {
				require.NoError(t, m.Close(t.Context()))
			}
			panic("an observer's panic harms nobody")
		})
		var told []lifecycle.Transition
		m.OnTransition(func(tr lifecycle.Transition) { told = append(told, tr) })
		require.NoError(t, m.Connect(t.Context(), b.dial))
		synctest.Wait()
		want := []lifecycle.State{lifecycle.Connecting, lifecycle.Connected, lifecycle.Closing, lifecycle.Disconnected}
		require.Equal(t, want, seen)
		require.Len(t, told, 4)
		require.Equal(t, lifecycle.Disconnected, told[0].From)
		require.Equal(t, "dialled", told[1].Reason)
		require.EqualValues(t, 1, told[3].Generation)
		stop()
		stop()
		require.NoError(t, m.Connect(t.Context(), b.dial))
		require.NoError(t, m.Close(t.Context()))
		require.Len(t, seen, 4)
		require.Len(t, told, 8)
	})
}

// R118: waiting for a state.
func TestMachineWaitState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		done := make(chan error, 1)
		go func() { done <- m.WaitState(t.Context(), lifecycle.Connected) }()
		synctest.Wait()
		require.NoError(t, m.Connect(t.Context(), b.dial))
		require.NoError(t, <-done)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, m.WaitState(ctx, lifecycle.Closing), context.DeadlineExceeded)
		require.NoError(t, m.Close(t.Context()))
	})
}
