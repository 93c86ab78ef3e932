//go:build go1.25

package adaptive_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// variants for quick looks
func TestQ8(t *testing.T) {
	for _, n := range []int{20, 100} {
		for _, v := range variants[1:3] {
			for seed := range uint64(3) {
				synctest.Test(t, func(t *testing.T) {
					b := newBackend(seed + 1)
					var cs []*client
					for range n {
						cs = append(cs, newClient(t, max(2, v.static/n), v.cfg()))
					}
					each, notes := limitsOf(cs[0])
					r := run{b: b, clients: cs, length: 12 * time.Second, deadline: 100 * time.Millisecond, seed: seed + 1, each: each,
						rate: func(at time.Duration) float64 {
							if at > 3e9 && at < 9e9 {
								return 3 * b.capacity()
							}
							return 0.7 * b.capacity()
						}}
					all, es := r.do()
					t.Logf("W8 n %3d %-10s during %.3f first second %.3f then %.3f jain %.3f after %.3f recovery %v failed %d | %s", n, v.name, all.goodput(b, 3e9, 9e9), all.goodput(b, 3e9, 4e9), all.goodput(b, 4e9, 9e9), jain(es, 3e9, 9e9), all.goodput(b, 9e9, 12e9),
						all.recovery(9e9, .99), sum(all.failed, 0, 15e9), curve(*notes, 6))
				})
			}
		}
	}
}
