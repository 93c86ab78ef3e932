package lifecycle_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/lifecycle"
)

// G-LIF-4; A9, P8: however often, from wherever, on whichever copy.
func TestLeaseIsReleasedOnce(t *testing.T) {
	b := &backend{}
	m := newMachine(t, b)
	require.NoError(t, m.Connect(t.Context(), b.dial))
	mine, err := m.Lease()
	require.NoError(t, err)
	others, err := m.Lease()
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 64 {
		wg.Add(1)
		go func(l lifecycle.Lease[*conn]) { defer wg.Done(); l.Release() }(mine)
	}
	wg.Wait()
	require.Equal(t, 1, m.Stats().Leases)
	again, err := m.Lease() // takes a slot, perhaps that one
	require.NoError(t, err)
	mine.Release()
	require.Equal(t, 2, m.Stats().Leases)
	again.Release()
	others.Release()
	require.NoError(t, m.Close(t.Context()))
	lifecycle.Lease[*conn]{}.Release()
	require.Nil(t, lifecycle.Lease[*conn]{}.Conn())
}

// G-LIF-4, G-LIF-5; F4, F14: leases under fire of closes and reconnects never see a
// closed connection, and nothing stays open. ConcurrentSafe: run with -count=100.
func TestLeaseConcurrentSafe(t *testing.T) {
	b := &backend{}
	var machine *lifecycle.Machine[*liveConn]
	var open atomic.Int64
	machine, err := lifecycle.New(lifecycle.DefaultConfig("db", func(_ context.Context, c *liveConn) error {
		require.True(t, c.open.CompareAndSwap(true, false), "closed twice")
		require.Zero(t, c.users.Load(), "closed under a user")
		open.Add(-1)
		return nil
	}))
	require.NoError(t, err)
	dial := func(context.Context) (*liveConn, error) {
		c := &liveConn{}
		c.open.Store(true)
		open.Add(1)
		return c, nil
	}
	stop := make(chan struct{})
	var users sync.WaitGroup
	use := lifecycle.Bind(machine, func(_ context.Context, c *liveConn) (bool, error) {
		c.users.Add(1)
		defer c.users.Add(-1)
		return c.open.Load(), nil
	})
	for i := range 8 {
		users.Add(1)
		go func() {
			defer users.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if i%2 == 0 {
					ok, err := use(context.Background())
					require.True(t, ok || errors.Is(err, lifecycle.ErrNotConnected))
					continue
				}
				l, err := machine.Lease()
				if err != nil {
					continue
				}
				l.Conn().users.Add(1)
				require.True(t, l.Conn().open.Load())
				l.Conn().users.Add(-1)
				l.Release()
			}
		}()
	}
	for range 15 {
		require.NoError(t, machine.Connect(t.Context(), dial))
		require.NoError(t, machine.Close(t.Context()))
	}
	close(stop)
	users.Wait()
	require.Zero(t, open.Load())
	require.EqualValues(t, 15, machine.Stats().Closed)
	require.Zero(t, b.open)
}

type liveConn struct {
	open  atomic.Bool
	users atomic.Int64
}

// G-LIF-4; A6, A7: the lease of a bound operation comes back on every path.
func TestBindReleasesOnEveryPath(t *testing.T) {
	b := &backend{}
	m := newMachine(t, b)
	boom := errors.New("boom")
	value := lifecycle.Bind(m, func(context.Context, *conn) (int, error) { return 7, nil })
	_, err := value(t.Context())
	require.ErrorIs(t, err, lifecycle.ErrNotConnected)
	require.NoError(t, m.Connect(t.Context(), b.dial))
	v, err := value(t.Context())
	require.NoError(t, err)
	require.Equal(t, 7, v)
	_, err = lifecycle.Bind(m, func(context.Context, *conn) (int, error) { return 0, boom })(t.Context())
	require.Equal(t, boom, err)
	require.PanicsWithValue(t, "through", func() {
		_, _ = lifecycle.Bind(m, func(context.Context, *conn) (int, error) { panic("through") })(t.Context())
	})
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_, _ = lifecycle.Bind(m, func(context.Context, *conn) (int, error) { runtime.Goexit(); return 0, nil })(t.Context())
	}()
	<-exited
	require.Zero(t, m.Stats().Leases)
	require.NoError(t, m.Close(t.Context()))
	require.Panics(t, func() { lifecycle.Bind[*conn, int](m, nil) })
}

// G-LIF-7.
func TestLeaseAllocatesNothing(t *testing.T) {
	b := &backend{}
	m := newMachine(t, b)
	require.NoError(t, m.Connect(t.Context(), b.dial))
	ctx := t.Context()
	bound := lifecycle.Bind(m, func(context.Context, *conn) (int, error) { return 1, nil })
	want := 0.0
	lease := testing.AllocsPerRun(1000, func() {
		l, _ := m.Lease()
		l.Release()
	})
	bind := testing.AllocsPerRun(1000, func() { _, _ = bound(ctx) })
	if !invariant.Enabled { // the race detector allocates on its own account
		require.Equal(t, want, lease)
		require.Equal(t, want, bind)
	}
	require.Zero(t, m.Stats().Leases)
}
