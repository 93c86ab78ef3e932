package adaptive_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// G-ADA-1, G-ADA-10: while callers, operators and hooks do what they like at once, the
// limit stays within its bounds, nothing deadlocks, and in the end all is as it was.
func TestControllerConcurrentSafe(t *testing.T) {
	const low, high = 2, 12
	ctx := context.Background()
	var outside, changes atomic.Int64
	l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 6, Hooks: []limiter.Hooks{{
		LimitChanged: func(_, to int) {
			if to < low || to > high {
				outside.Add(1)
			}
		},
	}}})
	require.NoError(t, err)
	cfg := adaptive.DefaultConfig(high)
	cfg.Min = low
	var ctl atomic.Pointer[adaptive.Controller]
	cfg.Hooks = []adaptive.Hooks{{Changed: func(c adaptive.Change) {
		changes.Add(1)
		if c := ctl.Load(); c != nil && changes.Load()%3 == 0 {
			_ = c.SetTrusted(changes.Load()%2 == 0)
		}
	}}}
	c, err := adaptive.Drive(l, cfg)
	require.NoError(t, err)
	ctl.Store(c)
	var wg sync.WaitGroup
	var ran atomic.Int64
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var sink atomic.Int64
			for k := range 3000 {
				_, _ = l.DoN(ctx, 1+k%4, func(context.Context) (int, error) {
					ran.Add(1)
					for range 200 {
						sink.Add(1)
					}
					if k%7 == 0 {
						return 0, busyError{}
					}
					return 0, nil
				})
				if i == 0 && k%50 == 0 {
					_ = c.SetMode([]spillway.Mode{spillway.Enforce, spillway.Shadow, spillway.Enforce, spillway.Off}[k/50%4])
				}
				if i == 1 && k%20 == 0 {
					st := c.Stats()
					if st.Limit < low || st.Limit > high {
						outside.Add(1)
					}
				}
			}
		}()
	}
	wg.Wait()
	require.Positive(t, ran.Load())
	require.Zero(t, outside.Load(), "limits outside of the bounds")
	require.NoError(t, c.Stop())
	st := l.Stats()
	require.Equal(t, []int{6, 0}, []int{st.Limit, st.InUse})
	require.Zero(t, st.Pace)
	require.Equal(t, st.Admitted, st.Ended.Total()+st.Aborted)
}

// busyError is what an overloaded backend answers.
type busyError struct{}

func (busyError) Error() string             { return "overloaded" }
func (busyError) Outcome() spillway.Outcome { return spillway.OutcomeOverload }
