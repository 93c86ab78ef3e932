package histogram

import (
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
)

// Recorder counts durations. The zero Recorder is ready to use. Its methods are
// safe for concurrent use and never block.
type Recorder struct {
	sum     atomic.Int64 // nanoseconds; written before the bucket, read after it
	buckets [spillway.DistributionBuckets]atomic.Uint64
}

// Record counts d. A negative duration counts as zero.
func (r *Recorder) Record(d time.Duration) {
	d = max(d, 0)
	r.sum.Add(int64(d))
	r.buckets[spillway.DistributionBucket(d)].Add(1)
}

// Snapshot returns what was recorded so far. Count is the sum of the buckets; a
// duration that is being recorded at this moment may be in Sum only.
func (r *Recorder) Snapshot() spillway.Distribution {
	var d spillway.Distribution
	for i := range r.buckets {
		d.Buckets[i] = r.buckets[i].Load()
		d.Count += d.Buckets[i]
	}
	d.Sum = time.Duration(r.sum.Load())
	return d
}
