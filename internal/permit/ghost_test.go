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
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/internal/permit"
)

// haunt takes n permits and leaves them to a ghost for d.
func haunt(t *testing.T, c *permit.Core, n int, d time.Duration) spillway.Permit {
	t.Helper()
	p, err := c.Admit(t.Context(), n)
	require.NoError(t, err)
	p.ReleaseAfter(d)
	return p
}

func TestGhostKeepsItsPermitUntilItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 2})
		haunt(t, c, 2, time.Second)
		st := c.Stats()
		require.Equal(t, 2, st.InUse)
		require.Equal(t, 2, st.Ghosts)
		require.Equal(t, uint64(1), st.GhostsTotal)
		require.Equal(t, uint64(1), st.Ended.Of(spillway.OutcomeTimeout), "its call has ended all the same")
		time.Sleep(time.Second - 2)
		_, err := c.Enter(t.Context(), 1)
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		time.Sleep(3 * time.Nanosecond)
		c.Leave(enter(t, c, 2), spillway.OutcomeOK)
		requireWhole(t, c)
	})
}

func TestGhostIsFoundToBeOverByStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 5})
		haunt(t, c, 3, time.Second)
		haunt(t, c, 1, 2*time.Second)
		time.Sleep(time.Second + 1)
		st := c.Stats()
		require.Equal(t, 1, st.InUse)
		require.Equal(t, 1, st.Ghosts)
		require.Equal(t, uint64(2), st.GhostsTotal)
		time.Sleep(time.Second)
		requireWhole(t, c)
	})
}

func TestGhostsEndInTheOrderOfTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 100})
		for _, s := range []int{5, 1, 3, 3, 2, 9, 1, 4} {
			haunt(t, c, s, time.Duration(s)*time.Second)
		}
		for _, want := range []int{28, 26, 24, 18, 14, 9, 9, 9, 9, 0} {
			require.Equal(t, want, c.Stats().Ghosts)
			time.Sleep(time.Second + 1)
		}
		requireWhole(t, c)
	})
}

// B9: nothing but time brings the permit back.
func TestGhostWakesAWaiterByTimeAlone(t *testing.T) {
	for name, opts := range map[string]permit.Options{
		"bounded wait": {Limit: 3, MaxWait: time.Minute},
		"context only": {Limit: 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCore(opts)
				haunt(t, c, 1, 2*time.Second)
				haunt(t, c, 1, time.Second)
				enter(t, c, 1)
				w := wait(c, 2, 1)
				time.Sleep(time.Second + 1)
				w.requireWaiting(t)
				time.Sleep(time.Second)
				w.requireAdmitted(t)
			})
		})
	}
}

// B9: the ghost comes when somebody waits already.
func TestGhostThatComesLaterWakesAWaiterToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{MaxWait: time.Minute})
		p, err := c.Admit(t.Context(), 1)
		require.NoError(t, err)
		w := wait(c, 1, 1)
		time.Sleep(time.Second)
		p.ReleaseAfter(time.Second)
		time.Sleep(time.Second - 2)
		w.requireWaiting(t)
		time.Sleep(3 * time.Nanosecond)
		w.requireAdmitted(t)
	})
}

// C11.
func TestGhostOfAnAbsurdHoldStaysAndHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 2})
		time.Sleep(time.Second)
		haunt(t, c, 1, math.MaxInt64)
		haunt(t, c, 1, time.Second)
		time.Sleep(time.Second + 1)
		w := wait(c, 1, 1)
		w.requireAdmitted(t)
		next := wait(c, 1, 1)
		time.Sleep(10_000 * time.Hour)
		next.requireWaiting(t)
		w.leave()
		next.requireAdmitted(t)
		require.Equal(t, 1, c.Stats().Ghosts)
	})
}

// P8.
func TestGhostIsNotReleasedByCopiesOfItsPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		p := haunt(t, c, 1, time.Hour)
		p.Release()
		p.ReleaseAfter(time.Nanosecond)
		hammer.Together(8, func(int) { p.Release() })
		time.Sleep(time.Second)
		st := c.Stats()
		require.Equal(t, 1, st.Ghosts)
		require.Equal(t, uint64(1), st.GhostsTotal)
		require.Equal(t, uint64(1), st.Ended.Total())
	})
}

func TestGhostOfNoTimeIsAPlainRelease(t *testing.T) {
	for _, d := range []time.Duration{0, -1, math.MinInt64} {
		c := newCore(permit.Options{})
		haunt(t, c, 1, d)
		require.Zero(t, c.Stats().GhostsTotal)
		require.Equal(t, uint64(1), c.Stats().Ended.Of(spillway.OutcomeTimeout))
		requireWhole(t, c)
	}
}

// R17.
func TestGhostDoesNotHoldUpClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 3})
		haunt(t, c, 1, time.Hour)
		last, err := c.Admit(t.Context(), 2)
		require.NoError(t, err)
		closed := make(chan error, 1)
		go func() { closed <- c.Close(context.Background()) }()
		synctest.Wait()
		require.Empty(t, closed)
		last.ReleaseAfter(time.Hour)
		require.NoError(t, <-closed)
		require.Equal(t, 3, c.Stats().Ghosts)
		time.Sleep(time.Hour + 1)
		requireWhole(t, c)
	})
}

// B-14: what Shadow counts is what Enforce would have refused, and Enforce would
// have found that the ghost's time is over.
func TestGhostThatIsOverIsNoReasonForShadowToRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Mode: spillway.Shadow})
		for range 1000 {
			haunt(t, c, 1, time.Second)
			time.Sleep(time.Second + 1)
		}
		enter(t, c, 1)
		require.Zero(t, c.Stats().WouldRefuse)
		haunt(t, c, 1, time.Second)
		require.Equal(t, uint64(1), c.Stats().WouldRefuse)
	})
}

// R32: the permits of a ghost come back in whatever mode.
func TestGhostsSurviveModeChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 2})
		haunt(t, c, 1, time.Second)
		require.NoError(t, c.SetMode(spillway.Shadow))
		haunt(t, c, 0, time.Second)
		haunt(t, c, math.MaxInt, time.Second)
		require.NoError(t, c.SetMode(spillway.Off))
		haunt(t, c, 1, time.Second)
		require.Equal(t, uint64(3), c.Stats().GhostsTotal)
		require.Equal(t, 1+permit.MaxLimit, c.Stats().Ghosts)
		require.NoError(t, c.SetMode(spillway.Enforce))
		time.Sleep(time.Second + 1)
		requireWhole(t, c)
	})
}

// A2: who reaps takes nothing from who comes at the same moment.
func TestGhostThatIsOverMakesRoomForAllItHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 8})
		for range 2000 {
			haunt(t, c, 8, time.Microsecond)
			time.Sleep(time.Microsecond + 1)
			uses := make([]permit.Use, 8)
			hammer.Together(8, func(i int) {
				var err error
				uses[i], err = c.Enter(context.Background(), 1)
				require.NoError(t, err)
			})
			for _, u := range uses {
				c.Leave(u, spillway.OutcomeOK)
			}
		}
		requireWhole(t, c)
	})
}
