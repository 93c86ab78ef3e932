package permit_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// A5.
func TestCoreOfOneAdmitsOneAndNoMore(t *testing.T) {
	c := newCore(permit.Options{Limit: 1, RetryAfter: 7})
	u := enter(t, c, 1)
	_, err := c.Enter(t.Context(), 1)
	require.Equal(t, &spillway.Rejection{
		Component: "core", Name: "test", Reason: spillway.ReasonLimit, Limit: 1, RetryAfter: 7,
	}, err)
	c.Leave(u, spillway.OutcomeOK)
	requireWhole(t, c)
}

// A20, B-13.
func TestCoreTakesAllPermitsOfAWeightOrNone(t *testing.T) {
	c := newCore(permit.Options{Limit: 10})
	u := enter(t, c, 7)
	require.Equal(t, 7, c.Stats().InUse)
	_, err := c.Enter(t.Context(), 4)
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.Equal(t, 7, c.Stats().InUse)
	v := enter(t, c, 3)
	c.Leave(u, spillway.OutcomeOK)
	require.Equal(t, 3, c.Stats().InUse)
	c.Leave(v, spillway.OutcomeOK)
	requireWhole(t, c)
}

// P9, B-13.
func TestCoreRefusesImpossibleWeights(t *testing.T) {
	for _, weight := range []int{0, -1, math.MinInt, 11, permit.MaxLimit, permit.MaxLimit + 1, math.MaxInt32, math.MaxInt} {
		c := newCore(permit.Options{Limit: 10})
		_, err := c.Enter(t.Context(), weight)
		require.Equal(t, &spillway.WeightError{Component: "core", Name: "test", Weight: weight, Limit: 10}, err)
		_, err = c.Wait(t.Context(), weight, 5)
		require.Equal(t, &spillway.WeightError{Component: "core", Name: "test", Weight: weight, Limit: 10}, err)
		require.Equal(t, uint64(2), c.Stats().Invalid)
		requireWhole(t, c)
	}
}

// P9: a core with nothing left judges weights as one with all.
func TestCoreRefusesImpossibleWeightsWhenFullToo(t *testing.T) {
	c := newCore(permit.Options{Limit: 2})
	enter(t, c, 2)
	for _, weight := range []int{0, -1, 3, math.MaxInt} {
		_, err := c.Enter(t.Context(), weight)
		require.IsType(t, &spillway.WeightError{}, err)
	}
	require.Equal(t, 2, c.Stats().InUse)
}

// A18.
func TestCoreOfTheHighestLimitIsExactAtItsEnd(t *testing.T) {
	c := newCore(permit.Options{Limit: permit.MaxLimit})
	u := enter(t, c, permit.MaxLimit-1)
	v := enter(t, c, 1)
	_, err := c.Enter(t.Context(), 1)
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.Equal(t, permit.MaxLimit, c.Stats().InUse)
	require.Equal(t, permit.MaxLimit, c.Limit())
	c.Leave(u, spillway.OutcomeOK)
	c.Leave(v, spillway.OutcomeOK)
	requireWhole(t, c)
}

// B7, P11, C16.
func TestCoreAdmitsNothingForADoneContext(t *testing.T) {
	cause := errors.New("the caller has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for name, admit := range map[string]func(*permit.Core) error{
		"Enter": func(c *permit.Core) error { _, err := c.Enter(ctx, 1); return err },
		"Wait":  func(c *permit.Core) error { _, err := c.Wait(ctx, 1, 10); return err },
		"Admit": func(c *permit.Core) error { _, err := c.Admit(ctx, 1); return err },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCore(permit.Options{Limit: 10})
			for range 1000 {
				require.Equal(t, cause, admit(c))
			}
			st := c.Stats()
			require.Zero(t, st.Admitted)
			require.Equal(t, uint64(1000), st.Canceled)
		})
	}
}

// R19.
func TestCoreCountsHowCallsEnd(t *testing.T) {
	c := newCore(permit.Options{Limit: 10})
	c.Leave(enter(t, c, 1), spillway.OutcomeOK)
	c.Leave(enter(t, c, 2), spillway.OutcomeTimeout)
	c.Abort(enter(t, c, 3))
	st := c.Stats()
	require.Equal(t, uint64(3), st.Admitted)
	require.Equal(t, uint64(1), st.Ended.Of(spillway.OutcomeOK))
	require.Equal(t, uint64(1), st.Ended.Of(spillway.OutcomeTimeout))
	require.Equal(t, uint64(1), st.Aborted)
	requireWhole(t, c)
}

// An error may claim an outcome that doesn't exist; the permit must come back.
func TestCoreCountsOutcomesThatDoNotExistAsUnknown(t *testing.T) {
	c := newCore(permit.Options{Limit: 1})
	c.Leave(enter(t, c, 1), spillway.Outcome(200))
	p, err := c.Admit(t.Context(), 1)
	require.NoError(t, err)
	p.ReleaseWith(spillway.Outcome(255))
	require.Equal(t, uint64(2), c.Stats().Ended.Of(spillway.OutcomeUnknown))
	requireWhole(t, c)
}

// R16.
func TestCoreLoweredLimitTakesNothingAwayAndAdmitsNobodyUntilThereIsRoom(t *testing.T) {
	c := newCore(permit.Options{Limit: 4})
	var uses []permit.Use
	for range 4 {
		uses = append(uses, enter(t, c, 1))
	}
	require.NoError(t, c.SetLimit(2))
	require.Equal(t, 4, c.Stats().InUse)
	for _, u := range uses[:2] {
		_, err := c.Enter(t.Context(), 1)
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		c.Leave(u, spillway.OutcomeOK)
	}
	_, err := c.Enter(t.Context(), 1)
	require.ErrorIs(t, err, spillway.ErrBackpressure, "two of two are in use")
	c.Leave(uses[2], spillway.OutcomeOK)
	u := enter(t, c, 1)
	c.Leave(u, spillway.OutcomeOK)
	c.Leave(uses[3], spillway.OutcomeOK)
	requireWhole(t, c)
}

// R16.
func TestCoreRaisedLimitAdmitsTheNextCall(t *testing.T) {
	c := newCore(permit.Options{Limit: 1})
	enter(t, c, 1)
	require.NoError(t, c.SetLimit(3))
	enter(t, c, 2)
	_, err := c.Enter(t.Context(), 1)
	require.ErrorIs(t, err, spillway.ErrBackpressure)
}

// L-22, A18.
func TestCoreRefusesALimitThatItCannotKeep(t *testing.T) {
	for _, limit := range []int{0, -1, math.MinInt, permit.MaxLimit + 1, math.MaxInt} {
		c := newCore(permit.Options{Limit: 3})
		err := c.SetLimit(limit)
		var config *spillway.ConfigError
		require.ErrorAs(t, err, &config)
		require.Equal(t, "Limit", config.Faults[0].Field)
		require.Equal(t, limit, config.Faults[0].Value)
		require.Equal(t, 3, c.Limit())
	}
}

// B-04.
func TestCoreRefusesWithTheLimitOfTheMoment(t *testing.T) {
	c := newCore(permit.Options{Limit: 1})
	enter(t, c, 1)
	require.NoError(t, c.SetLimit(5))
	enter(t, c, 4)
	_, err := c.Enter(t.Context(), 1)
	var r *spillway.Rejection
	require.ErrorAs(t, err, &r)
	require.Equal(t, 5, r.Limit)
}

// R22.
func TestCoreTellsNestedCallsIfAsked(t *testing.T) {
	for _, limit := range []int{1, 2} {
		c := newCore(permit.Options{Limit: limit, Nested: true})
		u := enter(t, c, 1)
		inside := c.Inside(t.Context())
		_, err := c.Enter(inside, 1)
		require.Equal(t, &spillway.NestedError{Component: "core", Name: "test"}, err)
		_, err = c.Wait(inside, 1, 5)
		require.IsType(t, &spillway.NestedError{}, err)
		_, err = newCore(permit.Options{Nested: true}).Enter(inside, 1)
		require.NoError(t, err, "another core's call is not nested")
		c.Leave(u, spillway.OutcomeOK)
		require.Equal(t, uint64(2), c.Stats().Invalid)
		requireWhole(t, c)
	}
}

// R22.
func TestCoreLeavesTheContextAloneUnlessNestedCallsAreDetected(t *testing.T) {
	c := newCore(permit.Options{Limit: 2})
	require.Equal(t, t.Context(), c.Inside(t.Context()))
}
