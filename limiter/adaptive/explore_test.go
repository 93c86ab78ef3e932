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
		c.Target = 2400 * time.Microsecond
	}
	return &c
}

type variant struct {
	name   string
	static int
	cfg    func() *adaptive.Config
}

var variants = []variant{
	{"static 1.5c", 24, func() *adaptive.Config { return nil }},
	{"target", 24, func() *adaptive.Config { return cfgOf(true) }},
	{"learned", 24, func() *adaptive.Config { return cfgOf(false) }},
	{"untrusted", 24, func() *adaptive.Config { c := cfgOf(false); c.Trusted = false; return c }},
}

func forAll(t *testing.T, f func(t *testing.T, v variant, seed uint64)) {
	for _, v := range variants {
		for seed := range uint64(2) {
			synctest.Test(t, func(t *testing.T) { f(t, v, seed+1) })
		}
	}
}

func single(t *testing.T, v variant, b *backend, seed uint64) (*client, *run, *[]float64) {
	c := newClient(t, v.static, v.cfg())
	each, notes := limitsOf(c)
	return c, &run{b: b, clients: []*client{c}, deadline: 100 * time.Millisecond, seed: seed, each: each}, notes
}

func TestXW1(t *testing.T) {
	for _, over := range []float64{0.7, 0.95, 1.2, 2, 10} {
		forAll(t, func(t *testing.T, v variant, seed uint64) {
			b := newBackend(seed)
			_, r, notes := single(t, v, b, seed)
			r.length = 6 * time.Second
			r.rate = func(at time.Duration) float64 {
				if at > 2*time.Second && at < 5*time.Second {
					return over * b.capacity()
				}
				return 0.7 * b.capacity()
			}
			all, _ := r.do()
			t.Logf("W1 %4gx %-16s before %.3f during %.3f after %.3f failed %5d recovery %v | %s", over, v.name, all.goodput(b, 0, 2e9), all.goodput(b, 2e9, 5e9), all.goodput(b, 5e9, 6e9),
				sum(all.failed, 0, 8e9), all.recovery(5e9, .99), curve(*notes, 3))
		})
	}
}

func TestXW2(t *testing.T) {
	forAll(t, func(t *testing.T, v variant, seed uint64) {
		b := newBackend(seed)
		b.phases = []phase{{3e9, 0.3}, {8e9, 1}}
		_, r, notes := single(t, v, b, seed)
		r.length = 10 * time.Second
		r.rate = func(at time.Duration) float64 { return 0.7 * b.capacity() }
		all, _ := r.do()
		t.Logf("W2 %-16s before %.3f during %.3f after %.3f recovery %v | %s", v.name, all.goodput(b, 0, 3e9), all.goodput(b, 3e9, 8e9), all.goodput(b, 8e9, 10e9),
			all.recovery(8e9, .99), curve(*notes, 4))
	})
}

func TestXW3(t *testing.T) {
	for _, retries := range []int{0, 2} {
		forAll(t, func(t *testing.T, v variant, seed uint64) {
			b := newBackend(seed)
			b.phases = []phase{{3e9, 0}, {4e9, 1}}
			_, r, notes := single(t, v, b, seed)
			r.length, r.retries, r.deadline = 7*time.Second, retries, 300*time.Millisecond
			r.rate = func(at time.Duration) float64 { return 0.8 * b.capacity() }
			all, _ := r.do()
			t.Logf("W3 retries %d %-16s before %.3f after %.3f recovery %v | %s %v", retries, v.name, all.goodput(b, 0, 3e9), all.goodput(b, 4e9, 7e9),
				all.recovery(4e9, .98), curve(*notes, 1), all.good[38:50])
		})
	}
}

func TestXW5(t *testing.T) {
	forAll(t, func(t *testing.T, v variant, seed uint64) {
		b := newBackend(seed)
		if c := v.cfg(); c != nil {
			old := v.cfg
			v.cfg = func() *adaptive.Config {
				c := old()
				c.Classes = []adaptive.Class{{Name: "heavy"}}
				if c.Target > 0 {
					c.Classes[0].Target = 40 * time.Millisecond
				}
				return c
			}
		}
		c, r, notes := single(t, v, b, seed)
		heavy := adaptive.WithClass(context.Background(), "heavy")
		share := func(at time.Duration) float64 {
			if at < 3e9 {
				return 0.05
			}
			return 0.20
		}
		r.length, r.deadline = 23*time.Second, time.Second
		r.cost = func(rng *rand.Rand, at time.Duration) (context.Context, float64) {
			if rng.Float64() < share(at) {
				return heavy, 20
			}
			return context.Background(), 1
		}
		r.rate = func(at time.Duration) float64 { return 0.9 * b.capacity() / (0.8 + 0.2*20) }
		all, _ := r.do()
		t.Logf("W5 %-16s before %.4f after %.4f failed %d refused %v | %s", v.name, all.goodput(b, 0, 3e9), all.goodput(b, 3e9, 23e9), sum(all.failed, 0, 23e9), c.lane.Stats().Refused, curve(*notes, 6))
	})
}

func TestXW6(t *testing.T) {
	forAll(t, func(t *testing.T, v variant, seed uint64) {
		b := newBackend(seed)
		_, r, notes := single(t, v, b, seed)
		r.length = 33 * time.Second
		r.rate = func(at time.Duration) float64 {
			if at > 30e9 {
				return 5 * b.capacity()
			}
			return 0.05 * b.capacity()
		}
		all, _ := r.do()
		t.Logf("W6 %-16s idle %.3f burst first 200ms %.3f then %.3f | %s", v.name, all.goodput(b, 0, 30e9), all.goodput(b, 30e9, 30.2e9), all.goodput(b, 30.2e9, 33e9), curve(*notes, 14))
	})
}

func TestXW8(t *testing.T) {
	for _, n := range []int{2, 20, 100} {
		forAll(t, func(t *testing.T, v variant, seed uint64) {
			b := newBackend(seed)
			var cs []*client
			for range n {
				cs = append(cs, newClient(t, max(2, v.static/n), v.cfg()))
			}
			each, notes := limitsOf(cs[0])
			r := run{b: b, clients: cs, length: 12 * time.Second, deadline: 100 * time.Millisecond, seed: seed, each: each,
				rate: func(at time.Duration) float64 {
					if at > 3e9 && at < 9e9 {
						return 3 * b.capacity()
					}
					return 0.7 * b.capacity()
				}}
			all, es := r.do()
			t.Logf("W8 n %3d %-16s before %.3f during %.3f jain %.3f after %.3f recovery %v failed %d | %s", n, v.name, all.goodput(b, 0, 3e9), all.goodput(b, 3e9, 9e9), jain(es, 3e9, 9e9), all.goodput(b, 9e9, 12e9),
				all.recovery(9e9, .99), sum(all.failed, 0, 15e9), curve(*notes, 4))
		})
	}
}

func TestXW4(t *testing.T) {
	forAll(t, func(t *testing.T, v variant, seed uint64) {
		b := newBackend(seed)
		b.phases = []phase{{3e9, 0.02}, {23e9, 1}} // all time out
		c, r, notes := single(t, v, b, seed)
		r.length, r.deadline = 27*time.Second, 100*time.Millisecond
		r.rate = func(at time.Duration) float64 { return 0.7 * b.capacity() }
		var sent []float64
		old := r.each
		r.each = func(at time.Duration) { old(at); sent = append(sent, float64(c.lane.Stats().Admitted)) }
		all, _ := r.do()
		t.Logf("W4 %-16s before %.3f after %.3f recovery %v sent/s %.0f | %s %v", v.name, all.goodput(b, 0, 3e9), all.goodput(b, 23e9, 27e9),
			all.recovery(23e9, .98), (sent[len(sent)-45]-sent[40])/18.5, curve(*notes, 5), all.good[228:245])
	})
}

func TestXW7(t *testing.T) {
	for _, load := range []float64{0.6, 0.85} {
		forAll(t, func(t *testing.T, v variant, seed uint64) {
			b := newBackend(seed)
			b.phases = []phase{{3e9, 0}, {4e9, 1}}
			_, r, notes := single(t, v, b, seed)
			r.length, r.retries, r.deadline = 7*time.Second, 2, 300*time.Millisecond
			r.rate = func(at time.Duration) float64 { return load * b.capacity() }
			all, _ := r.do()
			t.Logf("W7 load %v %-16s before %.3f after %.3f recovery %v | %s %v", load, v.name, all.goodput(b, 0, 3e9), all.goodput(b, 4e9, 7e9),
				all.recovery(4e9, .98), curve(*notes, 2), all.good[38:50])
		})
	}
}

func TestXW12(t *testing.T) {
	forAll(t, func(t *testing.T, v variant, seed uint64) {
		b := newBackend(seed)
		b.bound = 32
		c, r, notes := single(t, v, b, seed)
		r.length = 20 * time.Second
		r.rate = func(at time.Duration) float64 {
			if at > 3e9 && at < 6e9 {
				return 10 * b.capacity()
			}
			return 0.7 * b.capacity()
		}
		var sent []float64
		old := r.each
		r.each = func(at time.Duration) {
			old(at)
			sent = append(sent, float64(c.lane.Stats().Admitted))
			switch at {
			case 8e9:
				b.mu.Lock()
				b.bound = -1
				b.mu.Unlock()
			case 15e9:
				b.mu.Lock()
				b.bound = 32
				b.mu.Unlock()
			}
		}
		all, _ := r.do()
		t.Logf("W12 %-16s before %.3f 10x %.3f sends per good %.2f; dead: sent/s %.1f; after %.3f recovery %v | %s %v", v.name, all.goodput(b, 0, 3e9), all.goodput(b, 3e9, 6e9),
			(sent[60]-sent[30])/float64(sum(all.good, 3e9, 6e9)), (sent[145]-sent[85])/6, all.goodput(b, 16e9, 20e9), all.recovery(15e9, .98), curve(*notes, 5), all.good[148:165])
	})
}
