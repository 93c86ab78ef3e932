package spillway_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

func record(ds ...time.Duration) (d spillway.Distribution) {
	for _, x := range ds {
		d.Count++
		d.Sum += x
		d.Buckets[spillway.DistributionBucket(x)]++
	}
	return d
}

func TestDistributionBoundsGrowByAQuarterAtMost(t *testing.T) {
	for i := 1; i < spillway.DistributionBuckets-1; i++ {
		bound, before := spillway.DistributionBound(i), spillway.DistributionBound(i-1)
		require.Greater(t, bound, before, "bucket %d", i)
		require.LessOrEqual(t, float64(bound), 1.25*float64(before), "bucket %d", i)
	}
	require.Equal(t, 1024*time.Nanosecond, spillway.DistributionBound(0))
	require.Equal(t, spillway.DistributionBound(0), spillway.DistributionBound(-1))
	require.Equal(t, time.Duration(1<<39), spillway.DistributionBound(spillway.DistributionBuckets-2))
	for _, i := range []int{spillway.DistributionBuckets - 1, spillway.DistributionBuckets, math.MaxInt} {
		require.Equal(t, time.Duration(math.MaxInt64), spillway.DistributionBound(i))
	}
}

func requireSmallestBucket(t *testing.T, d time.Duration) {
	t.Helper()
	i := spillway.DistributionBucket(d)
	require.LessOrEqual(t, d, spillway.DistributionBound(i))
	if i > 0 {
		require.Greater(t, d, spillway.DistributionBound(i-1), "bucket %d", i)
	}
}

func TestDistributionBucketIsTheSmallestThatHoldsTheDuration(t *testing.T) {
	for i := range spillway.DistributionBuckets {
		bound := spillway.DistributionBound(i)
		requireSmallestBucket(t, bound)
		requireSmallestBucket(t, bound-1)
		requireSmallestBucket(t, max(bound, bound+1))
	}
	for _, d := range []time.Duration{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		requireSmallestBucket(t, d)
	}
}

func FuzzDistributionBucket(f *testing.F) {
	for _, d := range []int64{0, 1024, 1025, 1280, 1281, 1 << 39, 1<<39 + 1, math.MaxInt64, math.MinInt64} {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, d int64) { requireSmallestBucket(t, time.Duration(d)) })
}

func TestDistributionQuantileIsNotExceededByItsShare(t *testing.T) {
	property := func(seed uint64, n uint8, q float64) bool {
		r := rand.New(rand.NewPCG(seed, 1))
		all := make([]time.Duration, int(n)+1)
		for i := range all {
			all[i] = time.Duration(r.Int64() >> r.IntN(63))
		}
		q = math.Abs(math.Mod(q, 1))
		d := record(all...)
		got := d.Quantile(q)
		slices.Sort(all)
		exact := all[max(int(math.Ceil(q*float64(len(all)))), 1)-1]
		// The bound of the bucket that the exact one is in.
		return got == spillway.DistributionBound(spillway.DistributionBucket(exact))
	}
	require.NoError(t, quick.Check(property, &quick.Config{MaxCount: 500}))
}

func TestDistributionQuantileClampsItsShare(t *testing.T) {
	d := record(time.Microsecond, time.Second)
	require.Equal(t, d.Quantile(0), d.Quantile(-3))
	require.Equal(t, d.Quantile(1), d.Quantile(7))
	require.Less(t, d.Quantile(0), d.Quantile(1))
}

func TestDistributionOfNothingIsZero(t *testing.T) {
	var d spillway.Distribution
	require.Zero(t, d.Quantile(0.5))
	require.Zero(t, d.Mean())
}

func TestDistributionMeanIsExact(t *testing.T) {
	d := record(time.Second, 2*time.Second, 6*time.Second)
	require.Equal(t, 3*time.Second, d.Mean())
}

func TestDistributionSubLeavesWhatCameLater(t *testing.T) {
	earlier := record(time.Second, time.Minute)
	later := record(time.Second, time.Minute, time.Hour, time.Second)
	require.Equal(t, record(time.Hour, time.Second), later.Sub(earlier))
	require.Equal(t, record(time.Second, time.Minute), earlier, "the snapshots are unchanged")
}

func TestDistributionAdd(t *testing.T) {
	a, b := record(time.Millisecond, time.Second), record(time.Second, time.Hour)
	require.Equal(t, record(time.Millisecond, time.Second, time.Second, time.Hour), a.Add(b))
	require.Equal(t, a, a.Add(b).Sub(b))
}
