package lane_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-go/spillway/lane"
)

// The floor that the budget is counted in: what a bare counter costs.
func BenchmarkFloor(b *testing.B) {
	var n atomic.Int64
	for b.Loop() {
		n.Add(1)
		n.Add(-1)
	}
}

func BenchmarkLaneDo(b *testing.B) {
	ctx := context.Background()
	op := func(context.Context) (int, error) { return 1, nil }
	l, err := lane.New[int](lane.Config{Name: "bench", Limit: 1000, MaxWaiting: 1000, MaxWait: time.Second, Predict: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("uncontended", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = l.Do(ctx, op)
		}
	})
	one, err := lane.New[int](lane.Config{Name: "one", Limit: 1, MaxWaiting: 1000, MaxWait: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("handoff", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = one.Do(ctx, op)
			}
		})
	})
}
