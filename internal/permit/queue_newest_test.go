//go:build go1.25

package permit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// B19: in whatever moment a permit comes back, it is the newest's: also when that is the
// moment in which the oldest has waited for too long.
func TestQueueNewestIsServedFirstEvenWhenTheOldestsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{MaxWait: 50 * time.Millisecond, Newest: true})
		p, err := c.Admit(t.Context(), 1)
		require.NoError(t, err)
		p.ReleaseAfter(50 * time.Millisecond)
		oldest := wait(c, 1, 9)
		time.Sleep(10 * time.Millisecond)
		newest := wait(c, 1, 9)
		time.Sleep(40 * time.Millisecond)
		newest.requireAdmitted(t)
		oldest.requireRefused(t, spillway.ReasonMaxWait)
		newest.leave()
		requireWhole(t, c)
	})
}

// Newest: in the first 100 ms of a queue everybody may wait that long, and then 5 ms.
func TestQueueNewestShedsWhoWaitsInAStandingQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{MaxWait: time.Hour, Newest: true})
		u := enter(t, c, 1)
		first := wait(c, 1, 9)
		time.Sleep(97 * time.Millisecond)
		second := wait(c, 1, 9)
		time.Sleep(2 * time.Millisecond)
		first.requireWaiting(t)
		time.Sleep(time.Millisecond)
		r := first.requireRefused(t, spillway.ReasonDropped)
		require.InDelta(t, 100*time.Millisecond, r.Wait, 2)
		third := wait(c, 1, 9)
		time.Sleep(2 * time.Millisecond)
		require.InDelta(t, 5*time.Millisecond, second.requireRefused(t, spillway.ReasonDropped).Wait, 2)
		third.requireWaiting(t)
		time.Sleep(3 * time.Millisecond)
		require.InDelta(t, 5*time.Millisecond, third.requireRefused(t, spillway.ReasonDropped).Wait, 2)
		require.False(t, c.Armed())

		fourth := wait(c, 1, 9) // the queue was empty: it is a new one
		time.Sleep(99 * time.Millisecond)
		fourth.requireWaiting(t)
		c.Leave(u, spillway.OutcomeOK)
		fourth.requireAdmitted(t)
		fourth.leave()
		requireWhole(t, c)
	})
}

// The newest is next, so it is served at once if there is room for it, however many older
// ones wait for more.
func TestQueueNewestThatFitsDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 3, MaxWait: time.Hour, Newest: true})
		u := enter(t, c, 2)
		heavy := wait(c, 2, 9)
		light := wait(c, 1, 9)
		light.requireAdmitted(t)
		heavy.requireWaiting(t)
		light.leave()
		c.Leave(u, spillway.OutcomeOK)
		heavy.requireAdmitted(t)
		heavy.leave()
		requireWhole(t, c)
	})
}
