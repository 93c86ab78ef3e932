package lifecycle_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/spillway-go/spillway/lifecycle"
)

// The floor that the budget is counted in: what a bare counter costs.
func BenchmarkFloor(b *testing.B) {
	var n atomic.Int64
	for b.Loop() {
		n.Add(1)
		n.Add(-1)
	}
}

func benchMachine(b *testing.B) *lifecycle.Machine[*conn] {
	b.Helper()
	back := &backend{}
	m, err := lifecycle.New(lifecycle.DefaultConfig("db", back.close))
	if err != nil {
		b.Fatal(err)
	}
	if err := m.Connect(context.Background(), back.dial); err != nil {
		b.Fatal(err)
	}
	return m
}

func BenchmarkMachineLease(b *testing.B) {
	m := benchMachine(b)
	b.ReportAllocs()
	for b.Loop() {
		l, _ := m.Lease()
		l.Release()
	}
}

func BenchmarkMachineBind(b *testing.B) {
	m := benchMachine(b)
	ctx := context.Background()
	op := lifecycle.Bind(m, func(context.Context, *conn) (int, error) { return 1, nil })
	b.ReportAllocs()
	for b.Loop() {
		_, _ = op(ctx)
	}
}
