//go:build go1.25

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lifecycle"
)

// G-LIF-3, G-SUP-1; E28, F5: an observer that ends its goroutine ends nobody else's: not
// that of Connect, of a dial, of Close, or of a supervisor.
func TestMachineSurvivesObserversThatExit(t *testing.T) {
	for _, at := range []lifecycle.State{lifecycle.Connecting, lifecycle.Connected, lifecycle.Closing, lifecycle.Disconnected} {
		t.Run(at.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &backend{}
				m := newMachine(t, b)
				var told []lifecycle.State
				m.OnTransition(func(tr lifecycle.Transition) {
					if tr.To == at {
						runtime.Goexit()
					}
				})
				m.OnTransition(func(tr lifecycle.Transition) { told = append(told, tr.To) })
				s, err := lifecycle.Supervise(t.Context(), m, lifecycle.DefaultSupervisorConfig(b.dial))
				require.NoError(t, err)
				time.Sleep(time.Minute)
				require.Equal(t, lifecycle.Connected, m.State())
				returned := make(chan error, 1)
				go func() { returned <- m.Close(context.Background()) }()
				synctest.Wait()
				require.Len(t, returned, 1, "Close has returned")
				require.NoError(t, <-returned)
				time.Sleep(time.Minute)
				require.Equal(t, lifecycle.Connected, m.State(), "and the supervisor has dialled anew")
				require.NoError(t, s.Stop(t.Context()))
				require.NoError(t, m.Close(t.Context()))
				require.Zero(t, m.Stats().Background)
				_, open := b.counts()
				require.Zero(t, open)
				require.Len(t, told, 8, "the other observer was told of everything")
			})
		})
	}
}

// G-LIF-3: a Draining function may panic, exit or hang: Close goes on without it.
func TestMachineCloseSurvivesItsDrainingFunction(t *testing.T) {
	hang := make(chan struct{})
	for name, draining := range map[string]func(*conn){
		"panic": func(*conn) { panic("draining") },
		"exit":  func(*conn) { runtime.Goexit() },
		"hang":  func(*conn) { <-hang },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hang = make(chan struct{})
				b := &backend{}
				m := newMachine(t, b, func(cfg *lifecycle.Config[*conn]) { cfg.Draining = draining })
				require.NoError(t, m.Connect(t.Context(), b.dial))
				returned := make(chan error, 1)
				go func() { returned <- m.Close(context.Background()) }()
				time.Sleep(15*time.Second + 1) // DrainTimeout + CloseTimeout
				synctest.Wait()
				require.Len(t, returned, 1, "Close has returned")
				require.NoError(t, <-returned)
				require.Equal(t, lifecycle.Disconnected, m.State())
				_, open := b.counts()
				require.Zero(t, open)
				close(hang)
				synctest.Wait()
				require.Zero(t, m.Stats().Background)
			})
		})
	}
}

// talkative is a key with code of its own.
type talkative struct{ say *func() string }

func (k talkative) String() string { return (*k.say)() }

// G-REG-1: keys are their makers' code, too: none runs under the registry's lock, one that
// can't be looked up leaves it unlocked, and one that is never found again isn't kept.
func TestRegistrySurvivesItsKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		cfg := lifecycle.DefaultRegistryConfig("any", func(ctx context.Context, _ any) (*conn, error) { return b.dial(ctx) }, b.close)
		cfg.MaxKeys = 2
		r, err := lifecycle.NewRegistry(cfg)
		require.NoError(t, err)

		say := func() string { return fmt.Sprint(r.Stats().Keys) }
		l, err := r.Get(t.Context(), talkative{&say})
		require.NoError(t, err)
		l.Release()

		unhashable := []int{1}
		require.Panics(t, func() { _, _ = r.Get(t.Context(), unhashable) })
		require.Panics(t, func() { _ = r.Remove(t.Context(), unhashable) })
		require.Panics(t, func() { _ = r.Discard(t.Context(), unhashable, mustGet(t, r, talkative{&say})) })
		for range 3 {
			_, err = r.Get(t.Context(), math.NaN())
			var wrong *spillway.ConfigError
			require.ErrorAs(t, err, &wrong)
		}
		require.Equal(t, 1, r.Stats().Keys)
		require.NoError(t, r.Close(t.Context()))
		_, open := b.counts()
		require.Zero(t, open)
	})
}

func mustGet(t *testing.T, r *lifecycle.Registry[any, *conn], key any) lifecycle.Lease[*conn] {
	t.Helper()
	l, err := r.Get(t.Context(), key)
	require.NoError(t, err)
	return l
}

// typedNil is an error type of the kind that everybody has written once: a nil pointer of it
// is an error that isn't nil, and panics when it is asked.
type typedNil struct{ cause error }

func (e *typedNil) Error() string   { return e.cause.Error() }
func (e *typedNil) Unwrap() error   { return e.cause }
func (e *typedNil) Is(error) bool   { return e.cause == nil }
func (e *typedNil) As(any) bool     { return e.cause == nil }
func (e *typedNil) Timeout() bool   { return e.cause == nil }
func (e *typedNil) Temporary() bool { return e.cause == nil }

// G-SUP-1; L-08: an error of a dial that panics when it is asked what it is, and one that
// another machine's Connect gave, are failed dials like others.
func TestSupervisorSurvivesTheErrorsOfItsDial(t *testing.T) {
	for name, err := range map[string]error{
		"typed nil":              (*typedNil)(nil),
		"state of another":       &lifecycle.StateError{Name: "other", Op: "connect", State: lifecycle.Connecting},
		"state of another below": fmt.Errorf("below: %w", &lifecycle.StateError{Name: "other", Op: "connect"}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &backend{}
				m := newMachine(t, b)
				dials := 0
				s, serr := lifecycle.Supervise(t.Context(), m, lifecycle.DefaultSupervisorConfig(func(ctx context.Context) (*conn, error) {
					if dials++; dials < 3 {
						return nil, err
					}
					return b.dial(ctx)
				}))
				require.NoError(t, serr)
				require.NoError(t, m.WaitState(t.Context(), lifecycle.Connected))
				synctest.Wait()
				require.Equal(t, uint64(2), s.Stats().Failed)
				require.Equal(t, uint64(3), s.Stats().Dials)
				require.NoError(t, s.Stop(t.Context()))
				require.NoError(t, m.Close(t.Context()))
			})
		})
	}
}

// asks is an error that asks the machine, or exits, when its text is wanted.
type asks struct{ ask func() }

func (e asks) Error() string { e.ask(); return "asked" }

// G-LIF-3: the text of a stranger's error is made by whoever wants it: not under the lock of
// the machine, nor on its goroutines.
func TestMachineSurvivesTheTextsOfErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		exit := asks{runtime.Goexit}
		m := newMachine(t, b, func(c *lifecycle.Config[*conn]) {
			c.Close = func(ctx context.Context, c *conn) error { _ = b.close(ctx, c); return exit }
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() {
			failed <- m.Connect(ctx, func(ctx context.Context) (*conn, error) {
				<-ctx.Done()
				time.Sleep(time.Nanosecond)
				return nil, ctx.Err()
			})
		}()
		synctest.Wait()
		cancel(asks{func() { m.Stats() }})
		err := <-failed
		require.ErrorContains(t, err, `lifecycle "db": connect: asked`)

		require.NoError(t, m.Connect(t.Context(), b.dial))
		closed := make(chan error, 1)
		go func() { closed <- m.Close(context.Background()) }()
		synctest.Wait()
		require.Len(t, closed, 1)
		require.True(t, errors.As(<-closed, &asks{}))
		time.Sleep(time.Second) // the late dial
		require.Zero(t, m.Stats().Open())
		require.Zero(t, m.Stats().Background)
	})
}

// ctxPanics is a context whose code panics.
type ctxPanics struct{ context.Context }

func (ctxPanics) Value(any) any { panic("value") }

// G-REG-5: a context that panics harms nobody but who closed with it.
func TestRegistryCloseSurvivesItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		cfg := lifecycle.DefaultRegistryConfig("any", func(ctx context.Context, _ string) (*conn, error) { return b.dial(ctx) }, b.close)
		r, err := lifecycle.NewRegistry(cfg)
		require.NoError(t, err)
		l, err := r.Get(t.Context(), "key")
		require.NoError(t, err)
		done, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, r.Close(ctxPanics{done}))
		l.Release()
		synctest.Wait()
		_, open := b.counts()
		require.Zero(t, open)
	})
}

// ctxExits is a context that ends the goroutine that asks it why it is done.
type ctxExits struct{ context.Context }

func (ctxExits) Value(any) any { runtime.Goexit(); return nil }

// G-LIF-3: nor does a context that ends the goroutine of a Close leave the machine Closing.
func TestMachineCloseSurvivesItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, slow := &backend{}, make(chan struct{})
		m := newMachine(t, b, func(c *lifecycle.Config[*conn]) {
			c.Close = func(ctx context.Context, c *conn) error { <-slow; return b.close(ctx, c) }
		})
		require.NoError(t, m.Connect(t.Context(), b.dial))
		done, cancel := context.WithCancel(t.Context())
		cancel()
		go func() { _ = m.Close(ctxExits{done}) }()
		synctest.Wait()
		require.Equal(t, lifecycle.Disconnected, m.State())
		close(slow)
		require.NoError(t, m.Close(t.Context()))
		require.Zero(t, m.Stats().Open())
	})
}

// G-REG-4: a context that panics when it is asked why it is done takes no place of those who
// wait.
func TestRegistryCallerWhoPanicsWaitsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, slow := &backend{}, make(chan struct{})
		cfg := lifecycle.DefaultRegistryConfig("any", func(ctx context.Context, _ string) (*conn, error) { <-slow; return b.dial(ctx) }, b.close)
		r, err := lifecycle.NewRegistry(cfg)
		require.NoError(t, err)
		done, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Panics(t, func() { _, _ = r.Get(ctxPanics{done}, "key") })
		require.Zero(t, r.Stats().Waiting)
		close(slow)
		require.NoError(t, r.Close(t.Context()))
	})
}

// G-LIF-3, G-REG-5: a Draining function that goes on is waited for by the Close that has called
// it alone, for DrainTimeout: it is neither a Close function nor a dial, and no error.
func TestMachineCloseDoesNotWaitForTheDrainingOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		drains := func(c *lifecycle.Config[*conn]) { c.Draining = func(*conn) { <-hold } }
		m := newMachine(t, &backend{}, drains)
		require.NoError(t, m.Connect(t.Context(), (&backend{}).dial))
		start := time.Now()
		require.NoError(t, m.Close(t.Context()))
		require.Equal(t, 10*time.Second, time.Since(start))
		require.NoError(t, m.Close(t.Context()))
		require.Equal(t, 10*time.Second, time.Since(start))
		require.Equal(t, 1, m.Stats().Background)

		r := newRegistry(t, &shards{}, func(c *lifecycle.RegistryConfig[string, *conn]) { drains(&c.Machine) })
		l, err := r.Get(t.Context(), "a")
		require.NoError(t, err)
		start = time.Now()
		require.NoError(t, r.Discard(t.Context(), "a", l))
		require.Equal(t, 10*time.Second, time.Since(start))
		close(hold)
		synctest.Wait()
		require.Zero(t, m.Stats().Background+r.Stats().Background)
	})
}
