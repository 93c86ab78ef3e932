//go:build go1.25

package retry_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/retry"
)

// C31, F16: one policy, one retrier and one budget, used and looked at by many at
// once. G-RET-12.
func TestRetrierIsConcurrentSafe(t *testing.T) {
	p := retry.Policy{
		MaxAttempts: 4, Base: time.Microsecond, Cap: 20 * time.Microsecond, Floor: 2 * time.Microsecond,
		Jitter: retry.DecorrelatedJitter, Budget: newBudget(t, retry.BudgetConfig{Ratio: 0.5, PerSecond: 10_000, Burst: 50}),
		Hooks: []retry.Hooks{{OnRetry: func(context.Context, retry.Event) {}}},
	}
	r := newRetrier(t, p)
	var calls, runs, working atomic.Int64
	working.Store(7)
	hammer.Together(8, func(i int) {
		if i == 0 {
			for working.Load() > 0 {
				st := r.Stats()
				require.LessOrEqual(t, st.Ended.Total()+st.Aborted, st.Originals)
				require.LessOrEqual(t, st.Retries, st.Delays.Count)
				require.GreaterOrEqual(t, st.Budget.Available, 0.0)
				require.LessOrEqual(t, st.Budget.Available, 50.0)
			}
			return
		}
		defer working.Add(-1)
		rnd := rand.New(rand.NewPCG(3, uint64(i)))
		errs := []error{nil, nil, nil, errOp, errRefused, &classError{spillway.OutcomePermanent}, context.Canceled}
		op := func(context.Context) (int, error) {
			runs.Add(1)
			return 1, errs[rnd.IntN(len(errs))]
		}
		for range 500 {
			calls.Add(1)
			switch rnd.IntN(4) {
			case 0:
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rnd.IntN(30))*time.Microsecond)
				_, _, _ = r.DoReport(ctx, op)
				cancel()
			case 1:
				func() {
					defer func() { _ = recover() }()
					_, _ = r.Do(t.Context(), func(ctx context.Context) (int, error) {
						if v, err := op(ctx); err != nil {
							return v, err
						}
						panic("op")
					})
				}()
			case 2:
				_, _, _ = retry.Each(t.Context(), retry.Share[string](r), []int{1, 2, 3}, func(ctx context.Context, items []int) ([]retry.Result[int], error) {
					out := make([]retry.Result[int], len(items))
					_, out[0].Err = op(ctx)
					return out, nil
				})
			default:
				_, _ = r.Do(t.Context(), op)
			}
		}
	})
	st := r.Stats()
	require.EqualValues(t, calls.Load(), st.Originals+st.Canceled)
	require.EqualValues(t, runs.Load(), st.Originals+st.Retries)
	require.Equal(t, st.Budget.Granted-st.Budget.Refunded, st.Retries)
	require.Equal(t, st.Budget.Denied, st.Ended.Of(retry.StopBudget))
	require.Positive(t, st.Aborted)
	requireConserved(t, st)
}

// C35, C37, C46: under contention no retry is paid twice and none is lost. G-RET-11.
func TestBudgetIsConcurrentSafe(t *testing.T) {
	const burst, each = 1000, 2000
	b := newBudget(t, retry.BudgetConfig{Ratio: 1, Burst: burst})
	var got, asked atomic.Int64
	withdraw := func() bool {
		asked.Add(1)
		return b.Withdraw()
	}
	takeAll := func(int) {
		for range each {
			if withdraw() {
				got.Add(1)
			}
		}
	}
	hammer.Together(8, takeAll)
	require.EqualValues(t, burst, got.Load())
	hammer.Together(8, func(i int) { // what is put in comes out, once
		for n := range each {
			if i%2 == 0 {
				b.Deposit()
			} else if n%2 == 0 && withdraw() {
				b.Refund()
			}
		}
	})
	require.InDelta(t, burst, b.Stats().Available, 0)
	hammer.Together(8, takeAll)
	require.EqualValues(t, 2*burst, got.Load())
	st := b.Stats()
	require.EqualValues(t, asked.Load(), st.Granted+st.Denied)
	require.EqualValues(t, got.Load(), st.Granted-st.Refunded)
}
