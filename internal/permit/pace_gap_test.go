//go:build go1.25

package permit_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// G-LIM-8: a call counts as under way until it is known when it came back, whichever way
// it came in and however long ago the gap was asked for. The lock is held as if whoever
// gave the last permit back had been stopped on the way to it.
func TestPaceLetsNobodyInBetweenAReleaseAndItsGap(t *testing.T) {
	for name, begin := range map[string]func(c *permit.Core) []permit.Use{
		"before the pace": func(c *permit.Core) []permit.Use {
			uses := []permit.Use{enter(t, c, 1), enter(t, c, 1)}
			require.NoError(t, c.SetPace(1))
			return uses
		},
		"before a pace that is changed": func(c *permit.Core) []permit.Use {
			uses := []permit.Use{enter(t, c, 1), enter(t, c, 1)}
			require.NoError(t, c.SetPace(time.Hour))
			require.NoError(t, c.SetPace(1))
			return uses
		},
		"in mode Shadow": func(c *permit.Core) []permit.Use {
			require.NoError(t, c.SetPace(1))
			require.NoError(t, c.SetMode(spillway.Shadow))
			uses := []permit.Use{enter(t, c, 1), enter(t, c, 1)}
			require.NoError(t, c.SetMode(spillway.Enforce))
			return uses
		},
		"in its turn": func(c *permit.Core) []permit.Use {
			require.NoError(t, c.SetPace(1))
			for {
				if u, err := c.Enter(context.Background(), 1); err == nil {
					return []permit.Use{u}
				}
			}
		},
		"from the queue": func(c *permit.Core) []permit.Use {
			require.NoError(t, c.SetPace(time.Millisecond))
			u, err := c.Wait(context.Background(), 1, 1)
			require.NoError(t, err)
			require.NoError(t, c.SetPace(1))
			return []permit.Use{u}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCore(permit.Options{Limit: 4})
			uses := begin(c)
			last := uses[len(uses)-1]
			for _, u := range uses[:len(uses)-1] {
				c.Leave(u, spillway.OutcomeOK)
			}
			left := make(chan struct{})
			c.Alone(func() {
				go func() { c.Leave(last, spillway.OutcomeOK); close(left) }()
				for c.InUse() > 0 {
					spin(10)
				}
				require.False(t, c.Due(), "or the next line waits for the lock")
				refusedFor(t, c, spillway.ReasonPaced)
			})
			<-left
			require.NoError(t, c.SetPace(0))
			requireWhole(t, c)
		})
	}
}

// G-LIM-8: a mode that paces nobody leaves no debt: with Enforce a gap begins.
func TestPaceBeginsAnewWithEnforce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPaced(t, permit.Options{Limit: 4})
		require.NoError(t, c.SetMode(spillway.Off))
		c.Leave(enter(t, c, 1), spillway.OutcomeOK)
		require.NoError(t, c.SetMode(spillway.Enforce))
		refusedFor(t, c, spillway.ReasonPaced)
		time.Sleep(gap / 2)
		require.NoError(t, c.SetMode(spillway.Enforce)) // which it is
		time.Sleep(gap / 2)
		c.Leave(enter(t, c, 1), spillway.OutcomeOK)
	})
}

// G-LIM-8: a gap that the clock can't count can be taken back, with what has passed of it.
func TestPaceForEverCanBeTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 4, MaxWait: 100 * time.Hour})
		require.NoError(t, c.SetPace(math.MaxInt64))
		w := wait(c, 1, 1)
		time.Sleep(24 * time.Hour)
		w.requireWaiting(t)
		require.NoError(t, c.SetPace(25*time.Hour))
		w.requireWaiting(t)
		time.Sleep(time.Hour)
		w.requireAdmitted(t)
		w.leave()
		require.NoError(t, c.SetPace(math.MaxInt64))
		time.Sleep(gap)
		require.NoError(t, c.SetPace(gap))
		c.Leave(enter(t, c, 1), spillway.OutcomeOK)
		require.NoError(t, c.SetPace(0))
		requireWhole(t, c)
	})
}
