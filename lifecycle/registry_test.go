//go:build go1.25

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/lifecycle"
)

var errDial = errors.New("dial failed")

// shards are a backend for each key, and what a dial of each does first.
type shards struct {
	backend
	before func(ctx context.Context, key string) error
	byKey  sync.Map // *atomic.Int32 by key: dials
}

func (s *shards) dial(ctx context.Context, key string) (*conn, error) {
	n, _ := s.byKey.LoadOrStore(key, new(atomic.Int32))
	n.(*atomic.Int32).Add(1)
	if s.before != nil {
		if err := s.before(ctx, key); err != nil {
			return nil, err
		}
	}
	return s.backend.dial(ctx)
}

func (s *shards) dials(key string) int {
	n, ok := s.byKey.Load(key)
	if !ok {
		return 0
	}
	return int(n.(*atomic.Int32).Load())
}

type registry = lifecycle.Registry[string, *conn]

func newRegistry(t testing.TB, s *shards, change ...func(*lifecycle.RegistryConfig[string, *conn])) *registry {
	t.Helper()
	cfg := lifecycle.DefaultRegistryConfig("shards", s.dial, s.close)
	for _, f := range change {
		f(&cfg)
	}
	r, err := lifecycle.NewRegistry(cfg)
	require.NoError(t, err)
	return r
}

func slowly(d time.Duration) func(context.Context, string) error {
	return func(ctx context.Context, _ string) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// G-REG-1; L-16, R121: a hundred ask for a key at once: one dial; another key isn't held up.
func TestRegistryDialsEachKeyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shards{}
		s.before = func(ctx context.Context, key string) error {
			if key == "slow" {
				return slowly(10*time.Second)(ctx, key)
			}
			return nil
		}
		r := newRegistry(t, s)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				l, err := r.Get(t.Context(), "slow")
				require.NoError(t, err)
				l.Release()
			})
		}
		synctest.Wait()
		require.Equal(t, 100, r.Stats().Waiting)
		start := time.Now()
		l, err := r.Get(t.Context(), "fast")
		require.NoError(t, err)
		require.Zero(t, time.Since(start), "another key is no reason to wait")
		l.Release()
		wg.Wait()
		require.Equal(t, 1, s.dials("slow"))
		require.Zero(t, r.Stats().Waiting)
		require.ElementsMatch(t, []string{"slow", "fast"}, r.Keys())
		require.Equal(t, r.Name(), r.Stats().Name)
		require.NoError(t, r.Close(t.Context()))
		require.Zero(t, r.Stats().Open())
	})
}

// G-REG-2; R121, E26: a failed or panicking dial fails all who waited for it, leaves
// nothing, and the next Get dials again.
func TestRegistryFailedDialLeavesNothing(t *testing.T) {
	for name, bad := range map[string]func() error{
		"error":  func() error { return errDial },
		"panic":  func() error { panic(errDial) },
		"goexit": func() error { goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shards{}
				s.before = func(context.Context, string) error { time.Sleep(time.Second); return bad() }
				r := newRegistry(t, s)
				var wg sync.WaitGroup
				for range 10 {
					wg.Go(func() {
						l, err := r.Get(t.Context(), "a")
						require.Error(t, err)
						require.Zero(t, l)
					})
				}
				wg.Wait()
				require.Equal(t, 1, s.dials("a"))
				require.Empty(t, r.Keys())
				s.before = nil
				l, err := r.Get(t.Context(), "a")
				require.NoError(t, err)
				l.Release()
				st := r.Stats()
				require.EqualValues(t, 1, st.Failed)
				require.EqualValues(t, 1, st.Connected)
				require.Equal(t, 1, st.Open())
				require.NoError(t, r.Close(t.Context()))
			})
		})
	}
}

// G-REG-1; E26, T-18: who waits is bounded by his own context; the dial isn't the first
// caller's, and goes on for the others.
func TestRegistryCallerWhoGivesUpDoesNotEndTheDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shards{before: slowly(10 * time.Second)}
		r := newRegistry(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := r.Get(ctx, "a")
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		l, err := r.Get(t.Context(), "a")
		require.NoError(t, err)
		l.Release()
		wg.Wait()
		require.Equal(t, 1, s.dials("a"))
		_, err = r.Get(ctx, "a")
		require.ErrorIs(t, err, context.DeadlineExceeded, "a done context gets no lease")
		require.NoError(t, r.Close(t.Context()))
	})
}

// G-REG-3; L-17, L-20: removal while connecting ends the dial, tells those who wait, and
// what the dial brings all the same is closed.
func TestRegistryRemoveWhileConnecting(t *testing.T) {
	for name, before := range map[string]func(context.Context, string) error{
		"heeds":  slowly(time.Minute),
		"brings": func(ctx context.Context, _ string) error { <-ctx.Done(); time.Sleep(time.Second); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shards{before: before}
				r := newRegistry(t, s)
				var wg sync.WaitGroup
				start := time.Now()
				for range 5 {
					wg.Go(func() {
						_, err := r.Get(t.Context(), "a")
						require.ErrorIs(t, err, lifecycle.ErrRemoved)
						require.Equal(t, spillway.OutcomeLocal, spillway.OutcomeOf(err), "nothing was sent")
						require.Equal(t, spillway.Status{HTTP: 503, GRPC: 14, RetryAfter: time.Second}, spillway.StatusOf(err))
						require.Zero(t, time.Since(start), "those who wait are told at once")
					})
				}
				synctest.Wait()
				require.NoError(t, r.Remove(t.Context(), "a"))
				wg.Wait()
				_, open := s.counts()
				require.Zero(t, open)
				require.Empty(t, r.Keys())
				st := r.Stats()
				require.Zero(t, st.Open()+st.Background+st.Waiting)
				require.EqualValues(t, 1, st.Removed)

				s.before = nil
				l, err := r.Get(t.Context(), "a")
				require.NoError(t, err, "whoever asks again dials anew")
				l.Release()
				require.NoError(t, r.Close(t.Context()))
			})
		})
	}
}

// G-REG-3: removal while leased waits for the leases, and a new connection needn't wait.
func TestRegistryRemoveWhileLeased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shards{}
		r := newRegistry(t, s)
		old, err := r.Get(t.Context(), "a")
		require.NoError(t, err)
		removed := make(chan error, 1)
		go func() { removed <- r.Remove(t.Context(), "a") }()
		synctest.Wait()
		next, err := r.Get(t.Context(), "a")
		require.NoError(t, err)
		require.NotSame(t, old.Conn(), next.Conn())
		require.False(t, old.Conn().closed)
		require.Equal(t, 2, r.Stats().Open())
		old.Release()
		require.NoError(t, <-removed)
		require.Equal(t, 1, r.Stats().Open())
		require.NoError(t, r.Remove(t.Context(), "nobody"))

		// A lease that outlives the removal makes an orphan, which the gauge knows.
		require.ErrorIs(t, r.Remove(t.Context(), "a"), lifecycle.ErrOrphaned)
		require.Equal(t, 1, r.Stats().Orphans)
		next.Release()
		synctest.Wait()
		require.Zero(t, r.Stats().Open())
		require.NoError(t, r.Close(t.Context()))
		require.False(t, s.closedTwice)
	})
}

// Ten who find the same connection broken close it once, and not the next one.
func TestRegistryDiscardClosesOnlyItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shards{}
		r := newRegistry(t, s)
		var leases []lifecycle.Lease[*conn]
		for range 10 {
			l, err := r.Get(t.Context(), "a")
			require.NoError(t, err)
			leases = append(leases, l)
		}
		var wg sync.WaitGroup
		for _, l := range leases {
			wg.Go(func() { require.NoError(t, r.Discard(t.Context(), "a", l)) })
			synctest.Wait()
			next, err := r.Get(t.Context(), "a")
			require.NoError(t, err)
			next.Release()
		}
		wg.Wait()
		require.Equal(t, 2, s.dials("a"))
		require.NoError(t, r.Discard(t.Context(), "a", lifecycle.Lease[*conn]{}))
		require.Equal(t, 1, r.Stats().Open())
		require.NoError(t, r.Close(t.Context()))
	})
}

// G-REG-4; B13, X6: keys and waiting callers are bounded.
func TestRegistryBoundsKeysAndCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shards{before: slowly(time.Second)}
		r := newRegistry(t, s, func(c *lifecycle.RegistryConfig[string, *conn]) { c.MaxKeys, c.MaxWaiting = 2, 1 })
		var wg sync.WaitGroup
		for _, key := range []string{"a", "a", "b"} {
			wg.Go(func() {
				l, err := r.Get(t.Context(), key)
				require.NoError(t, err)
				l.Release()
			})
		}
		synctest.Wait()
		for key, reason := range map[string]spillway.Reason{"a": spillway.ReasonQueueFull, "c": spillway.ReasonLimit} {
			_, err := r.Get(t.Context(), key)
			require.ErrorIs(t, err, spillway.ErrBackpressure)
			var rejection *spillway.Rejection
			require.ErrorAs(t, err, &rejection)
			require.Equal(t, reason, rejection.Reason)
		}
		wg.Wait()
		require.EqualValues(t, 2, r.Stats().Refused)
		require.NoError(t, r.Close(t.Context()))
	})
}

// G-REG-5: Close closes all at once, within the bound of one, also those being dialled.
func TestRegistryCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shards{}
		s.before = func(ctx context.Context, key string) error {
			if key == "dialling" {
				return slowly(time.Hour)(ctx, key)
			}
			return nil
		}
		r := newRegistry(t, s)
		var out []lifecycle.Lease[*conn]
		for i := range 20 {
			l, err := r.Get(t.Context(), fmt.Sprint(i))
			require.NoError(t, err)
			out = append(out, l)
		}
		go func() {
			_, err := r.Get(t.Context(), "dialling")
			require.ErrorIs(t, err, spillway.ErrClosed)
		}()
		synctest.Wait()
		start := time.Now()
		second := make(chan error, 1)
		go func() { second <- r.Close(t.Context()) }()
		err := r.Close(t.Context())
		require.ErrorIs(t, err, lifecycle.ErrOrphaned)
		require.ErrorIs(t, <-second, lifecycle.ErrOrphaned)
		require.Equal(t, 10*time.Second, time.Since(start))
		_, err = r.Get(t.Context(), "0")
		require.ErrorIs(t, err, spillway.ErrClosed)
		require.NoError(t, r.Remove(t.Context(), "0"))
		for _, l := range out {
			l.Release()
		}
		synctest.Wait()
		st := r.Stats()
		require.Zero(t, st.Open()+st.Orphans+st.Background+st.Keys)
		require.True(t, st.Ended)
		require.EqualValues(t, 20, st.Orphaned)
	})
}

// R184, L-22: the zero registry is closed, and every fault of a configuration is named.
func TestRegistryZeroAndFaults(t *testing.T) {
	var zero registry
	_, err := zero.Get(t.Context(), "a")
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.NoError(t, zero.Close(t.Context()))
	require.NoError(t, zero.Remove(t.Context(), "a"))
	require.Empty(t, zero.Keys())
	require.True(t, zero.Stats().Ended)
	_, err = lifecycle.NewRegistry(lifecycle.RegistryConfig[string, *conn]{MaxWaiting: -1})
	for _, field := range []string{"Machine.Name", "Machine.Close is", "Dial", "MaxKeys is 0", "MaxWaiting is -1"} {
		require.ErrorContains(t, err, field)
	}
}

// G-REG-6: a connected key costs no allocation, and BindKey gives its lease back.
func TestRegistryGetAllocatesNothing(t *testing.T) {
	r := newRegistry(t, &shards{})
	ctx := context.Background()
	allocs := testing.AllocsPerRun(1000, func() {
		l, err := r.Get(ctx, "a")
		if err == nil {
			l.Release()
		}
	})
	if !invariant.Enabled {
		require.Zero(t, allocs)
	}
	bound := lifecycle.BindKey(r, "a", func(context.Context, *conn) (int, error) { panic(errDial) })
	require.PanicsWithError(t, errDial.Error(), func() { _, _ = bound(ctx) })
	require.Zero(t, r.Stats().Leases)
	require.NoError(t, r.Close(ctx))
	_, err := bound(ctx)
	require.ErrorIs(t, err, spillway.ErrClosed)
}

// G-REG-1 to 5; L-16 to L-20, E28: any order of get, fail, remove, discard and close: the
// gauge returns to 0, and nothing is closed twice or left open.
func TestRegistryConcurrentSafe(t *testing.T) {
	s := &shards{before: func(context.Context, string) error {
		if rand.IntN(4) == 0 {
			return errDial
		}
		return nil
	}}
	r := newRegistry(t, s, func(c *lifecycle.RegistryConfig[string, *conn]) { c.MaxKeys = 3 })
	ctx := context.Background()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				key := fmt.Sprint(rand.IntN(4))
				switch rand.IntN(8) {
				case 0:
					require.NoError(t, r.Remove(ctx, key))
				case 1:
					if l, err := r.Get(ctx, key); err == nil {
						require.NoError(t, r.Discard(ctx, key, l))
					}
				case 2:
					st := r.Stats()
					require.LessOrEqual(t, st.Keys, 3)
					require.GreaterOrEqual(t, st.Open(), 0)
				default:
					l, err := r.Get(ctx, key)
					if err == nil && l.Conn().closed {
						panic("leased, and closed")
					}
					l.Release()
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, r.Close(ctx))
	st := r.Stats()
	require.Zero(t, st.Open()+st.Background+st.Orphans+st.Waiting)
	dials, open := s.counts()
	require.Zero(t, open)
	require.EqualValues(t, dials, st.Closed)
	require.False(t, s.closedTwice)
}
