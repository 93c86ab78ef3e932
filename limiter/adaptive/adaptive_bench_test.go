package adaptive_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// What adaptivity costs a call: beside the bare counter that the budget is counted in,
// and a limiter that nobody drives.
func BenchmarkControllerDo(b *testing.B) {
	ctx := context.Background()
	op := func(context.Context) (int, error) { return 1, nil }
	run := func(name string, f func()) {
		b.Run(name+"/serial", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
		b.Run(name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					f()
				}
			})
		})
	}
	var n atomic.Int64
	run("floor", func() { n.Add(1); n.Add(-1) })
	for _, driven := range []bool{false, true} {
		name := "driven=no"
		l, err := limiter.New[int](limiter.Config{Name: "bench", Limit: 1000})
		if err != nil {
			b.Fatal(err)
		}
		full, err := limiter.New[int](limiter.Config{Name: "full", Limit: 1})
		if err != nil {
			b.Fatal(err)
		}
		p, err := full.Admit(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if driven {
			name = "driven=yes"
			cfg := adaptive.DefaultConfig(1000)
			for _, l := range []*limiter.Limiter[int]{l, full} {
				cfg.Min = float64(l.Limit()) // it must not move meanwhile
				if _, err := adaptive.Drive(l, cfg); err != nil {
					b.Fatal(err)
				}
				cfg.Max = 1
			}
		}
		run(name+"/outcome=admitted", func() { _, _ = l.Do(ctx, op) })
		run(name+"/outcome=refused", func() { _, _ = full.Do(ctx, op) })
		p.Release()
	}
}
