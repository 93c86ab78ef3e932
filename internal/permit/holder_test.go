//go:build go1.25

package permit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/internal/permit"
)

// R26.
func TestHoldersAreListedOldestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 100, Track: spillway.TrackSite})
		var uses []permit.Use
		for weight := 1; weight <= 4; weight++ {
			u, err := c.Enter(spillway.WithClass(t.Context(), spillway.Bulk), weight)
			require.NoError(t, err)
			uses = append(uses, u)
			time.Sleep(time.Second)
		}
		c.Leave(uses[1], spillway.OutcomeOK)
		var weights []int
		for _, h := range c.Holders() {
			weights = append(weights, h.Weight)
			require.InDelta(t, time.Duration(5-h.Weight)*time.Second, h.Age, 2)
			require.Equal(t, spillway.Bulk, h.Class)
			require.Contains(t, h.Site, "permit_test.TestHoldersAreListedOldestFirst")
			require.Contains(t, h.Site, "holder_test.go:")
			require.Empty(t, h.Stack)
		}
		require.Equal(t, []int{1, 3, 4}, weights)
	})
}

// R26: a permit that waited is listed from when it was granted.
func TestHoldersListWhoWaitedFromTheGrantOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Track: spillway.TrackStack})
		u := enter(t, c, 1)
		w := wait(c, 1, 1)
		time.Sleep(time.Second)
		c.Leave(u, spillway.OutcomeOK)
		w.requireAdmitted(t)
		time.Sleep(time.Minute)
		holders := c.Holders()
		require.Len(t, holders, 1)
		require.InDelta(t, time.Minute, holders[0].Age, 2)
		require.Contains(t, holders[0].Site, "waiter_test.go:")
		require.Contains(t, holders[0].Stack, "permit_test.waitWith.func1\n")
	})
}

// R26: a ghost has no holder any more.
func TestHoldersListNoGhosts(t *testing.T) {
	c := newCore(permit.Options{Track: spillway.TrackSite})
	p, err := c.Admit(t.Context(), 1)
	require.NoError(t, err)
	require.Len(t, c.Holders(), 1)
	p.ReleaseAfter(time.Hour)
	require.Empty(t, c.Holders())
}

func TestHoldersAreNotListedUnlessTracked(t *testing.T) {
	c := newCore(permit.Options{Sample: 1})
	enter(t, c, 1)
	require.Empty(t, c.Holders())
}

// R23.
func TestHoldersThatHoldLongAreToldWhenTheyLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []spillway.Holder
		c := newCore(permit.Options{
			Limit: 9, Track: spillway.TrackSite, HoldWarn: time.Minute,
			Hooks: []permit.Hooks{{HeldLong: func(h spillway.Holder) { told = append(told, h) }}},
		})
		u, v, aborted := enter(t, c, 1), enter(t, c, 2), enter(t, c, 3)
		time.Sleep(time.Minute - 2)
		c.Leave(u, spillway.OutcomeOK)
		require.Empty(t, told)
		time.Sleep(3 * time.Nanosecond)
		c.Leave(v, spillway.OutcomeOK)
		c.Abort(aborted)
		require.Len(t, told, 2)
		require.Equal(t, 2, told[0].Weight)
		require.Equal(t, 3, told[1].Weight)
		require.InDelta(t, time.Minute, told[0].Age, 3)
		require.Contains(t, told[0].Site, "helper_test.go:")
	})
}

// R26, under race: who looks sees nobody twice, and nobody younger than now.
func TestHoldersStressCanBeListed(t *testing.T) {
	c := newCore(permit.Options{Limit: 8, Track: spillway.TrackSite})
	kept := enter(t, c, 1)
	hammer.Together(4, func(i int) {
		for range 300 {
			if i > 0 {
				c.Leave(enter(t, c, 2), spillway.OutcomeOK)
				continue
			}
			weight := 0
			for _, h := range c.Holders() {
				require.GreaterOrEqual(t, h.Age, time.Duration(0))
				require.NotEmpty(t, h.Site)
				weight = max(weight, h.Weight)
			}
			require.Positive(t, weight, "one holds all the time")
		}
	})
	c.Leave(kept, spillway.OutcomeOK)
	require.Empty(t, c.Holders())
	requireWhole(t, c)
}

// A scrape asks for all holders to learn the age of the oldest, so many of one place must not
// cost a look into the symbols each.
func TestHoldersOfOnePlaceAreNamedOnceAndAllocateNoMore(t *testing.T) {
	const n = 500
	c := newCore(permit.Options{Limit: n, Track: spillway.TrackStack})
	for range n {
		_, err := c.Enter(t.Context(), 1)
		require.NoError(t, err)
	}
	require.Less(t, testing.AllocsPerRun(1, func() {
		require.Len(t, c.Holders(), n)
	}), float64(n))
}
