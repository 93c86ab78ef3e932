package limiter_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/limiter"
)

// A3, A19, A26: G-LIM-1.
func TestLimiterStressIsNeverOverItsLimit(t *testing.T) {
	const limit = 7
	l := newLimiter(t, limiter.Config{Limit: limit})
	var now, over, calls atomic.Int64
	enter := func(n int64) {
		if now.Add(n) > limit {
			over.Add(1)
		}
		runtime.Gosched()
		now.Add(-n)
	}
	hammer.Together(64, func(i int) {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		for range 1000 {
			n := 1 + r.IntN(3)
			if r.IntN(2) == 0 {
				_, _ = l.DoN(t.Context(), n, func(context.Context) (int, error) {
					enter(int64(n))
					calls.Add(1)
					return 0, nil
				})
				continue
			}
			if p, err := l.AdmitN(t.Context(), n); err == nil {
				enter(int64(n))
				calls.Add(1)
				p.Release()
			}
		}
	})
	require.Zero(t, over.Load())
	require.EqualValues(t, calls.Load(), l.Stats().Admitted)
	require.EqualValues(t, 64*1000, l.Stats().Admitted+l.Stats().Refused.Total())
	requireWhole(t, l)
}

// B-04, F16, R16: settings change under load; no refusal names a limit that never was.
func TestLimiterStressSettingsMayChange(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 10, Track: spillway.TrackSite})
	hammer.Together(8, func(i int) {
		r := rand.New(rand.NewPCG(6, uint64(i)))
		for range 500 {
			switch i {
			case 0:
				require.NoError(t, l.SetLimit(10*(1+r.IntN(3))))
			case 1:
				require.NoError(t, l.SetMode(spillway.Mode(r.IntN(4))))
				l.Holders()
				l.Stats()
			default:
				_, err := l.DoN(t.Context(), 1+r.IntN(10), answer(1))
				var rejection *spillway.Rejection
				if err != nil {
					require.ErrorAs(t, err, &rejection)
					require.Contains(t, []int{10, 20, 30}, rejection.Limit)
				}
			}
		}
	})
	requireWhole(t, l)
}
