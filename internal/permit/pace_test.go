//go:build go1.25

package permit_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/internal/permit"
)

const gap = 10 * time.Millisecond

// newPaced returns a core whose first call may begin now.
func newPaced(t *testing.T, opts permit.Options) *permit.Core {
	t.Helper()
	c := newCore(opts)
	require.NoError(t, c.SetPace(gap))
	time.Sleep(gap)
	return c
}

func refusedFor(t *testing.T, c *permit.Core, reason spillway.Reason) spillway.Rejection {
	t.Helper()
	return refusedWith(t, c, 1, reason)
}

func refusedWith(t *testing.T, c *permit.Core, n int, reason spillway.Reason) spillway.Rejection {
	t.Helper()
	_, err := c.Enter(t.Context(), n)
	var r *spillway.Rejection
	require.ErrorAs(t, err, &r)
	require.Equal(t, reason, r.Reason)
	return *r
}

// G-LIM-8: one call at a time, whatever the limit, and the next no sooner than a gap
// after the last came back, however long that took.
func TestPaceLetsOneInAtATimeWithAGapBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 3})
		require.NoError(t, c.SetPace(gap))
		refusedFor(t, c, spillway.ReasonPaced)
		time.Sleep(gap)
		for range 3 {
			u := enter(t, c, 1)
			refusedFor(t, c, spillway.ReasonLimit)
			time.Sleep(5 * gap)
			refusedFor(t, c, spillway.ReasonLimit)
			c.Leave(u, spillway.OutcomeOK)
			require.Equal(t, gap, refusedFor(t, c, spillway.ReasonPaced).RetryAfter)
			time.Sleep(gap - 1)
			refusedFor(t, c, spillway.ReasonPaced)
			time.Sleep(time.Nanosecond)
		}
		require.Equal(t, gap, c.Stats().Pace)
		require.NoError(t, c.SetPace(0))
		requireWhole(t, c)
	})
}

// G-LIM-8: permits that were out before count, and so does a call that panicked.
func TestPaceCountsFromTheLastPermitThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 3})
		a, b := enter(t, c, 1), enter(t, c, 1)
		require.NoError(t, c.SetPace(gap))
		time.Sleep(2 * gap)
		refusedFor(t, c, spillway.ReasonLimit)
		c.Leave(a, spillway.OutcomeOK)
		time.Sleep(2 * gap)
		refusedFor(t, c, spillway.ReasonLimit)
		c.Abort(b)
		refusedFor(t, c, spillway.ReasonPaced)
		time.Sleep(gap)
		c.Leave(enter(t, c, 1), spillway.OutcomeOK)
	})
}

// G-LAN-9: who waits is served when the next call is due, in order, and sent away when
// it has waited as long as it may.
func TestPaceServesTheQueueWhenTheNextIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPaced(t, permit.Options{Limit: 2, MaxWait: 25 * time.Millisecond})
		u := enter(t, c, 1)
		first, second, third := wait(c, 1, 3), wait(c, 1, 3), wait(c, 1, 3)
		c.Leave(u, spillway.OutcomeOK)
		first.requireWaiting(t)
		time.Sleep(gap - 1)
		first.requireWaiting(t)
		time.Sleep(time.Nanosecond)
		first.requireAdmitted(t)
		first.leave()
		time.Sleep(gap)
		second.requireAdmitted(t)
		second.leave()
		third.requireWaiting(t)
		time.Sleep(5 * time.Millisecond)
		third.requireRefused(t, spillway.ReasonMaxWait)
		require.False(t, c.Armed(), "the timer of an empty queue")
		time.Sleep(gap)
		c.Leave(enter(t, c, 1), spillway.OutcomeOK)
	})
}

// G-LAN-9: a caller who comes to an idle core in the gap waits, too.
func TestPaceMakesWhoComesInTheGapWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPaced(t, permit.Options{MaxWait: time.Second})
		c.Leave(enter(t, c, 1), spillway.OutcomeOK)
		start := time.Now()
		w := wait(c, 1, 1)
		w.requireWaiting(t)
		<-w.answered
		require.NoError(t, w.err)
		require.Equal(t, gap, time.Since(start))
		w.leave()
	})
}

// G-LAN-5: a change of the pace moves the next admission, and its end lets all in.
func TestPaceChangesTakeEffectAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPaced(t, permit.Options{Limit: 2, MaxWait: time.Second})
		c.Leave(enter(t, c, 1), spillway.OutcomeOK)
		a, b := wait(c, 1, 5), wait(c, 1, 5)
		require.NoError(t, c.SetPace(3*gap))
		time.Sleep(3*gap - 1)
		a.requireWaiting(t)
		require.NoError(t, c.SetPace(gap)) // that was long ago
		a.requireAdmitted(t)
		b.requireWaiting(t)
		require.NoError(t, c.SetPace(0))
		b.requireAdmitted(t)
		a.leave()
		b.leave()
		requireWhole(t, c)
		require.ErrorContains(t, c.SetPace(-1), "Pace is -1ns")
		require.Zero(t, c.Stats().Pace)
	})
}

// R16: close and a change of mode wake who waits for the gap.
func TestPaceHoldsUpNeitherCloseNorAChangeOfMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPaced(t, permit.Options{MaxWait: time.Hour})
		require.NoError(t, c.SetPace(time.Minute))
		w := wait(c, 1, 5)
		require.NoError(t, c.SetMode(spillway.Shadow))
		w.requireAdmitted(t)
		w.leave()
		require.NoError(t, c.SetMode(spillway.Enforce))
		w = wait(c, 1, 5)
		c.Shut()
		require.True(t, w.done())
		require.ErrorIs(t, w.err, spillway.ErrClosed)
		require.NoError(t, c.Close(t.Context()))
	})
}

// X18: a ghost is a call under way, but the gap runs meanwhile.
func TestPaceRunsWhileAGhostHasThePermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPaced(t, permit.Options{})
		for _, ghost := range []time.Duration{5 * gap, gap / 2} {
			p, err := c.Admit(t.Context(), 1)
			require.NoError(t, err)
			p.ReleaseAfter(ghost)
			start := time.Now()
			for range 100 {
				if p, err = c.Admit(t.Context(), 1); err == nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			require.Equal(t, max(gap, ghost), time.Since(start))
			p.Release()
			time.Sleep(gap)
		}
	})
}

// A caller who gives up in the instant in which it is granted leaves the pace as it was.
func TestPaceGrantToWhoHasGoneGoesToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPaced(t, permit.Options{MaxWait: time.Second})
		c.Leave(enter(t, c, 1), spillway.OutcomeOK)
		gone, next := wait(c, 1, 5), wait(c, 1, 5)
		gone.abandon(t)
		time.Sleep(gap)
		next.requireAdmitted(t)
		next.leave()
	})
}

// G-LIM-8, G-LAN-4: while the pace, the limit and the callers do what they like, a paced
// core never has two calls under way that it admitted, and in the end it is whole.
func TestPaceUnderChangeIsConcurrentSafe(t *testing.T) {
	c := newCore(permit.Options{Limit: 4, Sample: 4, MaxWait: time.Millisecond})
	var inside, admitted atomic.Int64
	hammer.Together(9, func(i int) {
		ctx := context.Background()
		for k := range 300 {
			switch i {
			case 0:
				require.NoError(t, c.SetPace(time.Duration(k%3)*time.Microsecond))
				require.NoError(t, c.SetLimit(1+k%4))
				continue
			case 1:
				if p, err := c.Admit(ctx, 1); err == nil {
					p.ReleaseAfter(time.Microsecond)
				}
				continue
			}
			u, err := c.Wait(ctx, 1, 3)
			if err != nil {
				continue
			}
			admitted.Add(1)
			if inside.Add(1) > 4 {
				t.Error("more than the limit ever was")
			}
			inside.Add(-1)
			c.Leave(u, spillway.OutcomeOK)
		}
	})
	require.NoError(t, c.SetPace(0))
	for c.Stats().Ghosts > 0 {
		spin(100)
	}
	require.NoError(t, c.SetLimit(4))
	require.Positive(t, admitted.Load())
	requireWhole(t, c)
}

// G-LIM-8: however many come at once, one is let in for each gap.
func TestPaceNeverHasTwoUnderWay(t *testing.T) {
	c := newCore(permit.Options{Limit: 8})
	require.NoError(t, c.SetPace(time.Nanosecond))
	var inside, calls atomic.Int64
	hammer.Together(8, func(int) {
		for range 2000 {
			u, err := c.Enter(context.Background(), 1)
			if err != nil {
				continue
			}
			if inside.Add(1) != 1 {
				t.Error("two calls under way")
			}
			calls.Add(1)
			spin(10)
			inside.Add(-1)
			c.Leave(u, spillway.OutcomeOK)
		}
	})
	require.Positive(t, calls.Load())
	require.NoError(t, c.SetPace(0))
	requireWhole(t, c)
}
