package histogram_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/histogram"
	"github.com/spillway-go/spillway/internal/invariant"
)

func TestRecorderCountsDurationsInTheirBuckets(t *testing.T) {
	var r histogram.Recorder
	var want spillway.Distribution
	for _, d := range []time.Duration{0, 1, time.Microsecond, time.Second, time.Second, time.Hour} {
		r.Record(d)
		want.Count++
		want.Sum += d
		want.Buckets[spillway.DistributionBucket(d)]++
	}
	require.Equal(t, want, r.Snapshot())
}

func TestRecorderCountsNegativeDurationsAsZero(t *testing.T) {
	var r histogram.Recorder
	r.Record(-1)
	r.Record(math.MinInt64)
	d := r.Snapshot()
	require.Equal(t, uint64(2), d.Count)
	require.Equal(t, uint64(2), d.Buckets[0])
	require.Zero(t, d.Sum)
}

func TestRecorderLosesNothingUnderLoad(t *testing.T) {
	var r histogram.Recorder
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range 1000 {
				r.Record(time.Duration(i) * time.Millisecond)
				d := r.Snapshot()
				var sum uint64
				for _, n := range d.Buckets {
					sum += n
				}
				if sum != d.Count {
					t.Errorf("%d in the buckets, %d in all", sum, d.Count)
				}
			}
		}()
	}
	all.Wait()
	d := r.Snapshot()
	require.Equal(t, uint64(8000), d.Count)
	require.Equal(t, 8*999*500*time.Millisecond, d.Sum)
}

func TestRecorderAllocatesNothing(t *testing.T) {
	var r histogram.Recorder
	allocs := testing.AllocsPerRun(100, func() {
		r.Record(time.Second)
		if d := r.Snapshot(); d.Count == 0 {
			t.Error("nothing was recorded")
		}
	})
	if !invariant.Enabled {
		require.Zero(t, allocs)
	}
}
