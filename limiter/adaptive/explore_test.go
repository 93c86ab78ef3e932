//go:build go1.25

package adaptive_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-go/spillway/limiter/adaptive"
)

func cfgOf(target bool) *adaptive.Config {
	c := adaptive.DefaultConfig(200)
	c.Trusted = true
	if target {
		c.Target = 3500 * time.Microsecond
	}
	return &c
}

func TestExploreW1(t *testing.T) {
	for _, target := range []bool{true, false} {
		for _, over := range []float64{0.7, 0.95, 1.2, 2, 10} {
			synctest.Test(t, func(t *testing.T) {
				b := newBackend(1)
				c := newClient(t, 24, cfgOf(target))
				each, notes := limits(c)
				r := run{b: b, clients: []*client{c}, length: 8 * time.Second, deadline: 100 * time.Millisecond, seed: 1, each: each,
					rate: func(at time.Duration) float64 {
						if at > 2*time.Second && at < 6*time.Second {
							return over * b.capacity()
						}
						return 0.7 * b.capacity()
					}}
				all, _ := r.do()
				t.Logf("target %v %gx: before %.3f during %.3f after %.3f failed %d recovery %v\n%s", target, over, all.goodput(b, 0, 2e9), all.goodput(b, 2e9, 6e9), all.goodput(b, 6e9, 8e9),
					sum(all.failed, 0, 8e9), all.recovery(6e9, .99), curve(*notes, 2))
			})
		}
	}
}

func TestExploreW2(t *testing.T) {
	for _, target := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBackend(1)
			b.phases = []phase{{2e9, 0.3}, {8e9, 1}}
			c := newClient(t, 24, cfgOf(target))
			each, notes := limits(c)
			r := run{b: b, clients: []*client{c}, length: 11 * time.Second, deadline: 100 * time.Millisecond, seed: 1, each: each,
				rate: func(at time.Duration) float64 { return 0.7 * b.capacity() }}
			all, _ := r.do()
			t.Logf("target %v: before %.3f during %.3f after %.3f recovery %v\n%s", target, all.goodput(b, 0, 2e9), all.goodput(b, 2e9, 8e9), all.goodput(b, 8e9, 11e9),
				all.recovery(8e9, .99), curve(*notes, 2))
		})
	}
}

func TestExploreW3(t *testing.T) {
	for _, target := range []bool{true, false} {
		for _, retries := range []int{0, 2} {
			synctest.Test(t, func(t *testing.T) {
				b := newBackend(1)
				b.phases = []phase{{2e9, 0}, {3e9, 1}}
				c := newClient(t, 24, cfgOf(target))
				each, notes := limits(c)
				r := run{b: b, clients: []*client{c}, length: 6 * time.Second, deadline: 300 * time.Millisecond, seed: 1, each: each, retries: retries,
					rate: func(at time.Duration) float64 { return 0.8 * b.capacity() }}
				all, _ := r.do()
				t.Logf("target %v retries %d: before %.3f after %.3f recovery %v\n%s", target, retries, all.goodput(b, 0, 2e9), all.goodput(b, 3e9, 6e9),
					all.recovery(3e9, .99), curve(*notes, 1))
				t.Log(all.good[28:40], all.offered[28:40])
			})
		}
	}
}

func TestExploreW5(t *testing.T) {
	for _, target := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBackend(1)
			cfg := cfgOf(target)
			cfg.Classes = []adaptive.Class{{Name: "heavy"}}
			if target {
				cfg.Classes[0].Target = 70 * time.Millisecond
			}
			c := newClient(t, 24, cfg)
			each, notes := limits(c)
			heavy := adaptive.WithClass(context.Background(), "heavy")
			share := func(at time.Duration) float64 {
				if at < 3e9 {
					return 0.05
				}
				return 0.20
			}
			r := run{b: b, clients: []*client{c}, length: 10 * time.Second, deadline: time.Second, seed: 1, each: each,
				cost: func(rng *rand.Rand, at time.Duration) (context.Context, float64) {
					if rng.Float64() < share(at) {
						return heavy, 20
					}
					return context.Background(), 1
				},
				rate: func(at time.Duration) float64 { return 0.9 * b.capacity() / (0.8 + 0.2*20) }}
			all, _ := r.do()
			t.Logf("target %v: before %.4f after %.4f failed %d\n%s", target, all.goodput(b, 0, 3e9), all.goodput(b, 3e9, 10e9), sum(all.failed, 0, 10e9), curve(*notes, 3))
			t.Log(c.lane.Stats().Refused)
		})
	}
}

func TestExploreW6(t *testing.T) {
	for _, target := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBackend(1)
			c := newClient(t, 24, cfgOf(target))
			each, notes := limits(c)
			r := run{b: b, clients: []*client{c}, length: 33 * time.Second, deadline: 100 * time.Millisecond, seed: 1, each: each,
				rate: func(at time.Duration) float64 {
					if at > 30e9 {
						return 5 * b.capacity()
					}
					return 0.05 * b.capacity()
				}}
			all, _ := r.do()
			t.Logf("target %v: idle %.3f burst first 200ms %.3f then %.3f\n%s", target, all.goodput(b, 0, 30e9), all.goodput(b, 30e9, 30.2e9), all.goodput(b, 30.2e9, 33e9), curve(*notes, 10))
			t.Log((*notes)[298:])
		})
	}
}

func TestExploreW8(t *testing.T) {
	for _, target := range []bool{true, false} {
		for _, n := range []int{2, 20, 100} {
			synctest.Test(t, func(t *testing.T) {
				b := newBackend(1)
				var cs []*client
				for range n {
					cs = append(cs, newClient(t, max(2, 24/n), cfgOf(target)))
				}
				each, notes := limits(cs[0])
				r := run{b: b, clients: cs, length: 15 * time.Second, deadline: 100 * time.Millisecond, seed: 1, each: each,
					rate: func(at time.Duration) float64 {
						if at > 4e9 && at < 11e9 {
							return 3 * b.capacity()
						}
						return 0.7 * b.capacity()
					}}
				all, es := r.do()
				t.Logf("target %v n %d: before %.3f during %.3f jain %.3f after %.3f recovery %v failed %d\n%s", target, n, all.goodput(b, 0, 4e9), all.goodput(b, 4e9, 11e9), jain(es, 4e9, 11e9), all.goodput(b, 11e9, 15e9),
					all.recovery(11e9, .99), sum(all.failed, 0, 15e9), curve(*notes, 3))
			})
		}
	}
}
