//go:build go1.25

package retry_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/retry"
)

type ctxKey struct{}

// P5, F10, F11: hooks see each retry and each end, with the caller's context, and may
// call everything; a panic in them harms nobody. G-RET-10.
func TestHooksMayCallBackAndPanic(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var r *retry.Retrier[int]
		var events []retry.Event
		var gaveUp []*retry.ExhaustedError
		inner := 0
		p := fixed(3)
		p.Budget = newBudget(t, retry.BudgetConfig{Ratio: 1, Burst: 100})
		p.Hooks = []retry.Hooks{
			{}, // nil functions aren't called
			{
				OnRetry:  func(context.Context, retry.Event) { panic("hook") },
				OnGiveUp: func(context.Context, *retry.ExhaustedError) { panic("hook") },
			},
			{
				OnRetry: func(ctx context.Context, e retry.Event) {
					require.Equal(t, "caller", ctx.Value(ctxKey{}))
					events = append(events, e)
					if inner++; inner == 1 {
						_, err := r.Do(t.Context(), func(context.Context) (int, error) { return 1, nil })
						require.NoError(t, err)
						require.Positive(t, r.Stats().Originals)
						p.Budget.Deposit()
						require.Equal(t, "test", retry.Share[string](r).Name())
					}
				},
				OnGiveUp: func(_ context.Context, e *retry.ExhaustedError) {
					gaveUp = append(gaveUp, e)
					r.Stats()
				},
			},
		}
		r = newRetrier(t, p)
		ctx := context.WithValue(t.Context(), ctxKey{}, "caller")
		_, err := r.Do(ctx, (&script{errs: []error{errOp, errRefused, errOp}}).op)
		require.Equal(t, []retry.Event{
			{Name: "test", Attempt: 1, Delay: 2 * time.Second, Err: errOp},
			{Name: "test", Attempt: 2, Delay: 4 * time.Second, Pushback: true, Err: errRefused},
		}, events)
		require.Len(t, gaveUp, 1)
		require.Same(t, exhausted(t, err), gaveUp[0])
		_, err = r.Do(ctx, failing(retry.Permanent(errOp)))
		require.Equal(t, errOp, err)
		require.Len(t, gaveUp, 1, "nothing was given up")
		requireConserved(t, r.Stats())
	})
}

// A hook that ends its goroutine ends the call, which is counted once, and what was
// paid comes back.
func TestHooksGoexitIsCountedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := fixed(3)
		p.Budget = newBudget(t, retry.BudgetConfig{Ratio: 1, Burst: 3})
		p.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) { runtime.Goexit() }}}
		r := newRetrier(t, p)
		hammer.Together(1, func(int) { _, _ = r.Do(t.Context(), failing(errOp)) })
		require.EqualValues(t, 1, r.Stats().Aborted)
		require.InDelta(t, 3, p.Budget.Stats().Available, 0)
		requireConserved(t, r.Stats())

		p.Hooks = []retry.Hooks{{OnGiveUp: func(context.Context, *retry.ExhaustedError) { runtime.Goexit() }}}
		r = newRetrier(t, p)
		hammer.Together(1, func(int) { _, _ = r.Do(t.Context(), failing(errOp)) })
		require.EqualValues(t, 1, r.Stats().Ended.Of(retry.StopAttempts))
		require.Zero(t, r.Stats().Aborted)
		require.EqualValues(t, 1, r.Stats().Originals)
		requireConserved(t, r.Stats())
	})
}
