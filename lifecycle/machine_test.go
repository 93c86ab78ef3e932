//go:build go1.25

package lifecycle_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lifecycle"
)

// G-LIF-1; L-01, R105: a hundred callers, one dial, 99 typed errors at once.
func TestMachineDialsOnceHoweverManyConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		start := time.Now()
		var won, refused atomic.Int64
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				err := m.Connect(t.Context(), func(ctx context.Context) (*conn, error) {
					time.Sleep(time.Second)
					return b.dial(ctx)
				})
				if err == nil {
					won.Add(1)
					return
				}
				var state *lifecycle.StateError
				require.ErrorAs(t, err, &state)
				require.Equal(t, lifecycle.Connecting, state.State)
				require.ErrorIs(t, err, lifecycle.ErrConnecting)
				require.Zero(t, time.Since(start), "a loser must not wait for the winner")
				refused.Add(1)
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, won.Load())
		require.EqualValues(t, 99, refused.Load())
		dials, open := b.counts()
		require.Equal(t, 1, dials)
		require.Equal(t, 1, open)
		require.NoError(t, m.Close(t.Context()))
		_, open = b.counts()
		require.Zero(t, open)
		require.EqualValues(t, 99, m.Stats().Refused)
	})
}

// L-12: a second Connect leaves the first connection alone.
func TestMachineConnectWhileConnectedChangesNothing(t *testing.T) {
	b := &backend{}
	m := newMachine(t, b)
	require.NoError(t, m.Connect(t.Context(), b.dial))
	before, err := m.Lease()
	require.NoError(t, err)
	defer before.Release()
	err = m.Connect(t.Context(), b.dial)
	require.ErrorIs(t, err, lifecycle.ErrAlreadyConnected)
	require.NotErrorIs(t, err, spillway.ErrBackpressure)
	after, err := m.Lease()
	require.NoError(t, err)
	defer after.Release()
	require.Same(t, before.Conn(), after.Conn())
	require.Equal(t, 1, b.dials)
}

// G-LIF-2; L-04, L-08, L-09, A12, A27: whatever a dial does wrong, the machine is as it
// was before, nothing stays open, and the next Connect works.
func TestMachineFailedDialLeavesNothing(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name  string
		dial  func(*backend) func(context.Context) (*conn, error)
		check func(*testing.T, error)
	}{
		{"error", func(*backend) func(context.Context) (*conn, error) {
			return func(context.Context) (*conn, error) { return nil, boom }
		}, func(t *testing.T, err error) { require.ErrorIs(t, err, boom) }},
		{"error with a connection", func(b *backend) func(context.Context) (*conn, error) {
			return func(ctx context.Context) (*conn, error) { c, _ := b.dial(ctx); return c, boom }
		}, func(t *testing.T, err error) { require.ErrorIs(t, err, boom) }},
		{"neither", func(*backend) func(context.Context) (*conn, error) {
			return func(context.Context) (*conn, error) { return nil, nil }
		}, func(t *testing.T, err error) { require.ErrorIs(t, err, lifecycle.ErrNoConnection) }},
		{"panic", func(*backend) func(context.Context) (*conn, error) {
			return func(context.Context) (*conn, error) { panic(boom) }
		}, func(t *testing.T, err error) {
			var p *spillway.PanicError
			require.ErrorAs(t, err, &p)
			require.ErrorIs(t, err, boom)
			require.ErrorContains(t, err, `lifecycle "db": function panicked`)
			require.Contains(t, string(p.Stack), "machine_test.go")
		}},
		{"goexit", func(*backend) func(context.Context) (*conn, error) {
			return func(context.Context) (*conn, error) { goexit(); return nil, nil }
		}, func(t *testing.T, err error) {
			var p *spillway.PanicError
			require.ErrorAs(t, err, &p)
			require.Nil(t, p.Value)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &backend{}
				m := newMachine(t, b)
				err := m.Connect(t.Context(), c.dial(b))
				c.check(t, err)
				require.Equal(t, lifecycle.Disconnected, m.State())
				require.Zero(t, m.Generation())
				_, open := b.counts()
				require.Zero(t, open)
				_, err = m.Lease()
				require.ErrorIs(t, err, lifecycle.ErrNotConnected)
				require.NoError(t, m.Connect(t.Context(), b.dial))
				require.NoError(t, m.Close(t.Context()))
				require.EqualValues(t, 1, m.Stats().Failed)
				require.Zero(t, m.Stats().Open())
			})
		})
	}
}

// G-LIF-2; L-07, T-25: the caller goes away, the dial goes on: Connect returns at
// once, another may dial, and what the first brings late is closed.
func TestMachineLateDialIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		cause := errors.New("gone home")
		ctx, cancel := context.WithCancelCause(t.Context())
		result := make(chan error, 1)
		go func() {
			result <- m.Connect(ctx, func(ctx context.Context) (*conn, error) {
				time.Sleep(3 * time.Second) // deaf to its context, as the driver is
				return b.dial(ctx)
			})
		}()
		synctest.Wait()
		cancel(cause)
		require.ErrorIs(t, <-result, cause)
		require.Equal(t, lifecycle.Disconnected, m.State())
		require.NoError(t, m.Connect(t.Context(), b.dial))
		synctest.Wait() // the second dial's goroutine may still be on its way out
		require.Equal(t, 1, m.Stats().Background)

		time.Sleep(4 * time.Second)
		synctest.Wait()
		dials, open := b.counts()
		require.Equal(t, 2, dials)
		require.Equal(t, 1, open, "the late one must have been closed, the current one not")
		require.EqualValues(t, 1, m.Stats().Late)
		require.EqualValues(t, 1, m.Generation())
		require.NoError(t, m.Close(t.Context()))
		require.Zero(t, m.Stats().Open())
	})
}

// F13: a dial can't take longer than it may, whatever the caller's context says.
func TestMachineConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, &backend{}, func(c *lifecycle.Config[*conn]) { c.ConnectTimeout = 2 * time.Second })
		start := time.Now()
		err := m.Connect(t.Context(), func(ctx context.Context) (*conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 2*time.Second, time.Since(start))
		var timeout *lifecycle.TimeoutError
		require.ErrorAs(t, err, &timeout, "whether the dial or its caller was told first")
		require.Equal(t, 2*time.Second, timeout.Limit)
		require.EqualError(t, err, `lifecycle "db": connecting took longer than 2s`)
		require.Equal(t, lifecycle.Disconnected, m.State())
	})
}

// C16, B7: a context that is done makes no dial.
func TestMachineConnectWithDoneContextDialsNothing(t *testing.T) {
	b := &backend{}
	m := newMachine(t, b)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, m.Connect(ctx, b.dial), context.Canceled)
	require.Zero(t, b.dials)
	require.Zero(t, m.Stats().Transitions[lifecycle.Disconnected][lifecycle.Connecting])
}

// L-02, L-13, R108, R117: 25 cycles against two backends leave nothing open.
func TestMachineReconnectsToAnotherBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &backend{}, &backend{}
		m, err := lifecycle.New(lifecycle.DefaultConfig("db", func(ctx context.Context, c *conn) error {
			return c.b.close(ctx, c)
		}))
		require.NoError(t, err)
		for i := range 25 {
			b := one
			if i%2 == 1 {
				b = two
			}
			require.NoError(t, m.Connect(t.Context(), b.dial))
			l, err := m.Lease()
			require.NoError(t, err)
			require.Same(t, b, l.Conn().b)
			require.EqualValues(t, i+1, l.Generation())
			current, ok := m.Current()
			require.True(t, ok)
			require.Same(t, l.Conn(), current)
			l.Release()
			require.NoError(t, m.Close(t.Context()))
		}
		_, ok := m.Current()
		require.False(t, ok)
		require.Zero(t, one.open+two.open)
		require.Equal(t, 1, max(one.maxOpen, two.maxOpen))
		require.EqualValues(t, 25, m.Stats().Closed)
	}) // a goroutine left behind would fail the bubble
}

// L-22: every fault of a configuration is named, with its value.
func TestConfigListsEveryFault(t *testing.T) {
	_, err := lifecycle.New(lifecycle.Config[*conn]{Name: " ", DrainTimeout: -time.Second})
	var faults *spillway.ConfigError
	require.ErrorAs(t, err, &faults)
	var fields []string
	for _, f := range faults.Faults {
		fields = append(fields, f.Field)
	}
	require.Equal(t, []string{"Name", "Close", "ConnectTimeout", "DrainTimeout", "CloseTimeout"}, fields)
	require.ErrorContains(t, err, "DrainTimeout is -1s")
}

// R184: the zero Machine refuses with a clear error and hangs nowhere.
func TestZeroMachineRefuses(t *testing.T) {
	var m lifecycle.Machine[*conn]
	require.ErrorContains(t, m.Connect(t.Context(), (&backend{}).dial), "must be made by New")
	_, err := m.Lease()
	require.ErrorIs(t, err, lifecycle.ErrNotConnected)
	require.NoError(t, m.Close(t.Context()))
	require.ErrorContains(t, newMachine(t, &backend{}).Connect(t.Context(), nil), "dial is <nil>: must not be nil")
}

// Stats say how long connects and closes took, each among its like.
func TestMachineTimesConnectsAndCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		slow := func(d time.Duration, err error) func(context.Context) (*conn, error) {
			return func(ctx context.Context) (*conn, error) {
				time.Sleep(d)
				if err != nil {
					return nil, err
				}
				return b.dial(ctx)
			}
		}
		require.Error(t, m.Connect(t.Context(), slow(3*time.Second, errors.New("no"))))
		require.NoError(t, m.Connect(t.Context(), slow(time.Second, nil)))
		time.Sleep(time.Hour) // being connected is neither
		lease, err := m.Lease()
		require.NoError(t, err)
		time.AfterFunc(2*time.Second, lease.Release)
		require.NoError(t, m.Close(t.Context()))
		st := m.Stats()
		for _, d := range []struct {
			want time.Duration
			have spillway.Distribution
		}{{time.Second, st.ConnectTimes}, {3 * time.Second, st.FailedTimes}, {2 * time.Second, st.CloseTimes}} {
			require.Equal(t, uint64(1), d.have.Count)
			require.Equal(t, d.want, d.have.Sum)
		}
	})
}

// What is the matter with a call is that there is no connection, whatever it is that is leased.
func TestStateErrorSaysWhatIsTheMatter(t *testing.T) {
	for want, err := range map[string]*lifecycle.StateError{
		`lifecycle "db": not connected: call Connect first`: {Name: "db", Op: "lease", State: lifecycle.Disconnected},
		`lifecycle "db": not connected: it is closing`:      {Name: "db", Op: "lease", State: lifecycle.Closing},
		`lifecycle "db": can't connect while connected`:     {Name: "db", Op: "connect", State: lifecycle.Connected},
	} {
		require.EqualError(t, err, want)
	}
}
