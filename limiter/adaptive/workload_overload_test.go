//go:build go1.25

package adaptive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The workloads are those of the overload lab, W1 to W12, cut short: a backend of 16 slots
// with exponential service of 2 ms, which becomes slower when more than 32 calls are there.
// In front of it a lane that predicts, with the controller. A lane with a limit of 128,
// which somebody guessed, serves 40 % in W1, and nothing more after W2 and W3.

// W1: at 1.2, 2 and 10 times the capacity: goodput, hardly anything wasted, recovery.
func TestWorkloadOverload(t *testing.T) {
	for _, over := range []float64{1.2, 2, 10} {
		inBubbles(t, adapting, func(t *testing.T, v variant) {
			b := newBackend(1)
			c, r := alone(t, v, b, 4*time.Second)
			r.rate = times(b, phase{0, 0.7}, phase{time.Second, over}, phase{3 * time.Second, 0.7})
			all, _ := r.do()
			goodput := all.goodput(b, time.Second, 3*time.Second)
			t.Logf("%gx: goodput %.3f, failed %d, recovery %v, limit %.1f", over, goodput, sum(all.failed, 0, r.length), all.recovery(3*time.Second, 0.99), c.ctl.Stats().Limit)
			require.GreaterOrEqual(t, goodput, 0.98)
			require.LessOrEqual(t, sum(all.failed, 0, r.length), sum(all.good, 0, r.length)/100)
			require.LessOrEqual(t, all.recovery(3*time.Second, 0.99), 200*ms)
		})
	}
}

// Below its capacity a backend is used as with the right static limit, once the limit has
// grown: the first tenth of a second is its beginning.
func TestWorkloadNormalLoad(t *testing.T) {
	for _, load := range []float64{0.7, 0.95} {
		inBubbles(t, adapting, func(t *testing.T, v variant) {
			b := newBackend(1)
			_, r := alone(t, v, b, 3*time.Second)
			r.rate = times(b, phase{0, load})
			all, _ := r.do()
			require.GreaterOrEqual(t, all.goodput(b, 200*ms, r.length), 0.99, load)
		})
	}
}

// W2: the capacity falls to 30 % and comes back: what is left of it is used. Without the
// healthy floor the limit would fall to its least, and use a sixteenth of that.
func TestWorkloadCapacityDrop(t *testing.T) {
	inBubbles(t, adapting, func(t *testing.T, v variant) {
		b := newBackend(1)
		b.phases = []phase{{3 * time.Second, 0.3}, {8 * time.Second, 1}}
		c, r := alone(t, v, b, 10*time.Second)
		r.rate = times(b, phase{0, 0.7})
		all, _ := r.do()
		goodput := all.goodput(b, 3*time.Second, 8*time.Second)
		t.Logf("goodput of what is left %.3f, recovery %v, healthy %.1f", goodput, all.recovery(8*time.Second, 0.99), c.ctl.Stats().Healthy)
		require.GreaterOrEqual(t, goodput, 0.95)
		require.LessOrEqual(t, all.recovery(8*time.Second, 0.99), 300*ms)
	})
}

// W6: half a minute at 5 %, then five times the capacity: an idle limit doesn't grow, and
// a burst finds a grown one within 200 ms.
func TestWorkloadBurstAfterIdle(t *testing.T) {
	inBubbles(t, adapting[:2], func(t *testing.T, v variant) {
		b := newBackend(1)
		c, r := alone(t, v, b, 32*time.Second)
		burst := 30 * time.Second
		r.rate = times(b, phase{0, 0.05}, phase{burst, 5})
		r.each = func(at time.Duration) {
			if at > 10*time.Second && at < burst {
				require.LessOrEqual(t, c.ctl.Stats().Limit, 2*5.0+1)
			}
		}
		all, _ := r.do()
		require.GreaterOrEqual(t, all.goodput(b, 0, burst), 0.999)
		require.GreaterOrEqual(t, all.goodput(b, burst, burst+200*ms), 0.9)
		require.GreaterOrEqual(t, all.goodput(b, burst+200*ms, r.length), 0.98)
	})
}
