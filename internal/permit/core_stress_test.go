package permit_test

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/internal/permit"
)

// gauge measures from outside what is in use.
type gauge struct{ now, peak atomic.Int64 }

func (g *gauge) add(n int) {
	now := g.now.Add(int64(n))
	for {
		peak := g.peak.Load()
		if now <= peak || g.peak.CompareAndSwap(peak, now) {
			return
		}
	}
}

func (g *gauge) remove(n int) { g.now.Add(-int64(n)) }

// A3, A18, A19, A26.
func TestCoreStressAdmitsExactlyItsLimit(t *testing.T) {
	for range 100 {
		c := newCore(permit.Options{Limit: 10})
		uses := make([]permit.Use, 64)
		var admitted atomic.Int64
		hammer.Together(64, func(i int) {
			if u, err := c.Enter(t.Context(), 1); err == nil {
				uses[i] = u
				admitted.Add(1)
			}
		})
		require.EqualValues(t, 10, admitted.Load())
		require.EqualValues(t, 54, c.Stats().Refused.Of(spillway.ReasonLimit))
		for _, u := range uses {
			c.Leave(u, spillway.OutcomeOK) // those of the refused do nothing
		}
		requireWhole(t, c)
	}
}

// A3, A18, A19, A26.
func TestCoreStressIsNeverOverItsLimit(t *testing.T) {
	const limit = 10
	c := newCore(permit.Options{Limit: limit})
	var g gauge
	hammer.Together(64, func(i int) {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		for range 250 {
			weight := 1 + r.IntN(3)
			switch r.IntN(3) {
			case 0:
				if u, err := c.Enter(t.Context(), weight); err == nil {
					g.add(weight)
					runtime.Gosched()
					g.remove(weight)
					c.Leave(u, spillway.OutcomeOK)
				}
			case 1:
				if u, err := c.Wait(t.Context(), weight, 32); err == nil {
					g.add(weight)
					runtime.Gosched()
					g.remove(weight)
					c.Abort(u)
				}
			case 2:
				if p, err := c.Admit(t.Context(), weight); err == nil {
					g.add(weight)
					runtime.Gosched()
					g.remove(weight)
					p.Release()
					p.Release()
				}
			}
		}
	})
	require.LessOrEqual(t, g.peak.Load(), int64(limit))
	require.Greater(t, g.peak.Load(), int64(1), "calls ran at the same time")
	st := c.Stats()
	require.EqualValues(t, 64*250, st.Admitted+st.Refused.Total())
	requireWhole(t, c)
}

// R16: whatever the limit was when, it is kept again once those of before are out.
func TestCoreStressKeepsALimitThatWasLowered(t *testing.T) {
	c := newCore(permit.Options{Limit: 20})
	var lowered atomic.Bool
	hammer.Together(32, func(i int) {
		if i == 0 {
			defer lowered.Store(true)
			for range 200 {
				require.NoError(t, c.SetLimit(20))
				require.NoError(t, c.SetLimit(5))
				runtime.Gosched()
			}
			return
		}
		for !lowered.Load() {
			u, err := c.Wait(t.Context(), 1, 64)
			require.NoError(t, err)
			runtime.Gosched()
			c.Leave(u, spillway.OutcomeOK)
		}
	})
	var g gauge
	hammer.Together(32, func(int) {
		for range 200 {
			u, err := c.Wait(t.Context(), 1, 64)
			require.NoError(t, err)
			g.add(1)
			runtime.Gosched()
			g.remove(1)
			c.Leave(u, spillway.OutcomeOK)
		}
	})
	require.LessOrEqual(t, g.peak.Load(), int64(5))
	requireWhole(t, c)
}

// R32.
func TestCoreStressKeepsItsCountThroughModeChanges(t *testing.T) {
	c := newCore(permit.Options{Limit: 4})
	hammer.Together(16, func(i int) {
		r := rand.New(rand.NewPCG(2, uint64(i)))
		for range 2000 {
			if i == 0 {
				require.NoError(t, c.SetMode(spillway.Mode(r.IntN(4))))
				continue
			}
			u, err := c.Wait(t.Context(), 1+r.IntN(4), 8)
			if err != nil {
				require.ErrorIs(t, err, spillway.ErrBackpressure)
				continue
			}
			c.Leave(u, spillway.OutcomeOK)
		}
	})
	require.NoError(t, c.SetMode(spillway.Enforce))
	requireWhole(t, c)
}

// G-LIM-7: at no moment more calls have ended than were admitted.
func TestCoreStressStatsNeverShowMoreEndsThanBeginnings(t *testing.T) {
	c := newCore(permit.Options{Limit: 8, Sample: 4})
	var running atomic.Int64
	running.Store(7)
	hammer.Together(8, func(i int) {
		if i > 0 {
			defer running.Add(-1)
			for n := range 3000 {
				switch n % 3 {
				case 0:
					c.Leave(enter(t, c, 1), spillway.OutcomeTimeout)
				case 1:
					c.Abort(enter(t, c, 1))
				case 2:
					p, err := c.Admit(t.Context(), 1)
					require.NoError(t, err)
					p.Release()
				}
			}
			return
		}
		var before permit.Stats
		for running.Load() > 0 {
			st := c.Stats()
			require.LessOrEqual(t, st.Ended.Total()+st.Aborted, st.Admitted)
			require.LessOrEqual(t, st.InUse, st.Limit)
			require.GreaterOrEqual(t, st.Admitted, before.Admitted)
			require.GreaterOrEqual(t, st.Ended.Total(), before.Ended.Total())
			before = st
		}
	})
	require.EqualValues(t, 7*3000, c.Stats().Admitted)
	requireWhole(t, c)
}
