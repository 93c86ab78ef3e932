//go:build go1.25

package adaptive_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// cold start at 3x, clients join one after the other
func TestQ8a(t *testing.T) {
	for _, n := range []int{1, 2, 20} {
		for _, v := range variants[1:3] {
			for seed := range uint64(2) {
				synctest.Test(t, func(t *testing.T) {
					b := newBackend(seed + 1)
					var cs []*client
					for range n {
						cs = append(cs, newClient(t, max(2, v.static/n), v.cfg()))
					}
					each, notes := limitsOf(cs[0])
					last, notes2 := limitsOf(cs[n-1])
					r := run{b: b, clients: cs, length: 12 * time.Second, deadline: 100 * time.Millisecond, seed: seed + 1, each: func(at time.Duration) { each(at); last(at) },
						join: time.Second * 4 / time.Duration(n),
						rate: func(at time.Duration) float64 { return 3 * b.capacity() }}
					all, es := r.do()
					t.Logf("W8a n %3d %-10s all %.3f last 6 s %.3f jain %.3f failed %d | %s| %s", n, v.name, all.goodput(b, 0, 12e9), all.goodput(b, 6e9, 12e9), jain(es, 6e9, 12e9),
						sum(all.failed, 0, 15e9), curve(*notes, 6), curve(*notes2, 6))
				})
			}
		}
	}
}

func pareto(rng *rand.Rand) float64 { // shape 1.5, mean 1
	return 1. / 3 / math.Pow(1-rng.Float64(), 1/1.5)
}

func TestQ10(t *testing.T) {
	for _, k := range []struct {
		name    string
		draw    func(*rand.Rand) float64
		service time.Duration
		slots   int
		length  time.Duration
		target  time.Duration
	}{
		{"exp 30ms", nil, 30 * time.Millisecond, 32, 60 * time.Second, 32 * time.Millisecond},
		{"exp 2ms", nil, 2 * time.Millisecond, 16, 120 * time.Second, 2400 * time.Microsecond},
		{"pareto 2ms", pareto, 2 * time.Millisecond, 16, 60 * time.Second, 2400 * time.Microsecond},
		{"exp 200us", nil, 200 * time.Microsecond, 4, 20 * time.Second, 700 * time.Microsecond},
		{"const 5ms", func(*rand.Rand) float64 { return 1 }, 5 * time.Millisecond, 8, 60 * time.Second, 9 * time.Millisecond},
		{"exp 30ms", nil, 30 * time.Millisecond, 32, 60 * time.Second, 32 * time.Millisecond},
	} {
		for _, v := range variants {
			if v.name == "learned from 8c" {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				b := newBackend(1)
				b.draw, b.service, b.slots = k.draw, k.service, k.slots
				b.net = k.service / 10
				cfg := v.cfg()
				static := v.static * k.slots / 16
				if cfg != nil && cfg.Target > 0 {
					cfg.Target = k.target
				}
				c := newClient(t, static, cfg)
				each, notes := limitsOf(c)
				r := run{b: b, clients: []*client{c}, length: k.length, deadline: 50 * k.service, seed: 1, each: each,
					rate: func(at time.Duration) float64 { return 3 * b.capacity() }}
				all, _ := r.do()
				t.Logf("W10 %s %-10s all %.3f first half %.3f failed %d | %s", k.name, v.name, all.goodput(b, 0, k.length), all.goodput(b, 0, k.length/2),
					sum(all.failed, 0, k.length), curve(*notes, len(*notes)/20+1))
			})
		}
	}
}

func TestQRate(t *testing.T) {
	for _, over := range []float64{1.5, 10} {
		forAll(t, func(t *testing.T, v variant, seed uint64) {
			b := newBackend(seed)
			b.quota = 2000
			c, r, notes := single(t, v, b, seed)
			r.length = 20 * time.Second
			r.rate = func(at time.Duration) float64 { return over * b.quota }
			all, _ := r.do()
			good := sum(all.good, 0, 20e9)
			t.Logf("rate %vx %-12s goodput %.3f sends per good %.2f | %s", over, v.name, float64(good)/(min(over, 1)*b.quota*20), float64(c.lane.Stats().Admitted)/float64(good), curve(*notes, 5))
		})
	}
}
