//go:build go1.25

package adaptive_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// W5: one in twenty calls takes twenty times as long, then one in five, at 90 % of the
// capacity: the mix changed, nothing is overloaded. What is refused is what the right
// static limit refuses, too, because such calls come in clumps.
func TestWorkloadClassMix(t *testing.T) {
	refused := map[string]float64{}
	inBubbles(t, append([]variant{{"static", static}}, adapting...), func(t *testing.T, v variant) {
		b := newBackend(1)
		config := v.config
		v.config = func() *adaptive.Config {
			cfg := config()
			if cfg != nil {
				cfg.Classes = []adaptive.Class{{Name: "heavy"}}
				if cfg.Target > 0 {
					cfg.Classes[0].Target = 40 * ms
				}
			}
			return cfg
		}
		_, r := alone(t, v, b, 13*time.Second)
		r.deadline = time.Second
		r.rate = func(time.Duration) float64 { return 0.9 * b.capacity() / (0.8 + 0.2*20) }
		heavy := adaptive.WithClass(context.Background(), "heavy")
		r.cost = func(rng *rand.Rand, at time.Duration) (context.Context, float64) {
			share := 0.05
			if at > 3*time.Second {
				share = 0.2
			}
			if rng.Float64() < share {
				return heavy, 20
			}
			return context.Background(), 1
		}
		all, _ := r.do()
		refused[v.name] = float64(sum(all.refused, 0, r.length)) / float64(sum(all.offered, 0, r.length))
	})
	t.Logf("refused: %.3v", refused)
	for name, share := range refused {
		require.LessOrEqual(t, share, refused["static"]+0.02, name)
	}
}

func pareto(rng *rand.Rand) float64 { return 1. / 3 / math.Pow(1-rng.Float64(), 1/1.5) }

// W10, and three that no constant was tuned on: three times too much, for long: the limit
// has no trend, whatever the service is like, and the capacity is used. The last one is
// slow: one in thirty calls takes longer than is waited for, however well the backend is.
func TestWorkloadNoDrift(t *testing.T) {
	for _, k := range []struct {
		name    string
		draw    func(*rand.Rand) float64
		slots   int
		service time.Duration
		length  time.Duration
		target  time.Duration
		goodput float64
	}{
		{"2 ms", nil, 16, 2 * ms, 2 * time.Minute, 2400 * time.Microsecond, 0.98},
		{"2 ms, Pareto", pareto, 16, 2 * ms, 30 * time.Second, 2400 * time.Microsecond, 0.93},
		{"200 µs", nil, 4, 200 * time.Microsecond, 5 * time.Second, 240 * time.Microsecond, 0.97},
		{"5 ms, constant", func(*rand.Rand) float64 { return 1 }, 8, 5 * ms, 30 * time.Second, 9 * ms, 0.98},
		{"30 ms", nil, 32, 30 * ms, 30 * time.Second, 32 * ms, 0.88},
	} {
		t.Run(k.name, func(t *testing.T) {
			inBubbles(t, adapting[:2], func(t *testing.T, v variant) {
				b := newBackend(1)
				b.draw, b.slots, b.service, b.net = k.draw, k.slots, k.service, k.service/10
				cfg := v.config()
				if cfg.Target > 0 {
					cfg.Target = k.target
				}
				c := newClient(t, 3*k.slots/2, cfg)
				r := &run{b: b, clients: []*client{c}, length: k.length, deadline: max(20*k.service, 100*ms), seed: 1}
				r.rate = times(b, phase{0, 1.5})
				var limits []float64
				r.each = func(time.Duration) { limits = append(limits, c.ctl.Stats().Limit) }
				all, _ := r.do()
				third := len(limits) / 3
				before, after := mean(limits[third:2*third]), mean(limits[2*third:])
				t.Logf("goodput %.3f, limit %.1f then %.1f", all.goodput(b, 0, k.length), before, after)
				require.GreaterOrEqual(t, all.goodput(b, 0, k.length), k.goodput)
				require.InEpsilon(t, before, after, 0.1, "a trend")
				require.Greater(t, after, 1.1*float64(k.slots))
				require.Less(t, after, 2.5*float64(k.slots))
			})
		})
	}
}

func mean(xs []float64) (m float64) {
	for _, x := range xs {
		m += x / float64(len(xs))
	}
	return m
}

// G-ADA-7, W11: one key is hot, and half of all calls are told so: the node is well, and
// its limit doesn't move.
func TestWorkloadHotKey(t *testing.T) {
	inBubbles(t, adapting[:2], func(t *testing.T, v variant) {
		limits := map[bool]float64{}
		for _, hot := range []bool{false, true} {
			b := newBackend(1)
			c, r := alone(t, v, b, 4*time.Second)
			r.rate = times(b, phase{0, 0.8})
			if hot {
				r.also = func() error { time.Sleep(b.net); return outcome(spillway.OutcomeKeyOverload) }
			}
			var sampled []float64
			r.each = func(at time.Duration) {
				if at > time.Second {
					sampled = append(sampled, c.ctl.Stats().Limit)
				}
			}
			all, _ := r.do()
			require.GreaterOrEqual(t, all.goodput(b, 500*ms, r.length), 0.995)
			require.Zero(t, c.ctl.Stats().Errors)
			limits[hot] = mean(sampled)
		}
		t.Logf("limit %.1f, with a hot key %.1f", limits[false], limits[true])
		require.InEpsilon(t, limits[false], limits[true], 0.25)
	})
}
