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
	"github.com/spillway-go/spillway/internal/permit"
)

// A1.
func TestQueueTimedOutWaitersLeaveNoPermitBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 8
		c := newCore(permit.Options{Limit: n, MaxWait: time.Second})
		u := enter(t, c, n)
		var waiters []*waiter
		for range n {
			waiters = append(waiters, wait(c, 1, n))
		}
		time.Sleep(time.Second + 1)
		for _, w := range waiters {
			r := w.requireRefused(t, spillway.ReasonMaxWait)
			require.InDelta(t, time.Second, r.Wait, 2)
		}
		c.Leave(u, spillway.OutcomeOK)
		for range n {
			w := wait(c, 1, n)
			w.requireAdmitted(t)
			defer w.leave()
		}
	})
}

// R10.
func TestQueueWaitsAsLongAsItMayAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{MaxWait: time.Second})
		enter(t, c, 1)
		w := wait(c, 1, 1)
		time.Sleep(time.Second - 2)
		w.requireWaiting(t)
		time.Sleep(3 * time.Nanosecond)
		w.requireRefused(t, spillway.ReasonMaxWait)
	})
}

// C11: a wait that the clock can't count to the end of is a long one, not none.
func TestQueueWaitsEndlesslyForAnAbsurdMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 2, MaxWait: math.MaxInt64})
		u := enter(t, c, 1)
		time.Sleep(time.Second)
		haunt(t, c, 1, time.Second)
		w := wait(c, 2, 1)
		time.Sleep(1000 * time.Hour) // the ghost's end is a look at who has waited too long
		w.requireWaiting(t)
		c.Leave(u, spillway.OutcomeOK)
		w.requireAdmitted(t)
	})
}

// A11, B20.
func TestQueueCancelledWaiterLeavesItsPlaceAndTakesNoPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		u := enter(t, c, 1)
		w := wait(c, 1, 1)
		wait(c, 1, 1).requireRefused(t, spillway.ReasonQueueFull)
		w.abandon(t)
		require.Zero(t, c.Stats().Waiting)
		require.Empty(t, c.Bits())
		next := wait(c, 1, 1)
		next.requireWaiting(t)
		c.Leave(u, spillway.OutcomeOK)
		next.requireAdmitted(t)
		next.leave()
		require.Equal(t, uint64(1), c.Stats().Canceled)
		requireWhole(t, c)
	})
}

// A12, A13.
func TestQueueCancelledHeavyWaiterHadTakenNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 4})
		u, v := enter(t, c, 2), enter(t, c, 2)
		w := wait(c, 4, 1)
		c.Leave(u, spillway.OutcomeOK)
		w.requireWaiting(t)
		require.Equal(t, 2, c.Stats().InUse)
		w.abandon(t)
		require.Equal(t, 2, c.Stats().InUse)
		c.Leave(v, spillway.OutcomeOK)
		requireWhole(t, c)
	})
}

// B4.
func TestQueueHeavyWaiterIsWokenBySmallReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 10})
		var uses []permit.Use
		for range 10 {
			uses = append(uses, enter(t, c, 1))
		}
		w := wait(c, 2, 1)
		c.Leave(uses[0], spillway.OutcomeOK)
		w.requireWaiting(t)
		c.Leave(uses[1], spillway.OutcomeOK)
		w.requireAdmitted(t)
		require.Equal(t, 10, c.Stats().InUse)
	})
}

// B5.
func TestQueueCancelledHeadLetsThoseBehindItIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 4})
		enter(t, c, 2)
		big, small, third := wait(c, 4, 9), wait(c, 1, 9), wait(c, 1, 9)
		small.requireWaiting(t)
		big.abandon(t)
		small.requireAdmitted(t)
		third.requireAdmitted(t)
		require.Empty(t, c.Bits())
	})
}

// B5: the same if the head's time is over.
func TestQueueTimedOutHeadLetsThoseBehindItIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 4, MaxWait: time.Second})
		enter(t, c, 2)
		big := wait(c, 4, 9)
		time.Sleep(time.Millisecond)
		small := wait(c, 1, 9)
		small.requireWaiting(t)
		time.Sleep(time.Second - time.Millisecond + 1)
		big.requireRefused(t, spillway.ReasonMaxWait)
		small.requireAdmitted(t)
	})
}

// B8, P12.
func TestQueueShortestWaitsGetFreePermits(t *testing.T) {
	for _, maxWait := range []time.Duration{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			c := newCore(permit.Options{MaxWait: maxWait})
			for range 10_000 {
				u, err := c.Wait(t.Context(), 1, 1)
				require.NoError(t, err)
				c.Leave(u, spillway.OutcomeOK)
			}
			requireWhole(t, c)
		})
	}
}

// B9.
func TestQueueReleaseAdmitsAWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		u := enter(t, c, 1)
		w := wait(c, 1, 1)
		w.requireWaiting(t)
		c.Leave(u, spillway.OutcomeOK)
		w.requireAdmitted(t)
		require.Equal(t, 1, c.Stats().InUse)
	})
}

// B14.
func TestQueueRaisedLimitAdmitsWhomItHasRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		enter(t, c, 1)
		a, b, d, e := wait(c, 1, 9), wait(c, 1, 9), wait(c, 1, 9), wait(c, 1, 9)
		require.NoError(t, c.SetLimit(4))
		a.requireAdmitted(t)
		b.requireAdmitted(t)
		d.requireAdmitted(t)
		e.requireWaiting(t)
		e.abandon(t)
	})
}

// B17.
func TestQueueOfOneEmptiesByGrantAndByCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		for range 3 {
			u := enter(t, c, 1)
			granted := wait(c, 1, 1)
			c.Leave(u, spillway.OutcomeOK)
			granted.requireAdmitted(t)
			cancelled := wait(c, 1, 1)
			cancelled.abandon(t)
			granted.leave()
			requireWhole(t, c)
		}
	})
}

// R12, B19.
func TestQueueGrantsInTheOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		u := enter(t, c, 1)
		var waiters []*waiter
		for range 20 {
			waiters = append(waiters, wait(c, 1, 20))
		}
		c.Leave(u, spillway.OutcomeOK)
		for i, w := range waiters {
			w.requireAdmitted(t)
			if i+1 < len(waiters) {
				waiters[i+1].requireWaiting(t)
			}
			w.leave()
		}
		requireWhole(t, c)
	})
}

// R12.
func TestQueueNobodyOvertakesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 4})
		u := enter(t, c, 3)
		big := wait(c, 4, 9)
		_, err := c.Enter(t.Context(), 1)
		require.ErrorIs(t, err, spillway.ErrBackpressure, "one is free, but not for who comes now")
		small := wait(c, 1, 9)
		small.requireWaiting(t)
		c.Leave(u, spillway.OutcomeOK)
		big.requireAdmitted(t)
		small.requireWaiting(t)
		big.leave()
		small.requireAdmitted(t)
	})
}

// R12: as long as a heavy waiter waits, small ones queue behind it, so it comes on.
func TestQueueHeavyWaiterIsNotStarvedBySmallOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 3})
		uses := []permit.Use{enter(t, c, 1), enter(t, c, 1), enter(t, c, 1)}
		big := wait(c, 3, 100)
		var small []*waiter
		for _, u := range uses {
			small = append(small, wait(c, 1, 100))
			c.Leave(u, spillway.OutcomeOK)
		}
		big.requireAdmitted(t)
		for _, w := range small {
			w.requireWaiting(t)
		}
		big.leave()
		for _, w := range small {
			w.requireAdmitted(t)
			w.leave()
		}
		requireWhole(t, c)
	})
}

// R13.
func TestQueueHoldsNoMoreThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		u := enter(t, c, 1)
		wait(c, 1, 0).requireRefused(t, spillway.ReasonLimit)
		wait(c, 1, -1).requireRefused(t, spillway.ReasonLimit)
		a, b := wait(c, 1, 2), wait(c, 1, 2)
		require.Zero(t, wait(c, 1, 2).requireRefused(t, spillway.ReasonQueueFull).Wait)
		d := wait(c, 1, 3)
		require.Equal(t, 3, c.Stats().Waiting)
		c.Leave(u, spillway.OutcomeOK)
		for _, w := range []*waiter{a, b, d} {
			w.requireAdmitted(t)
			w.leave()
		}
		requireWhole(t, c)
	})
}

// R13, B2: a storm of callers goes by; what stays is what there was before.
func TestQueueIsEmptyAfterAStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 2, MaxWait: 50 * time.Millisecond})
		full := 0
		for i := range 2000 {
			go func() {
				time.Sleep(time.Duration(i%100) * time.Millisecond)
				u, err := c.Wait(context.Background(), 1+i%2, 64)
				if err != nil {
					return
				}
				time.Sleep(time.Millisecond)
				c.Leave(u, spillway.OutcomeOK)
			}()
		}
		for range 200 {
			time.Sleep(time.Millisecond)
			waiting := c.Stats().Waiting
			require.LessOrEqual(t, waiting, 64)
			if waiting == 64 {
				full++
			}
		}
		synctest.Wait()
		require.Positive(t, full, "the storm filled the queue")
		st := c.Stats()
		require.Equal(t, uint64(2000), st.Admitted+st.Refused.Total())
		require.Positive(t, st.Refused.Of(spillway.ReasonMaxWait))
		require.Positive(t, st.Refused.Of(spillway.ReasonQueueFull))
		requireWhole(t, c)
	})
}

// R18.
func TestQueueStatsTellHowLongTheOldestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{})
		enter(t, c, 1)
		first := wait(c, 1, 9)
		time.Sleep(3 * time.Second)
		second := wait(c, 1, 9)
		time.Sleep(time.Second)
		require.InDelta(t, 4*time.Second, c.Stats().OldestWait, 2)
		first.abandon(t)
		require.InDelta(t, time.Second, c.Stats().OldestWait, 2)
		second.abandon(t)
		require.Zero(t, c.Stats().OldestWait)
	})
}
