package retry_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/retry"
)

var jitters = []retry.Jitter{retry.FullJitter, retry.EqualJitter, retry.DecorrelatedJitter, retry.NoJitter}

// rands are random numbers, and what a careless source may return instead.
var rands = map[string]float64{
	"least": 0, "half": 0.5, "most": math.Nextafter(1, 0), "one": 1, "more": 7, "negative": -1,
	"NaN": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1),
}

// R69: 10 ms that double, up to 500 ms. G-RET-1.
func TestPolicyDelayCeilingDoublesUpToTheCap(t *testing.T) {
	p := retry.DefaultPolicy()
	p.Jitter = retry.NoJitter
	var got []int64
	for n := range 8 {
		got = append(got, p.Delay(n).Milliseconds())
	}
	require.Equal(t, []int64{10, 20, 40, 80, 160, 320, 500, 500}, got)
	require.Equal(t, p.Delay(0), p.Delay(-1))
	require.Equal(t, p.Delay(0), p.Delay(math.MinInt))
}

// C1, C3, C5, C6, C7, C10, C25, P17, P18, R73, T-02: no attempt number, duration or random
// number gives a negative delay or one over the cap. G-RET-1.
func TestPolicyDelayStaysWithinZeroAndCap(t *testing.T) {
	numbers := []int{math.MinInt, -1, 0, math.MaxInt32, math.MaxInt - 1, math.MaxInt}
	for n := range 10_001 {
		numbers = append(numbers, n)
	}
	for _, base := range []time.Duration{-5, 0, 1, 9, time.Millisecond, time.Hour, math.MaxInt64} {
		for _, most := range []time.Duration{-5, 0, 1, 10 * time.Millisecond, 5 * time.Minute, math.MaxInt64} {
			for _, j := range jitters {
				for name, f := range rands {
					p := retry.Policy{Base: base, Cap: most, Jitter: j, Rand: func() float64 { return f }}
					for i, n := range numbers {
						if i > 100 && i%97 != 0 {
							continue
						}
						if d := p.Delay(n); d < 0 || d > max(most, 0) {
							t.Fatalf("base %v, cap %v, jitter %v, rand %s: Delay(%d) = %v", base, most, j, name, n, d)
						}
					}
				}
			}
		}
	}
}

// R70: each kind stays inside its own bounds and reaches both of them.
func TestPolicyDelayJitterStaysInItsBounds(t *testing.T) {
	const ms = time.Millisecond
	for j, bounds := range map[retry.Jitter][3][2]time.Duration{
		retry.FullJitter:         {{0, 20 * ms}, {0, 40 * ms}, {0, 80 * ms}},
		retry.EqualJitter:        {{10 * ms, 20 * ms}, {20 * ms, 40 * ms}, {40 * ms, 80 * ms}},
		retry.DecorrelatedJitter: {{10 * ms, 30 * ms}, {10 * ms, 90 * ms}, {10 * ms, 270 * ms}},
		retry.NoJitter:           {{20 * ms, 20 * ms}, {40 * ms, 40 * ms}, {80 * ms, 80 * ms}},
	} {
		p := retry.DefaultPolicy()
		p.Jitter = j
		p.Rand = seeded(7)
		for i, b := range bounds {
			least, most := time.Duration(math.MaxInt64), time.Duration(0)
			for range 2000 {
				d := p.Delay(i + 1)
				least, most = min(least, d), max(most, d)
			}
			width := b[1] - b[0]
			require.GreaterOrEqual(t, least, b[0], "%v", j)
			require.LessOrEqual(t, most, b[1], "%v", j)
			require.LessOrEqual(t, least, b[0]+width/50, "%v", j)
			require.GreaterOrEqual(t, most, b[1]-width/50, "%v", j)
		}
	}
}

// C9, C34: at the cap, too, delays are a spread and not a spike.
func TestPolicyDelayAtTheCapStillDiffers(t *testing.T) {
	for _, j := range jitters[:3] {
		p := retry.DefaultPolicy()
		p.Jitter = j
		p.Rand = seeded(9)
		var slots [10]int
		distinct := map[time.Duration]bool{}
		for range 10_000 {
			d := p.Delay(1000)
			distinct[d] = true
			slots[min(int(d*10/p.Cap), 9)]++
		}
		require.Greater(t, len(distinct), 9_900, "%v", j)
		for _, n := range slots {
			require.Less(t, n, 2_300, "%v: %v", j, slots) // equal jitter has five slots of 2000
		}
	}
}

// X4, R71, R76, C11, C12: the floor and the hint are minimums, the spread is above
// them, and without a hint the cap holds. G-RET-2.
func TestPolicyDelayAfterHasAFloorAndHonoursHints(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		err         error
		n           int
		jitter      retry.Jitter
		least, most time.Duration
	}{
		"refused":                {errRefused, 1, retry.FullJitter, 50 * ms, 200 * ms},
		"refused twice":          {errRefused, 2, retry.EqualJitter, 50 * ms, 400 * ms},
		"refused often":          {errRefused, math.MaxInt32, retry.DecorrelatedJitter, 50 * ms, 500 * ms},
		"refused, no jitter":     {errRefused, 1, retry.NoJitter, 50 * ms, 50 * ms},
		"hint of a second":       {retry.After(errRefused, time.Second), 1, retry.FullJitter, time.Second, 1150 * ms},
		"hint below the floor":   {retry.After(errRefused, 1), 1, retry.FullJitter, 50 * ms, 200 * ms},
		"hint without a class":   {retry.After(errOp, time.Second), 1, retry.FullJitter, time.Second, 1150 * ms},
		"hint of a timeout":      {retry.After(&classError{outcomeTimeout}, time.Second), 1, retry.FullJitter, time.Second, 1020 * ms},
		"hint, no jitter":        {retry.After(&classError{outcomeTimeout}, time.Second), 1, retry.NoJitter, time.Second, time.Second},
		"hint of for ever":       {retry.After(errRefused, math.MaxInt64), 1, retry.FullJitter, math.MaxInt64, math.MaxInt64},
		"negative hint":          {retry.After(errRefused, -time.Hour), 1, retry.FullJitter, 50 * ms, 200 * ms},
		"other":                  {errOp, 1, retry.FullJitter, 0, 20 * ms},
		"other, equal":           {errOp, 1, retry.EqualJitter, 10 * ms, 20 * ms},
		"other, decorrelated":    {errOp, 2, retry.DecorrelatedJitter, 10 * ms, 90 * ms},
		"other, at the cap":      {errOp, math.MaxInt, retry.FullJitter, 0, 500 * ms},
		"other, a foreign error": {foreignHint(-5), 1, retry.FullJitter, 0, 20 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			p := retry.DefaultPolicy()
			p.Jitter = c.jitter
			for rand, f := range rands {
				p.Rand = func() float64 { return f }
				d := p.DelayAfter(c.n, c.err)
				require.GreaterOrEqual(t, d, c.least, rand)
				require.LessOrEqual(t, d, c.most, rand)
			}
			p.Rand = func() float64 { return 1 }
			require.Equal(t, c.most, p.DelayAfter(c.n, c.err))
			p.Rand = func() float64 { return 0 }
			require.Equal(t, c.least, p.DelayAfter(c.n, c.err))
		})
	}
}

// C31, C48: delays keep nothing, whoever draws how many.
func TestPolicyDelayTakesNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	policies := make([]retry.Policy, 1000)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 1_000_000 {
		p := &policies[i%len(policies)]
		*p = retry.DefaultPolicy()
		p.Jitter = jitters[i%4]
		if p.Delay(i) > p.Cap {
			t.Fatal(i)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(64<<10))
	require.Less(t, after.Mallocs-before.Mallocs, uint64(10_000))
}

// C1, C3, C6, P17, X4: the bounds hold for every policy there can be.
func FuzzPolicyDelay(f *testing.F) {
	f.Add(int64(10_000_000), int64(500_000_000), int64(50_000_000), int64(0), 1, uint8(0), 0.5)
	f.Add(int64(1), int64(math.MaxInt64), int64(0), int64(math.MaxInt64), 63, uint8(1), 1.0)
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64/2), int64(1), math.MaxInt, uint8(2), 0.9999999999999999)
	f.Add(int64(-1), int64(-1), int64(-1), int64(-1), -1, uint8(3), math.NaN())
	f.Fuzz(func(t *testing.T, base, most, floor, hint int64, n int, jitter uint8, next float64) {
		p := retry.Policy{
			MaxAttempts: retry.Unlimited, Base: time.Duration(base), Cap: time.Duration(most), Floor: time.Duration(floor),
			Jitter: retry.Jitter(jitter), Rand: func() float64 { return next },
		}
		if d := p.Delay(n); d < 0 || d > max(p.Cap, 0) {
			t.Fatalf("Delay(%d) = %v with %+v", n, d, p)
		}
		if p.Validate() != nil {
			return
		}
		if d := p.DelayAfter(n, errRefused); d < p.Floor || d > p.Cap {
			t.Fatalf("DelayAfter(%d, refused) = %v with %+v", n, d, p)
		}
		if d := p.DelayAfter(n, retry.After(errRefused, time.Duration(hint))); d < p.Floor || d < time.Duration(hint) {
			t.Fatalf("DelayAfter(%d, after %v) = %v with %+v", n, time.Duration(hint), d, p)
		}
	})
}
