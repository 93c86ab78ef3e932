//go:build go1.25

package retry_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/retry"
)

// table is a backend for batches: it answers key k with k·10 once it has run through
// the errors of k.
type table struct {
	errs  map[int][]error
	sent  [][]int
	whole []error // errors of the first sendings as a whole
}

func (b *table) send(_ context.Context, keys []int) ([]retry.Result[int], error) {
	b.sent = append(b.sent, slices.Clone(keys))
	if n := len(b.sent); n <= len(b.whole) && b.whole[n-1] != nil {
		return nil, b.whole[n-1]
	}
	out := make([]retry.Result[int], len(keys))
	for i, k := range keys {
		if errs := b.errs[k]; len(errs) > 0 {
			out[i].Err, b.errs[k] = errs[0], errs[1:]
			continue
		}
		out[i].Value = k * 10
	}
	return out, nil
}

// R81, T-04, T-07: only what failed and may be repeated is sent again; the order is that
// of the items; each has its own value or error. G-RET-13.
func TestEachSendsOnlyFailedItemsAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		notFound := &classError{spillway.OutcomePermanent}
		b := &table{errs: map[int][]error{
			2: {errOp, errOp}, 3: {notFound}, 5: {errRefused}, 6: {errOp, notFound}, 7: {retry.Permanent(errOp)},
		}}
		r := newRetrier(t, fixed(4))
		items := []int{1, 2, 3, 4, 5, 6, 7}
		start := time.Now()
		out, rep, err := retry.Each(t.Context(), r, items, b.send)
		require.NoError(t, err, "every item was answered")
		require.Equal(t, [][]int{{1, 2, 3, 4, 5, 6, 7}, {2, 5, 6}, {2}}, b.sent)
		require.Equal(t, []retry.Result[int]{
			{Value: 10}, {Value: 20}, {Err: notFound}, {Value: 40}, {Value: 50}, {Err: notFound}, {Err: errOp},
		}, out)
		require.Equal(t, retry.Report{
			Attempts: 3, MaxAttempts: 4, Reason: retry.StopNotRetryable, Delay: 6 * time.Second, Err: notFound,
		}, rep)
		require.Equal(t, 6*time.Second, time.Since(start))
		require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7}, items, "the caller's items are untouched")
		st := r.Stats()
		require.EqualValues(t, 1, st.Originals, "a batch is one operation")
		require.EqualValues(t, 2, st.Retries)
		requireConserved(t, st)
	})
}

// T-05, R80: partial results come with the error that says what is left. G-RET-13.
func TestEachReturnsPartialResultsWhenItGivesUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := &table{errs: map[int][]error{2: {errOp, errOp}, 4: {errOp, errRefused}}}
		out, rep, err := retry.Each(t.Context(), newRetrier(t, fixed(2)), []int{1, 2, 3, 4}, b.send)
		e := exhausted(t, err)
		require.Equal(t, 2, e.Unresolved)
		require.Equal(t, rep, e.Report)
		require.Equal(t, retry.StopAttempts, rep.Reason)
		require.Equal(t, []retry.Result[int]{{Value: 10}, {Err: errOp}, {Value: 30}, {Err: errRefused}}, out)
	})
	bubble(t, func(t *testing.T) { // cancelled between two sendings
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		b := &table{errs: map[int][]error{2: {errOp}}}
		out, _, err := retry.Each(ctx, newRetrier(t, fixed(2)), []int{1, 2}, b.send)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, []retry.Result[int]{{Value: 10}, {Err: errOp}}, out)
		require.Len(t, b.sent, 1)
	})
}

// T-04: an error of the whole sending is one of every open item, and of no other.
func TestEachTreatsAnErrorOfTheWholeAsOneOfEveryOpenItem(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := &table{errs: map[int][]error{2: {errOp}}, whole: []error{errRefused, nil, errRefused}}
		out, rep, err := retry.Each(t.Context(), newRetrier(t, fixed(5)), []int{1, 2}, b.send)
		require.NoError(t, err)
		require.Equal(t, [][]int{{1, 2}, {1, 2}, {2}, {2}}, b.sent)
		require.Equal(t, []retry.Result[int]{{Value: 10}, {Value: 20}}, out)
		require.Equal(t, retry.StopSuccess, rep.Reason)
		require.Zero(t, rep.Unresolved)
	})
	for name, c := range map[string]struct{ whole, want error }{
		"permanent": {retry.Permanent(errOp), errOp}, "closed": {spillway.ErrClosed, spillway.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := &table{errs: map[int][]error{2: {errOp}}, whole: []error{nil, c.whole}}
				out, rep, err := retry.Each(t.Context(), newRetrier(t, fixed(5)), []int{1, 2}, b.send)
				require.Equal(t, c.want, err)
				require.Equal(t, []retry.Result[int]{{Value: 10}, {Err: c.want}}, out)
				require.Equal(t, 1, rep.Unresolved)
				require.Equal(t, retry.StopNotRetryable, rep.Reason)
			})
		})
	}
}

// The back-off is that of the item which asks for the longest; an item that isn't
// idempotent is not sent again though others are.
func TestEachWaitsForTheItemThatAsksForMost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var events []retry.Event
		p := retry.DefaultPolicy()
		p.Hooks = []retry.Hooks{{OnRetry: func(_ context.Context, e retry.Event) { events = append(events, e) }}}
		p.Budget = newBudget(t, retry.BudgetConfig{Ratio: 1, Burst: 10})
		b := &table{errs: map[int][]error{
			1: {errRefused}, 2: {retry.After(errRefused, 3*time.Second)}, 3: {errOp}, 4: {retry.After(errRefused, time.Second)},
		}}
		out, rep, err := retry.Each(t.Context(), newRetrier(t, p), []int{1, 2, 3, 4, 5}, b.send)
		require.NoError(t, err)
		require.Equal(t, [][]int{{1, 2, 3, 4, 5}, {1, 2, 4}}, b.sent)
		require.Len(t, events, 1)
		require.True(t, events[0].Pushback)
		require.GreaterOrEqual(t, events[0].Delay, 3*time.Second)
		require.Equal(t, errOp, out[2].Err)
		require.Equal(t, retry.StopNotIdempotent, rep.Reason)
		require.EqualValues(t, 1, p.Budget.Stats().Granted, "a sending is one retry")
	})
	bubble(t, func(t *testing.T) { // one refused item is enough for the floor
		for _, refused := range []int{1, 2} {
			p, start := retry.ReadPolicy(), time.Now()
			p.Rand = func() float64 { return 0 }
			b := &table{errs: map[int][]error{refused: {errRefused}, 3 - refused: {errOp}}}
			_, _, err := retry.Each(t.Context(), newRetrier(t, p), []int{1, 2}, b.send)
			require.NoError(t, err)
			require.Equal(t, p.Floor, time.Since(start))
		}
	})
}

func TestEachSendsNothingWithoutItemsOrWithADoneContext(t *testing.T) {
	r := newRetrier(t, fixed(3))
	b := &table{}
	out, rep, err := retry.Each(t.Context(), r, nil, b.send)
	require.NoError(t, err)
	require.Empty(t, out)
	require.Equal(t, retry.Report{MaxAttempts: 3}, rep)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCause)
	out, rep, err = retry.Each(ctx, r, []int{1, 2}, b.send)
	require.Same(t, errCause, err)
	require.Equal(t, []retry.Result[int]{{Err: errCause}, {Err: errCause}}, out)
	require.Equal(t, 2, rep.Unresolved)
	require.Empty(t, b.sent)
	require.EqualValues(t, 1, r.Stats().Canceled)
}

// A wrong number of results is a fault of send: nobody knows what was executed.
func TestEachRefusesAWrongNumberOfResults(t *testing.T) {
	for _, n := range []int{0, 1, 3} {
		sent := 0
		out, rep, err := retry.Each(t.Context(), newRetrier(t, fixed(3)), []int{1, 2}, func(context.Context, []int) ([]retry.Result[string], error) {
			sent++
			return make([]retry.Result[string], n), nil
		})
		require.ErrorIs(t, err, retry.ErrResultCount)
		require.ErrorContains(t, err, fmt.Sprintf("%d for 2", n))
		require.Equal(t, 1, sent)
		require.ErrorIs(t, out[1].Err, retry.ErrResultCount)
		require.Equal(t, retry.Stop, retry.Classify(err), "nor does a retrier around it repeat that")
		require.Equal(t, 2, rep.Unresolved)
	}
}

// A panic of send goes through.
func TestEachLetsPanicsThrough(t *testing.T) {
	r := newRetrier(t, fixed(3))
	require.PanicsWithValue(t, "send", func() {
		_, _, _ = retry.Each(t.Context(), r, []int{1}, func(context.Context, []int) ([]retry.Result[int], error) { panic("send") })
	})
	require.EqualValues(t, 1, r.Stats().Aborted)
	requireConserved(t, r.Stats())
}
