package adaptive_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// G-ADA-8: a call of a driven guard allocates nothing, whether it is measured or refused.
func TestControllerAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	marked := adaptive.WithClass(ctx, "scan")
	op := func(context.Context) (int, error) { return 1, nil }
	l, err := limiter.New[int](limiter.Config{Name: "limiter", Limit: 8})
	require.NoError(t, err)
	w, err := lane.New[int](lane.Config{Name: "lane", Limit: 8})
	require.NoError(t, err)
	cfg := adaptive.Config{Min: 8, Max: 8, Classes: []adaptive.Class{{Name: "scan"}}} // it can't move
	for _, g := range []adaptive.Guard{l, w} {
		_, err := adaptive.Drive(g, cfg)
		require.NoError(t, err)
	}
	for name, f := range map[string]func() error{
		"limiter": func() error { _, err := l.Do(ctx, op); return err },
		"class":   func() error { _, err := l.Do(marked, op); return err },
		"lane":    func() error { _, err := w.Do(ctx, op); return err },
		"permit":  func() error { p, err := l.Admit(ctx); p.Release(); return err },
	} {
		allocs := testing.AllocsPerRun(2000, func() {
			if err := f(); err != nil {
				t.Error(err)
			}
		})
		if !invariant.Enabled {
			require.Zero(t, allocs, name)
		}
	}
	p, err := l.AdmitN(ctx, 8)
	require.NoError(t, err)
	allocs := testing.AllocsPerRun(2000, func() {
		if _, err := l.Do(ctx, op); err == nil {
			t.Error("admitted")
		}
	})
	p.Release()
	if !invariant.Enabled {
		require.Zero(t, allocs, "refused")
	}
}
