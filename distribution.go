package spillway

import (
	"math"
	"math/bits"
	"time"
)

// DistributionBuckets is the number of buckets of a [Distribution].
const DistributionBuckets = 4*29 + 2

// firstBound is the upper bound of the first bucket, in nanoseconds. Four buckets
// share each doubling above it, so a quantile is at most a quarter off; 29
// doublings reach nine minutes, and the last bucket holds what is longer.
const firstBound = 1 << 10

// Distribution is a snapshot of how long things took. It is a plain value and is
// safe to copy. The zero Distribution is empty.
type Distribution struct {
	Count   uint64        // how many were measured
	Sum     time.Duration // how long they took together
	Buckets [DistributionBuckets]uint64
}

// DistributionBucket returns the bucket that a duration belongs to: the smallest i
// with d <= DistributionBound(i). Negative durations count as zero.
func DistributionBucket(d time.Duration) int {
	if d <= firstBound {
		return 0
	}
	// d-1 so that a bound belongs to the bucket it closes. The two bits below the
	// leading one pick the quarter of the doubling.
	n := uint64(d - 1)
	exp := bits.Len64(n) - 1
	i := 1 + (exp-10)*4 + int(n>>(exp-2)&3)
	return min(i, DistributionBuckets-1)
}

// DistributionBound returns the upper bound of bucket i, inclusive. The last
// bucket has none and returns the longest duration there is.
func DistributionBound(i int) time.Duration {
	switch {
	case i <= 0:
		return firstBound
	case i >= DistributionBuckets-1:
		return math.MaxInt64
	}
	exp, quarter := (i-1)/4, (i-1)%4
	return time.Duration(firstBound<<exp) / 4 * time.Duration(5+quarter)
}

// Mean returns the mean duration; 0 if nothing was measured.
func (d Distribution) Mean() time.Duration {
	if d.Count == 0 {
		return 0
	}
	return d.Sum / time.Duration(min(d.Count, math.MaxInt64))
}

// Quantile returns a duration that at least the share q of what was measured did
// not exceed, to within a quarter: the upper bound of its bucket. It returns 0 if
// nothing was measured. q is clamped to [0, 1].
func (d Distribution) Quantile(q float64) time.Duration {
	var total uint64
	for _, n := range d.Buckets {
		total += n
	}
	if total == 0 {
		return 0
	}
	if !(q > 0) { // NaN too
		q = 0
	}
	rank := uint64(math.Ceil(min(q, 1) * float64(total)))
	rank = max(rank, 1)
	var seen uint64
	for i, n := range d.Buckets {
		if seen += n; seen >= rank {
			return DistributionBound(i)
		}
	}
	return DistributionBound(DistributionBuckets - 1)
}

// Add returns what was measured in d and in other together.
func (d Distribution) Add(other Distribution) Distribution {
	d.Count += other.Count
	d.Sum += other.Sum
	for i := range d.Buckets {
		d.Buckets[i] += other.Buckets[i]
	}
	return d
}

// Sub returns what was measured after the snapshot earlier was taken of the same
// source.
func (d Distribution) Sub(earlier Distribution) Distribution {
	d.Count -= earlier.Count
	d.Sum -= earlier.Sum
	for i := range d.Buckets {
		d.Buckets[i] -= earlier.Buckets[i]
	}
	return d
}
