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

// G-LIM-9, R15: a call heavier than the limit runs alone, and counts as the whole limit.
func TestMaxWeightLetsAHeavyCallRunAlone(t *testing.T) {
	c := newCore(permit.Options{Limit: 3})
	_, err := c.Enter(t.Context(), 10)
	var w *spillway.WeightError
	require.ErrorAs(t, err, &w)
	require.NoError(t, c.SetMaxWeight(10))
	light := enter(t, c, 1)
	refusedWith(t, c, 10, spillway.ReasonLimit)
	c.Leave(light, spillway.OutcomeOK)
	heavy := enter(t, c, 10)
	require.Equal(t, 3, c.Stats().InUse)
	refusedWith(t, c, 1, spillway.ReasonLimit)
	c.Leave(heavy, spillway.OutcomeOK)
	p, err := c.Admit(t.Context(), 10)
	require.NoError(t, err)
	require.NoError(t, c.SetLimit(5))
	require.Equal(t, 3, c.Stats().InUse, "what was taken, not what it would take now")
	p.Release()
	requireWhole(t, c)
	for _, n := range []int{11, 0, -1} {
		_, err = c.Enter(t.Context(), n)
		require.ErrorAs(t, err, &w)
		require.Equal(t, 10, w.Limit, "what it may be")
	}
	require.ErrorContains(t, c.SetMaxWeight(-1), "MaxWeight is -1")
}

// G-LIM-9: a waiter that the limit falls below stays, and is served alone; one beyond the
// highest weight is sent away.
func TestMaxWeightKeepsAHeavyWaiterThatTheLimitFellBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 8, MaxWait: time.Minute})
		require.NoError(t, c.SetMaxWeight(6))
		u := enter(t, c, 8)
		heavy, light := wait(c, 6, 5), wait(c, 1, 5)
		require.NoError(t, c.SetLimit(2))
		heavy.requireWaiting(t)
		require.Equal(t, 3, c.Stats().WaitWeight, "what they will take")
		c.Leave(u, spillway.OutcomeOK)
		heavy.requireAdmitted(t)
		light.requireWaiting(t)
		require.Equal(t, 2, c.Stats().InUse)
		require.Equal(t, 1, c.Stats().WaitWeight)
		late := wait(c, 6, 5)
		require.NoError(t, c.SetMaxWeight(3))
		late.requireRefused(t, spillway.ReasonLimitShrunk)
		heavy.leave()
		light.requireAdmitted(t)
		light.leave()
		requireWhole(t, c)
	})
}

// G-LIM-9: who waits for more than the limit stays if that is raised before the highest
// weight is taken back, or lowered after it was allowed; each step is right by itself.
func TestMaxWeightChangesWithTheLimitInSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 32, MaxWait: time.Minute})
		u := enter(t, c, 1)
		heavy, light := wait(c, 32, 5), wait(c, 8, 5)
		require.NoError(t, c.SetMaxWeight(64))
		require.NoError(t, c.SetLimit(4))
		require.Equal(t, 8, c.Stats().WaitWeight)
		require.NoError(t, c.SetLimit(32))
		require.NoError(t, c.SetMaxWeight(0))
		heavy.requireWaiting(t)
		require.Equal(t, 40, c.Stats().WaitWeight, "what they will take now")
		c.Leave(u, spillway.OutcomeOK)
		heavy.requireAdmitted(t)
		heavy.leave()
		light.requireAdmitted(t)
		light.leave()
		requireWhole(t, c)
	})
}

// G-LIM-9: a paced core, whose limit is one, lets a wide batch through all the same.
func TestMaxWeightGoesWithAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPaced(t, permit.Options{MaxWait: time.Minute})
		require.NoError(t, c.SetMaxWeight(100))
		u := enter(t, c, 100)
		w := wait(c, 50, 1)
		c.Leave(u, spillway.OutcomeOK)
		w.requireWaiting(t)
		time.Sleep(gap)
		w.requireAdmitted(t)
		w.leave()
	})
}
