//go:build go1.25

package permit_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// R16.
func TestQueueLoweredLimitSendsAwayWhoIsTooHeavyWhereverItStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 8})
		u := enter(t, c, 8)
		first, heavy, third, heavier := wait(c, 2, 9), wait(c, 5, 9), wait(c, 1, 9), wait(c, 8, 9)
		require.NoError(t, c.SetLimit(4))
		for _, w := range []*waiter{heavy, heavier} {
			require.Equal(t, 4, w.requireRefused(t, spillway.ReasonLimitShrunk).Limit)
		}
		first.requireWaiting(t)
		third.requireWaiting(t)
		require.Equal(t, 2, c.Stats().Waiting)
		c.Leave(u, spillway.OutcomeOK)
		first.requireAdmitted(t)
		third.requireAdmitted(t)
		first.leave()
		third.leave()
		requireWhole(t, c)
	})
}

// R16, B5: the heavy head goes, and those behind it fit.
func TestQueueLoweredLimitLetsInWhomTheHeadHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 8})
		enter(t, c, 1)
		heavy, small := wait(c, 8, 9), wait(c, 1, 9)
		small.requireWaiting(t)
		require.NoError(t, c.SetLimit(4))
		heavy.requireRefused(t, spillway.ReasonLimitShrunk)
		small.requireAdmitted(t)
	})
}

func TestQueueRefuseAllSendsEverybodyAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		u := enter(t, c, 1)
		a, b := wait(c, 1, 9), wait(c, 1, 9)
		require.NoError(t, c.SetMode(spillway.RefuseAll))
		a.requireRefused(t, spillway.ReasonRefuseAll)
		b.requireRefused(t, spillway.ReasonRefuseAll)
		require.NoError(t, c.SetMode(spillway.Enforce))
		c.Leave(u, spillway.OutcomeOK)
		requireWhole(t, c)
	})
}

func TestQueueOffAdmitsEverybodyUncounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		u := enter(t, c, 1)
		a, b := wait(c, 1, 9), wait(c, 1, 9)
		require.NoError(t, c.SetMode(spillway.Off))
		a.requireAdmitted(t)
		b.requireAdmitted(t)
		require.Equal(t, 1, c.Stats().InUse)
		a.leave()
		b.leave()
		c.Leave(u, spillway.OutcomeOK)
		require.NoError(t, c.SetMode(spillway.Enforce))
		requireWhole(t, c)
	})
}

// B-14.
func TestQueueShadowAdmitsEverybodyCountedAsOverTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 3})
		u := enter(t, c, 3)
		a, b := wait(c, 1, 9), wait(c, 2, 9)
		require.NoError(t, c.SetMode(spillway.Shadow))
		a.requireAdmitted(t)
		b.requireAdmitted(t)
		require.Equal(t, 6, c.Stats().InUse)
		require.Equal(t, uint64(2), c.Stats().WouldRefuse)
		a.leave()
		b.leave()
		c.Leave(u, spillway.OutcomeOK)
		require.NoError(t, c.SetMode(spillway.Enforce))
		requireWhole(t, c)
	})
}

// A18, F19.
func TestQueueShadowAdmitsTheHeaviestWithoutRunningOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: permit.MaxLimit})
		u := enter(t, c, permit.MaxLimit)
		var waiters []*waiter
		for range 6 {
			waiters = append(waiters, wait(c, permit.MaxLimit, 9))
		}
		require.NoError(t, c.SetMode(spillway.Shadow))
		require.Equal(t, permit.UseMask, c.Stats().InUse)
		require.Equal(t, permit.MaxLimit, c.Limit())
		require.Equal(t, spillway.Shadow, c.Mode())
		for _, w := range waiters {
			w.requireAdmitted(t)
			w.leave()
		}
		c.Leave(u, spillway.OutcomeOK)
		require.NoError(t, c.SetMode(spillway.Enforce))
		requireWhole(t, c)
	})
}

// R17, L-25, P9.
func TestQueueCloseSendsEverybodyAwayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		u := enter(t, c, 1)
		var waiters []*waiter
		for range 100 {
			waiters = append(waiters, wait(c, 1, 100))
		}
		closed := make(chan error, 1)
		go func() { closed <- c.Close(context.Background()) }()
		synctest.Wait()
		for _, w := range waiters {
			require.True(t, w.done())
			require.Equal(t, &spillway.ClosedError{Component: "core", Name: "test"}, w.err)
		}
		require.Empty(t, closed, "one permit is out")
		c.Leave(u, spillway.OutcomeOK)
		require.NoError(t, <-closed)
		require.Equal(t, uint64(100), c.Stats().AfterClose)
		requireWhole(t, c)
	})
}

// deaf is a context that can be done although nobody hears of it, as if the
// scheduler had always let the grant be heard first.
type deaf struct {
	context.Context
	err atomic.Pointer[error]
}

func (d *deaf) Done() <-chan struct{} { return nil }

func (d *deaf) Err() error {
	if err := d.err.Load(); err != nil {
		return *err
	}
	return nil
}

// A waiter that is cancelled and granted in one instant, whichever it hears of
// first, gets the cause and leaves the permit to the next. G-LIM-5, for who waits.
func TestQueueDoneContextAdmitsNothingEvenIfItWasGranted(t *testing.T) {
	for _, mode := range []spillway.Mode{spillway.Enforce, spillway.Off} {
		synctest.Test(t, func(t *testing.T) {
			c := newCore(permit.Options{})
			u := enter(t, c, 1)
			ctx := &deaf{Context: context.Background()}
			answer := make(chan error, 1)
			go func() {
				_, err := c.Wait(ctx, 1, 9)
				answer <- err
			}()
			synctest.Wait()
			next := wait(c, 1, 9)
			ctx.err.Store(&errGone)
			require.NoError(t, c.SetMode(mode))
			c.Leave(u, spillway.OutcomeOK)
			require.ErrorIs(t, <-answer, errGone)
			next.requireAdmitted(t)
			next.leave()
			require.Equal(t, uint64(1), c.Stats().Canceled)
			require.NoError(t, c.SetMode(spillway.Enforce))
			requireWhole(t, c)
		})
	}
}

// A21: what is left of a wait's context after the grant is the operation's affair.
func TestQueueCancelAfterTheGrantChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		u := enter(t, c, 1)
		w := wait(c, 1, 9)
		c.Leave(u, spillway.OutcomeOK)
		w.requireAdmitted(t)
		w.cancel(errGone)
		synctest.Wait()
		require.Equal(t, 1, c.Stats().InUse)
		w.leave()
		requireWhole(t, c)
	})
}
