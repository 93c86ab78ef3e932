package permit_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// B-14.
func TestCoreShadowAdmitsAllAndCountsWhatItWouldRefuse(t *testing.T) {
	c := newCore(permit.Options{Limit: 2, Mode: spillway.Shadow})
	var uses []permit.Use
	for _, weight := range []int{1, 1, 1, 5, 0, -3} {
		uses = append(uses, enter(t, c, weight))
	}
	st := c.Stats()
	require.Equal(t, 8, st.InUse)
	require.Equal(t, uint64(4), st.WouldRefuse)
	require.Equal(t, uint64(6), st.Admitted)
	require.Zero(t, st.Refused.Total())
	for _, u := range uses {
		c.Leave(u, spillway.OutcomeOK)
	}
	requireWhole(t, c)
}

// A18.
func TestCoreShadowSaturatesAndComesBackExactly(t *testing.T) {
	c := newCore(permit.Options{Limit: permit.MaxLimit, Mode: spillway.Shadow})
	var uses []permit.Use
	var permits []spillway.Permit
	for _, weight := range []int{math.MaxInt, permit.MaxLimit, math.MaxInt, permit.MaxLimit, permit.MaxLimit, 1} {
		uses = append(uses, enter(t, c, weight))
		p, err := c.Admit(t.Context(), weight)
		require.NoError(t, err)
		permits = append(permits, p)
	}
	require.Equal(t, permit.UseMask, c.Stats().InUse)
	require.Equal(t, permit.MaxLimit, c.Limit(), "the use did not run over into the limit")
	for i := range uses {
		c.Leave(uses[i], spillway.OutcomeOK)
		permits[i].Release()
		permits[i].Release()
	}
	require.NoError(t, c.SetMode(spillway.Enforce))
	requireWhole(t, c)
}

// R32.
func TestCoreOffCountsNothing(t *testing.T) {
	c := newCore(permit.Options{Limit: 1, Mode: spillway.Off})
	for range 5 {
		u := enter(t, c, 1)
		defer c.Leave(u, spillway.OutcomeOK)
		p, err := c.Admit(t.Context(), 1)
		require.NoError(t, err)
		require.Equal(t, spillway.Permit{}, p)
		c.Abort(enter(t, c, math.MinInt))
	}
	require.Equal(t, permit.Stats{Name: "test", Mode: spillway.Off, Limit: 1}, c.Stats())
}

func TestCoreRefuseAllRefusesWithFreePermits(t *testing.T) {
	c := newCore(permit.Options{Limit: 5, Mode: spillway.RefuseAll})
	for _, admit := range []func() (permit.Use, error){
		func() (permit.Use, error) { return c.Enter(t.Context(), 1) },
		func() (permit.Use, error) { return c.Wait(t.Context(), 1, 5) },
	} {
		_, err := admit()
		var r *spillway.Rejection
		require.ErrorAs(t, err, &r)
		require.Equal(t, spillway.ReasonRefuseAll, r.Reason)
	}
	require.Equal(t, uint64(2), c.Stats().Refused.Of(spillway.ReasonRefuseAll))
}

// R32: who was counted is counted back, and who wasn't is not, whatever the mode
// is by then.
func TestCoreModeChangesKeepTheCountExact(t *testing.T) {
	modes := []spillway.Mode{spillway.Enforce, spillway.Off, spillway.Enforce, spillway.Shadow, spillway.RefuseAll, spillway.Off, spillway.Shadow, spillway.Enforce}
	c := newCore(permit.Options{Limit: 2})
	var uses []permit.Use
	var permits []spillway.Permit
	for _, m := range modes {
		require.NoError(t, c.SetMode(m))
		require.Equal(t, m, c.Mode())
		if u, err := c.Enter(t.Context(), 1); err == nil {
			uses = append(uses, u)
		}
		if p, err := c.Admit(t.Context(), 1); err == nil {
			permits = append(permits, p)
		}
	}
	require.Equal(t, 6, c.Stats().InUse, "two by Enforce, four by Shadow")
	require.Len(t, uses, 5)
	for i := range modes {
		require.NoError(t, c.SetMode(modes[len(modes)-1-i]))
		if i < len(uses) {
			c.Leave(uses[i], spillway.OutcomeOK)
		}
		if i < len(permits) {
			permits[i].Release()
		}
	}
	require.Equal(t, uint64(6), c.Stats().Admitted)
	requireWhole(t, c)
}

func TestCoreRefusesAnUnknownMode(t *testing.T) {
	c := newCore(permit.Options{Mode: spillway.Shadow})
	var config *spillway.ConfigError
	require.ErrorAs(t, c.SetMode(spillway.Mode(4)), &config)
	require.Equal(t, "Mode", config.Faults[0].Field)
	require.Equal(t, spillway.Shadow, c.Mode())
}
