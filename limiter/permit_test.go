package limiter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/limiter"
)

// R9, P8, P10: G-LIM-4.
func TestLimiterStressPermitComesBackOnce(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 3})
	other := admit(t, l, 1)
	for range 50 {
		p := admit(t, l, 2)
		hammer.Together(64, func(i int) {
			switch i % 3 {
			case 0:
				p.Release()
			case 1:
				p.ReleaseWith(spillway.OutcomeTimeout)
			case 2:
				p.ReleaseAfter(-1)
			}
		})
		require.Equal(t, 1, l.Stats().InUse, "the other one is still out")
	}
	require.Equal(t, uint64(50), l.Stats().Ended.Total())
	other.Release()
	requireWhole(t, l)
}

// P8.
func TestLimiterDoubleReportFreesNobodyElsesPermit(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 2})
	a, b := admit(t, l, 1), admit(t, l, 1)
	a.Release()
	a.Release()
	_, err := l.AdmitN(t.Context(), 2)
	require.ErrorIs(t, err, spillway.ErrBackpressure, "b holds the other one")
	b.Release()
	requireWhole(t, l)
}

// R9.
func TestLimiterPermitMovesToAnotherGoroutine(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 2})
	handed := make(chan spillway.Permit, 1)
	handed <- admit(t, l, 2)
	hammer.Together(1, func(int) {
		p := <-handed
		p.ReleaseWith(spillway.OutcomeNetwork)
	})
	require.Equal(t, uint64(1), l.Stats().Ended.Of(spillway.OutcomeNetwork))
	requireWhole(t, l)
}

// A14.
func TestLimiterFailedAdmitGivesThePermitThatDoesNothing(t *testing.T) {
	l := newLimiter(t, limiter.Config{})
	p := admit(t, l, 1)
	failed, err := l.Admit(t.Context())
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.Equal(t, spillway.Permit{}, failed)
	failed.Release()
	failed.ReleaseAfter(1)
	require.Equal(t, 1, l.Stats().InUse)
	p.Release()
	requireWhole(t, l)
}

// R17: G-LIM-4.
func TestLimiterPermitOutlivesCloseAndResize(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 9})
	p := admit(t, l, 9)
	require.NoError(t, l.SetLimit(1))
	require.NoError(t, l.SetMode(spillway.RefuseAll))
	require.Equal(t, 9, l.Stats().InUse)
	require.Zero(t, l.Stats().Available)
	p.Release()
	require.NoError(t, l.Close(t.Context()))
	p.Release()
	requireWhole(t, l)
}

// A15: a permit that is dropped doesn't make the limiter do nothing: it stays in use, and
// its holder is the line that dropped it.
func TestLimiterDroppedPermitStaysInUseAndIsListed(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 1, Track: spillway.TrackSite})
	_, err := l.Admit(t.Context())
	require.NoError(t, err)
	_, err = l.Do(t.Context(), answer(1))
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.Len(t, l.Holders(), 1)
	require.Contains(t, l.Holders()[0].Site, "TestLimiterDroppedPermitStaysInUseAndIsListed")
}

// A23, A24, A25: guarding an operation, for a session that idles, for a handle that isn't
// used, for a second attempt that is never made, takes nothing: only a call does.
func TestLimiterGuardedOperationsThatDoNotRunTakeNothing(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 1})
	guarded := make([]spillway.Op[int], 100)
	for i := range guarded {
		guarded[i] = spillway.Chain(limiter.Share[int](l).Wrap, l.Wrap)(answer(i))
	}
	require.Zero(t, l.Stats().InUse)
	v, err := l.Wrap(answer(7))(t.Context())
	require.NoError(t, err)
	require.Equal(t, 7, v)
}
