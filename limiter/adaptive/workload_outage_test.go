//go:build go1.25

package adaptive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

// W3, W7: the backend stands still for a second, with and without retries: what it is
// sent meanwhile is bounded, and it is back at once. With a limit of 128 it never is.
func TestWorkloadStall(t *testing.T) {
	for _, retries := range []int{0, 2} {
		inBubbles(t, adapting, func(t *testing.T, v variant) {
			b := newBackend(1)
			b.phases = []phase{{2 * time.Second, 0}, {3 * time.Second, 1}}
			c, r := alone(t, v, b, 5*time.Second)
			r.retries, r.deadline = retries, 300*ms
			r.rate = times(b, phase{0, 0.8})
			var sent []uint64
			r.each = func(time.Duration) { sent = append(sent, c.lane.Stats().Admitted) }
			all, _ := r.do()
			recovery := all.recovery(3*time.Second, 0.98)
			t.Logf("retries %d: recovery %v, sent in the last 700 ms of the stall %d", retries, recovery, sent[30]-sent[23])
			require.LessOrEqual(t, recovery, 400*ms)
			if v.name != "untrusted" {
				require.LessOrEqual(t, sent[30]-sent[23], uint64(10))
			}
		})
	}
}

// W4: others overload the backend for ten seconds, and all our calls time out: we get out
// of the way within a second, keep asking a few times a second, and are back within one.
func TestWorkloadForeignOverload(t *testing.T) {
	inBubbles(t, adapting[:2], func(t *testing.T, v variant) {
		b := newBackend(1)
		b.phases = []phase{{2 * time.Second, 0.02}, {12 * time.Second, 1}}
		c, r := alone(t, v, b, 15*time.Second)
		r.rate = times(b, phase{0, 0.7})
		var limits []float64
		var sent []uint64
		r.each = func(time.Duration) {
			limits = append(limits, c.ctl.Stats().Limit)
			sent = append(sent, c.lane.Stats().Admitted)
		}
		all, _ := r.do()
		t.Logf("limit %.1f -> %.2f in a second, %d sent in 8 s, recovery %v", limits[20], limits[30], sent[120]-sent[40], all.recovery(12*time.Second, 0.98))
		require.LessOrEqual(t, limits[30], limits[20]/10)
		require.LessOrEqual(t, sent[120]-sent[40], uint64(20*8))
		require.GreaterOrEqual(t, sent[120]-sent[40], uint64(2*8))
		require.LessOrEqual(t, all.recovery(12*time.Second, 0.98), time.Second)
	})
}

// W12: ten times what the backend takes, and it refuses the rest itself; then it refuses
// everything for four seconds. What is refused is hardly sent.
func TestWorkloadRejections(t *testing.T) {
	inBubbles(t, adapting[:2], func(t *testing.T, v variant) {
		b := newBackend(1)
		b.bound = 2 * b.slots
		c, r := alone(t, v, b, 10*time.Second)
		r.rate = times(b, phase{0, 0.7}, phase{time.Second, 10}, phase{2500 * ms, 0.7})
		var sent []uint64
		r.each = func(at time.Duration) {
			sent = append(sent, c.lane.Stats().Admitted)
			switch at {
			case 4 * time.Second:
				b.refuse(true)
			case 8 * time.Second:
				b.refuse(false)
			}
		}
		all, _ := r.do()
		perGood := float64(sent[25]-sent[10]) / float64(sum(all.good, time.Second, 2500*ms))
		dead := float64(sent[80]-sent[45]) / 3.5
		t.Logf("goodput %.3f, sends per good %.2f, probes a second %.1f, recovery %v", all.goodput(b, time.Second, 2500*ms), perGood, dead, all.recovery(8*time.Second, 0.98))
		require.GreaterOrEqual(t, all.goodput(b, time.Second, 2500*ms), 0.98)
		require.LessOrEqual(t, perGood, 1.2)
		require.LessOrEqual(t, dead, 20.0)
		require.GreaterOrEqual(t, dead, 2.0)
		require.LessOrEqual(t, all.recovery(8*time.Second, 0.98), time.Second)
	})
}

// A backend that takes 2,000 calls a second and answers the others with overload, at ten
// times that: a limit is the wrong tool for a rate, and yet finds it within a tenth or so,
// with a fifth of the calls in vain. The right static limit sends ten for one.
func TestWorkloadRate(t *testing.T) {
	inBubbles(t, adapting[:2], func(t *testing.T, v variant) {
		b := newBackend(1)
		b.quota = 2000
		c, r := alone(t, v, b, 6*time.Second)
		r.rate = func(time.Duration) float64 { return 10 * b.quota }
		all, _ := r.do()
		good := float64(sum(all.good, 0, r.length))
		t.Logf("goodput %.3f, sends per good %.2f", good/(b.quota*6), float64(c.lane.Stats().Admitted)/good)
		require.GreaterOrEqual(t, good, 0.85*b.quota*6)
		require.LessOrEqual(t, float64(c.lane.Stats().Admitted)/good, 1.5)
		require.Equal(t, uint64(0), c.lane.Stats().Ended.Of(spillway.OutcomeTimeout))
	})
}
