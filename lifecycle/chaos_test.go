//go:build go1.25

package lifecycle_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/lifecycle"
)

// chaos is a backend, and users of it, that do anything at any time, as a seed says.
type chaos struct {
	t *testing.T

	mu     sync.Mutex // guards what follows
	r      *rand.Rand
	opened int
	open   map[*chaosConn]bool
}

type chaosConn struct{ leases, closed int } // guarded by chaos.mu

// The bounds of everything in these tests.
const (
	chaosConnect = 30 * time.Millisecond
	chaosDrain   = 20 * time.Millisecond
	chaosClose   = 10 * time.Millisecond
	chaosTold    = 100 * time.Millisecond // an observer that hangs
)

func (c *chaos) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.IntN(n)
}

func (c *chaos) span() time.Duration { return time.Duration(c.n(40)) * time.Millisecond }

// pass lets time go by, and heeds the context or doesn't.
func (c *chaos) pass(ctx context.Context) {
	d, deaf := c.span(), c.n(3) == 0
	if deaf {
		<-time.After(d)
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (c *chaos) dial(ctx context.Context) (*chaosConn, error) {
	if c.n(3) > 0 {
		c.pass(ctx)
	}
	how := c.n(10)
	switch how {
	case 0:
		panic("dial")
	case 1:
		runtime.Goexit()
	case 2:
		return nil, errDial
	case 3:
		return nil, nil
	}
	conn := &chaosConn{}
	c.mu.Lock()
	c.opened++
	c.open[conn] = true
	c.mu.Unlock()
	if how == 4 {
		return conn, errDial
	}
	return conn, nil
}

func (c *chaos) close(ctx context.Context, conn *chaosConn) error {
	c.mu.Lock()
	if conn.leases > 0 {
		c.t.Error("closed under a lease")
	}
	if conn.closed++; conn.closed > 1 {
		c.t.Error("closed twice")
	}
	c.mu.Unlock()
	if c.n(3) == 0 {
		c.pass(ctx)
	}
	c.mu.Lock()
	delete(c.open, conn)
	c.mu.Unlock()
	switch c.n(8) {
	case 0:
		panic("close")
	case 1:
		runtime.Goexit()
	case 2:
		return errDial
	}
	return nil
}

// use holds a lease for a while.
func (c *chaos) use(l lifecycle.Lease[*chaosConn]) {
	c.note(l.Conn(), 1)
	<-time.After(c.span() * time.Duration(c.n(3)))
	c.note(l.Conn(), -1)
}

func (c *chaos) note(conn *chaosConn, leases int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.closed > 0 {
		c.t.Error("leased, and closed")
	}
	conn.leases += leases
}

// ctx is one that may be done, or end at any time, or not.
func (c *chaos) ctx() (context.Context, context.CancelFunc) {
	if c.n(2) == 0 {
		return context.WithTimeout(context.Background(), c.span())
	}
	return context.WithCancel(context.Background())
}

// within fails if f takes longer than it may.
func (c *chaos) within(limit time.Duration, what string, f func()) {
	start := time.Now()
	f()
	if took := time.Since(start); took > limit {
		c.t.Errorf("%s took %v", what, took)
	}
}

// many has six goroutines do so many steps each, with pauses between them.
func (c *chaos) many(step func()) {
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for range 20 {
				step()
				time.Sleep(c.span() / 2)
			}
		})
	}
	all.Wait()
}

func (c *chaos) config() lifecycle.Config[*chaosConn] {
	cfg := lifecycle.Config[*chaosConn]{
		Name: "chaos", Close: c.close, ConnectTimeout: chaosConnect, DrainTimeout: chaosDrain, CloseTimeout: chaosClose,
	}
	if c.n(2) == 0 {
		cfg.Draining = func(*chaosConn) {
			switch c.n(4) {
			case 0:
				panic("draining")
			case 1:
				<-time.After(c.span())
			}
		}
	}
	return cfg
}

func runChaos(t *testing.T, seed uint64, run func(t *testing.T, c *chaos)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &chaos{t: t, r: rand.New(rand.NewPCG(seed, 2)), open: map[*chaosConn]bool{}}
		defer func() {
			if t.Failed() {
				t.Log("seed", seed)
			}
		}()
		run(t, c)
		require.Empty(t, c.open)
	})
}

// G-LIF-1 to G-LIF-6, G-SUP-1, G-SUP-2: a machine with everything at once, with and without
// a supervisor.
func TestMachineChaosStress(t *testing.T) {
	for seed := range uint64(60) {
		runChaos(t, seed, func(t *testing.T, c *chaos) {
			m, err := lifecycle.New(c.config())
			require.NoError(t, err)
			state := lifecycle.Disconnected
			var ended atomic.Bool
			m.OnTransition(func(tr lifecycle.Transition) {
				if tr.From != state {
					t.Errorf("from %v, after %v", tr.From, state)
				}
				state = tr.To
				if ended.Load() {
					return
				}
				switch c.n(12) {
				case 0:
					panic("observer")
				case 1:
					<-time.After(c.span())
				case 2:
					_ = m.Close(context.Background())
				case 3:
					_ = m.Connect(context.Background(), c.dial)
				}
			})
			s := &lifecycle.Supervisor[*chaosConn]{}
			if c.n(2) == 0 {
				s, err = lifecycle.Supervise(t.Context(), m, lifecycle.SupervisorConfig[*chaosConn]{
					Dial: c.dial, MinGap: time.Millisecond, Backoff: func(int) time.Duration { return c.span() },
					CheckEvery: 10 * time.Millisecond, CheckTimeout: 10 * time.Millisecond, CheckFailures: 1 + c.n(2),
					Check: func(ctx context.Context, conn *chaosConn) error {
						c.note(conn, 1)
						defer c.note(conn, -1)
						c.pass(ctx)
						return ctx.Err()
					},
				})
				require.NoError(t, err)
			}
			c.many(func() {
				ctx, cancel := c.ctx()
				defer cancel()
				switch c.n(8) {
				case 0:
					c.within(chaosDrain+chaosClose+chaosTold, "Close", func() { _ = m.Close(ctx) })
				case 1, 2:
					c.within(chaosConnect+chaosTold, "Connect", func() { _ = m.Connect(ctx, c.dial) })
				case 3:
					s.Nudge()
				default:
					if l, err := m.Lease(); err == nil {
						c.use(l)
						l.Release()
					}
				}
			})
			ended.Store(true)
			require.NoError(t, s.Stop(t.Context()))
			time.Sleep(time.Second) // the observers have done what they do
			_ = m.Close(context.Background())
			time.Sleep(time.Second)
			_ = m.Close(context.Background())
			time.Sleep(time.Second)
			st := m.Stats()
			require.Equal(t, lifecycle.Disconnected, st.State)
			require.Zero(t, st.Open()+st.Orphans+st.Background+st.Leases)
			require.EqualValues(t, c.opened, st.Opened)
			require.EqualValues(t, st.Transitions[lifecycle.Connecting][lifecycle.Connected], st.Connected)
			require.Equal(t, st.Connected+st.Failed, st.Transitions[lifecycle.Disconnected][lifecycle.Connecting])
			require.Equal(t, lifecycle.Disconnected, state)
		})
	}
}

// G-REG-1 to G-REG-5: a registry with everything at once.
func TestRegistryChaosStress(t *testing.T) {
	for seed := range uint64(60) {
		runChaos(t, seed, func(t *testing.T, c *chaos) {
			r, err := lifecycle.NewRegistry(lifecycle.RegistryConfig[int, *chaosConn]{
				Machine: c.config(), MaxKeys: 3, MaxWaiting: c.n(3),
				Dial: func(ctx context.Context, _ int) (*chaosConn, error) { return c.dial(ctx) },
			})
			require.NoError(t, err)
			const bound = chaosDrain + chaosClose
			c.many(func() {
				ctx, cancel := c.ctx()
				defer cancel()
				key := c.n(4)
				switch c.n(12) {
				case 0, 1:
					c.within(bound, "Remove", func() { _ = r.Remove(ctx, key) })
				case 2:
					if l, err := r.Get(ctx, key); err == nil {
						c.within(bound, "Discard", func() { _ = r.Discard(ctx, key, l) })
					}
				case 3:
					if c.n(20) == 0 {
						c.within(bound, "Close", func() { _ = r.Close(ctx) })
					}
				case 4:
					st := r.Stats()
					require.LessOrEqual(t, st.Keys, 3)
					require.GreaterOrEqual(t, st.Open(), 0)
				default:
					l, err := r.Get(ctx, key)
					if err == nil {
						c.use(l)
					} else if errors.Is(err, lifecycle.ErrNotConnected) {
						t.Error("no connection, and no reason")
					}
					l.Release()
				}
			})
			c.within(bound, "Close", func() { _ = r.Close(context.Background()) })
			time.Sleep(time.Second)
			st := r.Stats()
			require.Zero(t, st.Open()+st.Orphans+st.Background+st.Leases+st.Waiting+st.Keys)
			require.EqualValues(t, c.opened, st.Opened)
		})
	}
}
