package group_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-go/spillway/group"
	"github.com/spillway-go/spillway/lane"
)

// gauge looks at the process now and then while a benchmark runs.
type gauge struct{ goroutines, heap atomic.Int64 }

func (g *gauge) look() {
	for n := int64(runtime.NumGoroutine()); n > g.goroutines.Load(); {
		g.goroutines.Store(n)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	in := int64(m.HeapInuse + m.StackInuse)
	for in > g.heap.Load() {
		g.heap.Store(in)
	}
}

func (g *gauge) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(g.goroutines.Load()), "peak-goroutines")
	b.ReportMetric(float64(g.heap.Load())/(1<<20), "peak-MB")
}

func benchLane(b *testing.B, limit int) *lane.Lane[int] {
	b.Helper()
	l, err := lane.New[int](lane.Config{Name: "bench", Limit: limit, MaxWaiting: 1, MaxWait: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// work is an item's: some of it on the processor, and giving it up in between as I/O does.
func work(i int) {
	for range 20 {
		i = i*1103515245 + 12345
	}
	runtime.KeepAlive(i)
	runtime.Gosched()
}

// The 2.7 million rows of the article, 20 at a time. Run it with -benchtime=1x.
func BenchmarkEach(b *testing.B) {
	const items = 2_700_000
	for b.Loop() {
		var g gauge
		l := benchLane(b, 20)
		stats, err := group.Each(context.Background(), l, group.Config{}, count(items), func(_ context.Context, i int) error {
			if work(i); i%100_000 == 0 {
				g.look()
			}
			return nil
		})
		if err != nil || stats.Succeeded() != items {
			b.Fatal(err, stats)
		}
		g.report(b)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/items, "ns/item")
}

// What it replaces: a goroutine for each item, and a semaphore inside. It is scaled down
// to a twenty-seventh, or it would need the memory of a large machine.
func BenchmarkUnbounded(b *testing.B) {
	const items = 100_000
	for b.Loop() {
		var g gauge
		sem := make(chan struct{}, 20)
		var wg sync.WaitGroup
		for i := range items {
			wg.Add(1)
			go func() {
				defer wg.Done()
				sem <- struct{}{}
				defer func() { <-sem }()
				work(i)
			}()
			if i%10_000 == 0 {
				g.look()
			}
		}
		g.look()
		wg.Wait()
		g.report(b)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/items, "ns/item")
}

// What one member costs, next to a bare goroutine.
func BenchmarkGroupGo(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		var wg sync.WaitGroup
		for b.Loop() {
			wg.Add(1)
			go wg.Done()
		}
		wg.Wait()
	})
	b.Run("each", func(b *testing.B) {
		b.ReportAllocs()
		l := benchLane(b, 64)
		_, err := group.Each(context.Background(), l, group.Config{}, count(b.N), func(context.Context, int) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	})
}
