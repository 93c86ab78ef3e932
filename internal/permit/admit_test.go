package permit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/internal/permit"
)

// P8, P10.
func TestCoreStressPermitComesBackOnceFromMany(t *testing.T) {
	c := newCore(permit.Options{Limit: 2})
	other, err := c.Admit(t.Context(), 1)
	require.NoError(t, err)
	for range 200 {
		p, err := c.Admit(t.Context(), 1)
		require.NoError(t, err)
		hammer.Together(64, func(int) { p.Release() })
		require.Equal(t, 1, c.Stats().InUse, "the other permit is still out")
	}
	other.Release()
	require.Equal(t, uint64(201), c.Stats().Ended.Total())
	requireWhole(t, c)
}

// P8: two releases that run at the same time, not one after the other.
func TestCoreStressPermitComesBackOnceFromTwo(t *testing.T) {
	c := newCore(permit.Options{Limit: 2})
	other, err := c.Admit(t.Context(), 1)
	require.NoError(t, err)
	release, released := worker(t)
	for round := range 10_000 {
		p, err := c.Admit(t.Context(), 1)
		require.NoError(t, err)
		release <- p.Release
		spin(round % 61)
		p.Release()
		<-released
	}
	require.Equal(t, 1, c.Stats().InUse, "the other permit is still out")
	require.Equal(t, uint64(10_000), c.Stats().Ended.Total())
	other.Release()
	requireWhole(t, c)
}

// P8: every slot is used again and again while old copies of its permits are
// released.
func TestCoreStaleCopyDoesNothingAfterItsSlotWasReused(t *testing.T) {
	c := newCore(permit.Options{Limit: 1})
	var stale []spillway.Permit
	for range 4 * c.SlotCount() {
		p, err := c.Admit(t.Context(), 1)
		require.NoError(t, err)
		for _, old := range stale {
			old.Release()
			old.ReleaseAfter(1)
		}
		require.Equal(t, 1, c.Stats().InUse)
		p.Release()
		stale = append(stale, p)
	}
	requireWhole(t, c)
}

// P8: tokens that nobody was given do nothing either.
func TestCoreIgnoresForeignTokens(t *testing.T) {
	c := newCore(permit.Options{Limit: 1})
	_, err := c.Admit(t.Context(), 1)
	require.NoError(t, err)
	for _, token := range []uint64{0, 1, 63, 64, 1 << 31, 1<<32 | 1<<31, ^uint64(0)} {
		c.End(token, spillway.OutcomeOK, 0)
		c.End(token, spillway.OutcomeOK, 1)
	}
	require.Equal(t, 1, c.Stats().InUse)
	require.Zero(t, c.Stats().Ended.Total())
}

// A14.
func TestCoreFailedAdmitGivesThePermitThatDoesNothing(t *testing.T) {
	c := newCore(permit.Options{Limit: 1})
	p, err := c.Admit(t.Context(), 1)
	require.NoError(t, err)
	failed, err := c.Admit(t.Context(), 1)
	require.Error(t, err)
	require.Equal(t, spillway.Permit{}, failed)
	failed.Release()
	require.Equal(t, 1, c.Stats().InUse)
	p.Release()
	requireWhole(t, c)
}

// A18: more permits than the table had slots for.
func TestCoreSlotTableGrowsWithTheLimitAndWithWhatIsOut(t *testing.T) {
	const n = 20_000
	c := newCore(permit.Options{Limit: 1})
	before := c.SlotCount()
	require.NoError(t, c.SetLimit(n))
	raised := c.SlotCount()
	require.Greater(t, raised, before)
	permits := make([]spillway.Permit, n)
	hammer.Together(4, func(g int) {
		for i := g; i < n; i += 4 {
			permits[i], _ = c.Admit(t.Context(), 1)
		}
	})
	require.Equal(t, n, c.Stats().InUse)
	require.Greater(t, c.SlotCount(), raised)
	require.LessOrEqual(t, c.SlotCount(), 4*n)
	seen := make(map[spillway.Permit]bool, n)
	for _, p := range permits {
		seen[p] = true
		p.Release()
	}
	require.Len(t, seen, n, "no two permits are the same")
	requireWhole(t, c)
}

func TestCoreOwnedUseIsReleasedAsAPermit(t *testing.T) {
	c := newCore(permit.Options{Limit: 3})
	p := c.Own(enter(t, c, 3))
	p.ReleaseWith(spillway.OutcomeOverload)
	p.ReleaseWith(spillway.OutcomeOK)
	require.Equal(t, uint64(1), c.Stats().Ended.Of(spillway.OutcomeOverload))
	require.Equal(t, uint64(1), c.Stats().Ended.Total())
	requireWhole(t, c)
}
