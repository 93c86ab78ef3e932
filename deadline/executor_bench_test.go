//go:build go1.25

package deadline_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// The floor that the budget is counted in: what a bare counter costs.
func BenchmarkFloor(b *testing.B) {
	var n atomic.Int64
	for b.Loop() {
		n.Add(1)
		n.Add(-1)
	}
}

// One reading of the clock, of which a job needs two: when it comes and before it starts.
func BenchmarkClock(b *testing.B) {
	base := time.Now()
	var sum time.Duration
	for b.Loop() {
		sum += time.Since(base)
	}
	runtime.KeepAlive(sum)
}

func benchExecutor(b *testing.B, ttl time.Duration) *deadline.Executor[int] {
	b.Helper()
	e, err := deadline.New[int](deadline.Config{
		Name: "bench", Workers: 2, Queue: 1024, MaxSubmitters: 64, TTL: ttl, Drain: time.Minute,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return e
}

func benchContext(b *testing.B) context.Context {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	b.Cleanup(cancel)
	return ctx
}

func one(context.Context) (int, error) { return 1, nil }

// burst is how many jobs are handed in at a time, with a call after them that waits:
// so the queue is never full, and what is measured is jobs done, not jobs piled up.
const burst = 1000

func goBurst(ctx context.Context, b *testing.B, e *deadline.Executor[int]) {
	for range burst - 1 {
		if err := e.Go(ctx, one); err != nil {
			b.Error(err)
		}
	}
	if _, err := e.Do(ctx, one); err != nil {
		b.Error(err)
	}
}

// The time for one job is the reported time divided by burst: see ns/job.
func BenchmarkExecutorGo(b *testing.B) {
	ctx := benchContext(b)
	for _, c := range []struct {
		name string
		ttl  time.Duration
	}{{"context=own", 2 * time.Hour}, {"context=shortened", time.Minute}} {
		b.Run(c.name, func(b *testing.B) {
			e := benchExecutor(b, c.ttl)
			b.ReportAllocs()
			for b.Loop() {
				goBurst(ctx, b, e)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*burst), "ns/job")
		})
	}
}

func BenchmarkExecutorGoRefused(b *testing.B) {
	e := benchExecutor(b, time.Hour)
	if err := e.SetMode(spillway.RefuseAll); err != nil {
		b.Fatal(err)
	}
	ctx := benchContext(b)
	b.ReportAllocs()
	for b.Loop() {
		_ = e.Go(ctx, one)
	}
}

func BenchmarkExecutorDo(b *testing.B) {
	ctx := benchContext(b)
	for _, c := range []struct {
		name string
		ttl  time.Duration
	}{{"context=own", 2 * time.Hour}, {"context=shortened", time.Minute}} {
		b.Run(c.name+"/serial", func(b *testing.B) {
			e := benchExecutor(b, c.ttl)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = e.Do(ctx, one)
			}
		})
		b.Run(c.name+"/parallel", func(b *testing.B) {
			e := benchExecutor(b, c.ttl)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, _ = e.Do(ctx, one)
				}
			})
		})
	}
}

func BenchmarkExecutorSubmitWait(b *testing.B) {
	e := benchExecutor(b, 2*time.Hour)
	ctx := benchContext(b)
	b.ReportAllocs()
	for b.Loop() {
		f, err := e.Submit(ctx, one)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = f.Wait(ctx)
	}
}

func BenchmarkGate(b *testing.B) {
	ctx := benchContext(b)
	op := deadline.Gate[int](time.Millisecond)(one)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = op(ctx)
	}
}
