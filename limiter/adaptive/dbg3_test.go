//go:build go1.25

package adaptive_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-go/spillway/limiter/adaptive"
)

func TestT7(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seed := uint64(2)
		b := newBackend(seed)
		b.phases = []phase{{3e9, 0}, {4e9, 1}}
		cfg := cfgOf(true)
		cfg.Hooks = []adaptive.Hooks{{Changed: func(c adaptive.Change) {
			if at := time.Since(b.start); at > 2900e6 && at < 4600e6 {
				fmt.Println(at, c)
			}
		}}}
		v := variant{"x", 24, func() *adaptive.Config { return cfg }}
		_, r, _ := single(t, v, b, seed)
		r.length, r.retries, r.deadline = 6*time.Second, 2, 300*time.Millisecond
		r.rate = func(at time.Duration) float64 { return 0.85 * b.capacity() }
		all, _ := r.do()
		fmt.Println(all.good[38:50], all.recovery(4e9, .98))
	})
}
