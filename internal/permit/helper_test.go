package permit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// newCore returns a core of component "core" named "test", with a limit of one if
// opts has none.
func newCore(opts permit.Options) *permit.Core {
	opts.Component, opts.Name = "core", "test"
	opts.Limit = max(opts.Limit, 1)
	return permit.New(opts)
}

// enter takes n permits, which must be there.
func enter(t testing.TB, c *permit.Core, n int) permit.Use {
	t.Helper()
	u, err := c.Enter(t.Context(), n)
	require.NoError(t, err)
	return u
}

// requireWhole fails unless all permits are back, in the word and in the counts,
// and can be had again.
func requireWhole(t testing.TB, c *permit.Core) {
	t.Helper()
	st := c.Stats()
	require.Zero(t, st.InUse, "permits in use")
	require.Zero(t, st.Waiting, "callers waiting")
	require.Equal(t, st.Admitted, st.Ended.Total()+st.Aborted, "calls admitted and ended")
	require.Empty(t, c.Bits(), "bits in the word")
	if st.Closed || st.Mode != spillway.Enforce {
		return
	}
	u := enter(t, c, st.Limit)
	_, err := c.Enter(t.Context(), 1)
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	c.Leave(u, spillway.OutcomeOK)
}
