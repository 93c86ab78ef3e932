//go:build go1.25

package retry_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/retry"
)

// G-RET-8: what a hook takes counts, too.
func TestRetrierKeepsMaxElapsedThoughAHookTakesLong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := fixed(3)
		p.Base, p.Cap = time.Millisecond, time.Millisecond
		p.MaxElapsed = 100 * time.Millisecond
		p.Budget = newBudget(t, retry.BudgetConfig{Ratio: 1, Burst: 5})
		p.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) { time.Sleep(time.Second) }}}
		attempts := 0
		_, report, err := newRetrier(t, p).DoReport(t.Context(), func(context.Context) (int, error) {
			attempts++
			return 0, errRefused
		})
		require.Error(t, err)
		require.Equal(t, 1, attempts)
		require.Equal(t, retry.StopElapsed, report.Reason)
		require.EqualValues(t, 5, p.Budget.Stats().Available, "paid back")
	})
}

// "Never sent" isn't said of an operation whose earlier attempt may have been executed.
func TestExhaustedErrorRemembersAnAttemptInDoubt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := fixed(2)
		p.Idempotent = true
		errs := []error{&classError{spillway.OutcomeNetwork}, errRefused}
		_, err := newRetrier(t, p).Do(t.Context(), func(context.Context) (int, error) {
			err := errs[0]
			errs = errs[1:]
			return 0, err
		})
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		require.Equal(t, spillway.OutcomeNetwork, spillway.OutcomeOf(err))
		_, err = newRetrier(t, p).Do(t.Context(), failing(errRefused))
		require.Equal(t, spillway.OutcomeLocal, spillway.OutcomeOf(err))
	})
}

// Nor if it is the policy alone that says so, of an error whose class says the opposite.
func TestExhaustedErrorBelievesThePolicyOfAnAttemptInDoubt(t *testing.T) {
	for _, class := range []spillway.Outcome{spillway.OutcomeOK, spillway.OutcomeLocal} {
		bubble(t, func(t *testing.T) {
			p := fixed(2)
			p.Idempotent = true
			p.Classify = func(error) retry.Verdict { return retry.Ambiguous }
			errs := []error{&classError{class}, errRefused}
			_, err := newRetrier(t, p).Do(t.Context(), func(context.Context) (int, error) {
				err := errs[0]
				errs = errs[1:]
				return 0, err
			})
			require.Equal(t, spillway.OutcomeUnknown, spillway.OutcomeOf(err))
		})
	}
}

// The same of a batch: what became of one item in an earlier sending is what may have
// been executed, be it in doubt or done.
func TestExhaustedErrorRemembersWhatABatchHasDone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := fixed(2)
		p.Idempotent = true
		for name, c := range map[string]struct {
			first []retry.Result[int]
			want  spillway.Outcome
		}{
			"one in doubt, and not the last": {[]retry.Result[int]{{Err: &classError{spillway.OutcomeTimeout}}, {Err: errRefused}}, spillway.OutcomeTimeout},
			"one done":                       {[]retry.Result[int]{{Value: 1}, {Err: errRefused}}, spillway.OutcomeUnknown},
			"one answered":                   {[]retry.Result[int]{{Err: &classError{spillway.OutcomePermanent}}, {Err: errRefused}}, spillway.OutcomeUnknown},
			"none":                           {[]retry.Result[int]{{Err: errRefused}, {Err: errRefused}}, spillway.OutcomeLocal},
		} {
			sent := 0
			_, _, err := retry.Each(t.Context(), newRetrier(t, p), []int{1, 2}, func(_ context.Context, items []int) ([]retry.Result[int], error) {
				if sent++; sent == 1 {
					return c.first, nil
				}
				return nil, errRefused
			})
			require.Equal(t, 2, sent, name)
			require.ErrorIs(t, err, spillway.ErrBackpressure, name)
			require.Equal(t, c.want, spillway.OutcomeOf(err), name)
		}
	})
}

// G-RET-11: an answer refills the budget, however it is marked.
func TestBudgetIsRefilledByMarkedAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, answer := range []error{
			&classError{spillway.OutcomePermanent}, retry.Permanent(errOp), fmt.Errorf("wrapped: %w", retry.Permanent(errors.New("not found"))),
		} {
			p := fixed(3)
			p.Budget = newBudget(t, retry.BudgetConfig{Ratio: 1, Burst: 5})
			for range 5 {
				require.True(t, p.Budget.Withdraw())
			}
			_, err := newRetrier(t, p).Do(t.Context(), failing(answer))
			require.Error(t, err)
			require.EqualValues(t, 1, p.Budget.Stats().Available, "%v", answer)
		}
	})
}

// With one attempt, too: the refusal of one item isn't one of the batch, of which the others
// were executed. What ended the whole is returned as it is.
func TestEachWithOneAttemptIsNotRefusedByOneItem(t *testing.T) {
	r := newRetrier(t, retry.WritePolicy())
	send := func(results []retry.Result[int], err error) error {
		_, report, err := retry.Each(t.Context(), r, []int{1, 2}, func(context.Context, []int) ([]retry.Result[int], error) { return results, err })
		require.Equal(t, 1, report.Attempts)
		return err
	}
	err := send([]retry.Result[int]{{Value: 1}, {Err: errRefused}}, nil)
	require.Equal(t, 1, exhausted(t, err).Unresolved)
	require.Equal(t, spillway.OutcomeUnknown, spillway.OutcomeOf(err))
	require.Equal(t, retry.Stop, retry.Classify(err))
	require.Equal(t, error(errRefused), send(nil, errRefused))
}

// What gave up because attempts took too long says so to those who ask as of any net.Error.
func TestExhaustedErrorSaysTimeout(t *testing.T) {
	for class, want := range map[spillway.Outcome]bool{spillway.OutcomeTimeout: true, spillway.OutcomeNetwork: false} {
		bubble(t, func(t *testing.T) {
			p := fixed(2)
			p.Idempotent = true
			_, err := newRetrier(t, p).Do(t.Context(), failing(&classError{class}))
			require.Equal(t, want, exhausted(t, err).Timeout())
			require.Equal(t, want, os.IsTimeout(err))
		})
	}
}
