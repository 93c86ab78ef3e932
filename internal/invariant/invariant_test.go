package invariant_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/internal/invariant"
)

func TestCheckPanicsWhereInvariantsAreCheckedAndNowhereElse(t *testing.T) {
	broken := func() { invariant.Check(false, "%d of %d", 3, 2) }
	if invariant.Enabled {
		require.PanicsWithValue(t, "bug: 3 of 2", broken)
	} else {
		require.NotPanics(t, broken)
	}
	require.NotPanics(t, func() { invariant.Check(true, "fine") })
}
