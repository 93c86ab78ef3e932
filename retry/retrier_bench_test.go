package retry_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/retry"
)

// bench runs f serially and in parallel.
func bench(b *testing.B, name string, f func()) {
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

// The floor that the budget is counted in, and the bare call that Do is compared
// with.
func BenchmarkFloor(b *testing.B) {
	var n atomic.Int64
	bench(b, "counter", func() {
		n.Add(1)
		n.Add(-1)
	})
	ctx := context.Background()
	op := func(context.Context) (int, error) { return 1, nil }
	bench(b, "call", func() { _, _ = op(ctx) })
}

func BenchmarkRetrierDo(b *testing.B) {
	ctx := context.Background()
	live, cancel := context.WithCancel(ctx)
	defer cancel()
	ok := func(context.Context) (int, error) { return 1, nil }
	notFound := &classError{spillway.OutcomePermanent}
	failed := func(context.Context) (int, error) { return 0, notFound }

	plain := benchRetrier(b, retry.DefaultPolicy())
	bench(b, "outcome=success", func() { _, _ = plain.Do(ctx, ok) })
	bench(b, "outcome=success/context=cancelable", func() { _, _ = plain.Do(live, ok) })
	bench(b, "outcome=not_retryable", func() { _, _ = plain.Do(ctx, failed) })

	p := retry.DefaultPolicy()
	p.Budget, _ = retry.NewBudget(retry.DefaultBudgetConfig())
	full := benchRetrier(b, p)
	bench(b, "outcome=success/budget=full", func() { _, _ = full.Do(ctx, ok) })

	p.Budget, _ = retry.NewBudget(retry.BudgetConfig{Ratio: 1e-6, Burst: 1e6})
	for p.Budget.Withdraw() {
	}
	empty := benchRetrier(b, p)
	bench(b, "outcome=success/budget=filling", func() { _, _ = empty.Do(ctx, ok) })
}

func BenchmarkRetrierDoReport(b *testing.B) {
	ctx := context.Background()
	r := benchRetrier(b, retry.DefaultPolicy())
	bench(b, "outcome=success", func() {
		_, _, _ = r.DoReport(ctx, func(context.Context) (int, error) { return 1, nil })
	})
}

func BenchmarkPolicyDelay(b *testing.B) {
	for _, j := range []retry.Jitter{retry.FullJitter, retry.EqualJitter, retry.DecorrelatedJitter, retry.NoJitter} {
		p := retry.DefaultPolicy()
		p.Jitter = j
		b.Run("jitter="+j.String(), func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				p.Delay(n & 15)
			}
		})
	}
}

func benchRetrier(b *testing.B, p retry.Policy) *retry.Retrier[int] {
	r, err := retry.New[int](p)
	if err != nil {
		b.Fatal(err)
	}
	return r
}
