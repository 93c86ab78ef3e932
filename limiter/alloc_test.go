package limiter_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/limiter"
)

// requireNoAllocs runs f often and fails if it allocates. Where invariants are
// checked, as under the race detector, it only runs f.
func requireNoAllocs(t *testing.T, f func()) {
	t.Helper()
	allocs := testing.AllocsPerRun(1000, f)
	if !invariant.Enabled {
		require.Zero(t, allocs)
	}
}

// R20: G-LIM-6.
func TestLimiterAdmissionAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	l := newLimiter(t, limiter.Config{Limit: 10})
	v := 3
	for name, call := range map[string]func() (int, error){
		"Do":  func() (int, error) { return l.Do(ctx, func(context.Context) (int, error) { return v, nil }) },
		"DoN": func() (int, error) { return l.DoN(ctx, 5, func(context.Context) (int, error) { return v, nil }) },
		"Admit": func() (int, error) {
			p, err := l.Admit(ctx)
			p.Release()
			return v, err
		},
		"AdmitN": func() (int, error) {
			p, err := l.AdmitN(ctx, 5)
			p.ReleaseWith(spillway.OutcomeTimeout)
			return v, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			requireNoAllocs(t, func() {
				if got, err := call(); err != nil || got != v {
					t.Error(got, err)
				}
			})
			requireWhole(t, l)
		})
	}
}

// R20, R2: G-LIM-6.
func TestLimiterRefusalAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	l := newLimiter(t, limiter.Config{Limit: 1})
	admit(t, l, 1)
	for name, call := range map[string]func() error{
		"Do":    func() error { _, err := l.Do(ctx, answer(1)); return err },
		"Admit": func() error { _, err := l.Admit(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			requireNoAllocs(t, func() {
				if call() == nil {
					t.Error("admitted")
				}
			})
		})
	}
}

// R6.
func TestLimiterOffAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	l := newLimiter(t, limiter.Config{Limit: 1, Mode: spillway.Off})
	requireNoAllocs(t, func() {
		if _, err := l.Do(ctx, answer(1)); err != nil {
			t.Error(err)
		}
	})
	require.Zero(t, l.Stats().Admitted)
}

// F18: each refusal costs the same, and nothing of it stays.
func TestLimiterRefusesAMillionTimesInFlatMemory(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 1})
	admit(t, l, 1)
	ctx := t.Context()
	_, first := l.Do(ctx, answer(1))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 1_000_000 {
		if _, err := l.Do(ctx, answer(1)); err == nil {
			t.Fatal("admitted")
		}
	}
	_, last := l.Do(ctx, answer(1))
	require.Same(t, first, last)
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(1<<20))
	require.EqualValues(t, 1_000_002, l.Stats().Refused.Total())
}
