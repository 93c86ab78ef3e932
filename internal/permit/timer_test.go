//go:build go1.25

package permit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// G-LAN-4: when the last one who waited has gone, however, no timer is left.
func TestCoreTimerGoesWithWhoWaited(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *permit.Core, permit.Use, *waiter){
		"gives up": func(t *testing.T, c *permit.Core, u permit.Use, w *waiter) {
			w.abandon(t)
			require.False(t, c.Armed())
			c.Leave(u, spillway.OutcomeOK)
		},
		"is admitted": func(t *testing.T, c *permit.Core, u permit.Use, w *waiter) {
			c.Leave(u, spillway.OutcomeOK)
			w.requireAdmitted(t)
			require.False(t, c.Armed())
			w.leave()
		},
		"is too late": func(t *testing.T, c *permit.Core, u permit.Use, w *waiter) {
			time.Sleep(time.Hour)
			w.requireRefused(t, spillway.ReasonMaxWait)
			require.False(t, c.Armed())
			c.Leave(u, spillway.OutcomeOK)
		},
		"is sent away": func(t *testing.T, c *permit.Core, u permit.Use, w *waiter) {
			require.NoError(t, c.SetMode(spillway.RefuseAll))
			w.requireRefused(t, spillway.ReasonRefuseAll)
			require.False(t, c.Armed())
			c.Leave(u, spillway.OutcomeOK)
		},
		"finds it closed": func(t *testing.T, c *permit.Core, u permit.Use, w *waiter) {
			c.Shut()
			require.True(t, w.done())
			require.False(t, c.Armed())
			c.Leave(u, spillway.OutcomeOK)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCore(permit.Options{MaxWait: time.Hour})
				u := enter(t, c, 1)
				w := wait(c, 1, 1)
				require.True(t, c.Armed())
				end(t, c, u, w)
				requireWhole(t, c)
			})
		})
	}
}

// A change of the limit doesn't take the hint from the refusals that follow.
func TestCoreHintOutlivesAChangeOfTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{MaxWait: time.Hour, Room: 1})
		u := enter(t, c, 1)
		for range 60 {
			w := wait(c, 1, 1)
			time.Sleep(10 * time.Millisecond)
			c.Leave(u, spillway.OutcomeOK)
			w.requireAdmitted(t)
			u = w.use
		}
		wait(c, 1, 1)
		before := wait(c, 1, 1).requireRefused(t, spillway.ReasonQueueFull).RetryAfter
		require.Positive(t, before)
		require.NoError(t, c.SetLimit(1))
		require.Equal(t, before, wait(c, 1, 1).requireRefused(t, spillway.ReasonQueueFull).RetryAfter)
		require.NoError(t, c.SetMode(spillway.Off))
		synctest.Wait()
	})
}

// A sampled call that panics has held its permit like any other.
func TestCoreMeasuresAbortedCalls(t *testing.T) {
	c := newCore(permit.Options{Sample: 1})
	require.Panics(t, func() {
		_, _ = permit.Do(t.Context(), c, 1, func(context.Context) (int, error) { panic("op") })
	})
	require.EqualValues(t, 1, c.Stats().Aborted)
	require.EqualValues(t, 1, c.Stats().Hold.Count)
}
