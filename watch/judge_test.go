package watch_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/watch"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// held is a distribution of n equal hold times.
func held(n uint64, d time.Duration) (dist spillway.Distribution) {
	dist.Count, dist.Sum = n, time.Duration(n)*d
	dist.Buckets[spillway.DistributionBucket(d)] = n
	return dist
}

// plus adds n equal hold times to a distribution.
func plus(dist spillway.Distribution, n uint64, d time.Duration) spillway.Distribution {
	dist.Count += n
	dist.Sum += time.Duration(n) * d
	dist.Buckets[spillway.DistributionBucket(d)] += n
	return dist
}

func refused(r spillway.Reason, n uint64) (c spillway.RefusalCounts) {
	c[r] = n
	return c
}

// G-WAT-1, G-WAT-2; R24, E31, E35, E36 of the article: one case for each kind, and the
// near ones that are another.
func TestJudge(t *testing.T) {
	const ms = time.Millisecond
	// A limit of 20, used to 2 ms, and 10 s later.
	before := watch.Sample{
		Component: "lane", Name: "db", At: noon, Limit: 20, Admitted: 10_000, Released: 9_990, InUse: 10, Hold: held(1000, 2*ms),
	}
	later := func(change func(*watch.Sample)) watch.Sample {
		s := before
		s.At = noon.Add(10 * time.Second)
		change(&s)
		return s
	}
	busy := func(s *watch.Sample) {
		s.Admitted += 5000
		s.Released += 5000
		s.Hold = plus(s.Hold, 300, 2*ms)
	}
	slow := func(s *watch.Sample) { busy(s); s.Hold = plus(before.Hold, 300, 9*ms) }
	for _, c := range []struct {
		name   string
		now    watch.Sample
		change func(*watch.Thresholds)
		kind   watch.Kind
		words  []string
	}{
		{"idle", later(func(s *watch.Sample) { s.InUse, s.Admitted, s.Released = 0, before.Admitted, before.Released }), nil, watch.Idle, []string{"nothing"}},
		{"busy", later(busy), nil, watch.Busy, []string{"10 of 20", "5000 calls were admitted"}},
		{
			"contention: callers wait, permits come back",
			later(func(s *watch.Sample) { busy(s); s.InUse, s.Waiting, s.OldestWait = 20, 12, 3*ms }),
			nil, watch.Busy,
			[]string{"20 of 20", "12 callers wait"},
		},
		{
			"near 0: all in use, nobody wants more, all is well",
			later(func(s *watch.Sample) { busy(s); s.InUse = 20 }), nil, watch.Busy, nil,
		},
		{
			"stuck at 0", later(func(s *watch.Sample) {
				s.InUse, s.Waiting, s.Quiet = 20, 12, 45*time.Second
				s.Holders = []spillway.Holder{{Site: "main.transfer bank.go:7", Age: 46 * time.Second}}
			}), nil, watch.Stuck, []string{"45s", "20 of 20", "12 callers wait", "main.transfer bank.go:7", "46s"},
		},
		{
			"stuck, seen by refusals", later(func(s *watch.Sample) {
				s.InUse, s.Quiet, s.Refused = 20, 31*time.Second, refused(spillway.ReasonLimit, 700)
			}), nil, watch.Stuck, []string{"700 were turned away"},
		},
		{
			"not yet stuck, but slow already", later(func(s *watch.Sample) { s.InUse, s.Waiting = 20, 3 }),
			nil, watch.BackendSlow,
			[]string{"no permit has come back for 10s", "is usual"},
		},
		{
			"a burst after a long night", later(func(s *watch.Sample) { s.InUse, s.Waiting = 20, 12; s.Admitted += 10 }),
			nil, watch.Busy, nil,
		},
		{
			"calls that always take a minute aren't stuck", later(func(s *watch.Sample) { s.InUse, s.Waiting, s.Quiet = 20, 3, 45*time.Second }),
			func(t *watch.Thresholds) { t.Baseline = time.Minute }, watch.Busy, nil,
		},
		{
			"idle holders, nobody waits: no deadlock", later(func(s *watch.Sample) { s.InUse, s.Quiet = 20, time.Minute }), nil, watch.Busy, nil,
		},
		{
			"limit tight", later(func(s *watch.Sample) { busy(s); s.InUse = 20; s.Refused = refused(spillway.ReasonQueueFull, 412) }),
			nil, watch.LimitTight,
			[]string{"412 of 5412", "limit of 20", "would bear more"},
		},
		{
			"limit tight, in shadow", later(func(s *watch.Sample) { busy(s); s.WouldRefuse = 400 }), nil, watch.LimitTight,
			[]string{"400 of 5000 calls would have been turned away"},
		},
		{
			"limit tight, in shadow for a part of the time",
			later(func(s *watch.Sample) { busy(s); s.WouldRefuse, s.Refused = 400, refused(spillway.ReasonLimit, 100) }), nil, watch.LimitTight,
			[]string{"500 of 5100 calls were turned away"},
		},
		{
			"limit tight, and nobody refused: they wait until their time is over",
			later(func(s *watch.Sample) { busy(s); s.InUse, s.Waiting, s.TimedOut = 20, 7, 600 }),
			nil, watch.LimitTight,
			[]string{"600 of 5600 calls were turned away"},
		},
		{
			"a few refusals are none", later(func(s *watch.Sample) { busy(s); s.Refused = refused(spillway.ReasonMaxWait, 4) }), nil, watch.Busy, nil,
		},
		{
			"expired calls and refuse-all are no limit", later(func(s *watch.Sample) {
				busy(s)
				s.Refused = refused(spillway.ReasonRefuseAll, 5000)
				s.Refused[spillway.ReasonExpired] = 5000
			}), nil, watch.Busy, nil,
		},
		{
			"without a baseline", later(func(s *watch.Sample) { busy(s); s.Refused = refused(spillway.ReasonLimit, 5000) }),
			func(t *watch.Thresholds) { t.MinHolds = 2000 }, watch.LimitTight,
			[]string{"not known well enough"},
		},
		{"backend slow", later(slow), nil, watch.BackendSlow, []string{"is usual", "a higher limit"}},
		{
			"slow, and refusing: not the limit", later(func(s *watch.Sample) { slow(s); s.Refused = refused(spillway.ReasonLimit, 5000) }),
			nil, watch.BackendSlow,
			[]string{"5000 of 10000"},
		},
		{
			"slow by a given baseline", later(busy), func(t *watch.Thresholds) { t.Baseline = 500 * time.Microsecond }, watch.BackendSlow, nil,
		},
		{
			"leaking", later(func(s *watch.Sample) {
				busy(s)
				s.Holders = []spillway.Holder{{Site: "main.forget a.go:1", Age: time.Hour}, {Age: 10 * time.Minute}, {Age: time.Second}}
			}), nil, watch.Leaking, []string{"2 of 10", "main.forget a.go:1", "1h0m0s"},
		},
		{
			"leaking, untracked", later(func(s *watch.Sample) { s.InUse, s.Ghosts, s.Quiet = 3, 1, 6*time.Minute }),
			nil, watch.Leaking,
			[]string{"2 of 20", "track the holders"},
		},
		{
			"ghosts are no leak", later(func(s *watch.Sample) { s.InUse, s.Ghosts, s.Quiet = 3, 3, 6*time.Minute }), nil, watch.Busy, nil,
		},
		{
			"another guard of that name", func() watch.Sample { s := later(busy); s.Admitted, s.Released, s.InUse = 0, 0, 0; return s }(), nil, watch.Idle, nil,
		},
		{"no time has passed", before, nil, watch.Busy, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			thresholds := watch.DefaultThresholds()
			if c.change != nil {
				c.change(&thresholds)
			}
			v := watch.Judge(before, c.now, thresholds)
			require.Equal(t, c.kind.String(), v.Kind.String(), v.Reason)
			require.NotEmpty(t, v.Reason)
			for _, w := range c.words {
				require.Contains(t, v.Reason, w)
			}
			require.Equal(t, v, watch.Judge(before, c.now, thresholds))
		})
	}
}

// R184, X3: zero thresholds find what needs none, and nothing divides by nothing.
func TestJudgeWithZeroThresholdsAndSamples(t *testing.T) {
	require.Equal(t, watch.Idle, watch.Judge(watch.Sample{}, watch.Sample{}, watch.Thresholds{}).Kind)
	now := watch.Sample{At: noon, InUse: 1, Waiting: 5, Quiet: time.Hour, Holders: []spillway.Holder{{Age: time.Hour}}}
	require.Equal(t, watch.Busy, watch.Judge(watch.Sample{}, now, watch.Thresholds{}).Kind)
	now.Refused = refused(spillway.ReasonLimit, 1)
	require.Equal(t, watch.LimitTight, watch.Judge(watch.Sample{}, now, watch.Thresholds{}).Kind)
	require.Equal(t, "kind(77)", watch.Kind(77).String())
}

// L-22: every fault of a configuration is named.
func TestConfigListsEveryFault(t *testing.T) {
	_, err := watch.New(watch.Config{
		Holders: -1, Ring: math.MaxInt, TraceRate: -1,
		Thresholds: watch.Thresholds{Baseline: -1, StuckAfter: -1, LeakAfter: -1, SlowFactor: math.NaN(), TightShare: 2},
	})
	for _, field := range []string{
		"Logger", "Interval", "Every", "Holders", "Ring", "TraceRate", "Thresholds.Baseline", "Thresholds.StuckAfter",
		"Thresholds.LeakAfter", "Thresholds.SlowFactor is NaN", "Thresholds.TightShare",
	} {
		require.ErrorContains(t, err, field)
	}
}
