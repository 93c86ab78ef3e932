//go:build go1.25

package lifecycle_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

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
