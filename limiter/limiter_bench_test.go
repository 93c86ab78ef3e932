package limiter_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/spillway-go/spillway/limiter"
)

// The floor that the budget is counted in: what a bare counter costs.
func BenchmarkFloor(b *testing.B) {
	var n atomic.Int64
	b.Run("serial", func(b *testing.B) {
		for b.Loop() {
			n.Add(1)
			n.Add(-1)
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				n.Add(1)
				n.Add(-1)
			}
		})
	})
}

func BenchmarkLimiterDo(b *testing.B) {
	ctx := context.Background()
	op := func(context.Context) (int, error) { return 1, nil }
	for _, c := range []struct {
		name  string
		limit int
		fill  int
	}{{"outcome=admitted", 1000, 0}, {"outcome=refused", 1, 1}} {
		l, err := limiter.New[int](limiter.Config{Name: "bench", Limit: c.limit})
		if err != nil {
			b.Fatal(err)
		}
		for range c.fill {
			if _, err := l.Admit(ctx); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(c.name+"/serial", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = l.Do(ctx, op)
			}
		})
		b.Run(c.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, _ = l.Do(ctx, op)
				}
			})
		})
	}
}

func BenchmarkLimiterAdmit(b *testing.B) {
	ctx := context.Background()
	l, err := limiter.New[int](limiter.Config{Name: "bench", Limit: 1000})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("serial", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p, _ := l.Admit(ctx)
			p.Release()
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				p, _ := l.Admit(ctx)
				p.Release()
			}
		})
	})
}
