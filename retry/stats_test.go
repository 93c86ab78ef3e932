//go:build go1.25

package retry_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/retry"
)

// R158: every operation, attempt and back-off is counted, in its place. G-RET-12.
func TestStatsCountWhatHappened(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRetrier(t, fixed(3))
		for _, errs := range [][]error{
			nil, {errOp}, {errOp, errRefused}, {errOp, errOp, errOp}, {spillway.ErrClosed}, {errOp, spillway.ErrClosed},
		} {
			_, _ = r.Do(t.Context(), (&script{errs: errs}).op)
		}
		st := r.Stats()
		require.Equal(t, retry.StopCounts{retry.StopSuccess: 3, retry.StopNotRetryable: 2, retry.StopAttempts: 1}, st.Ended)
		require.Equal(t, retry.StopCounts{retry.StopSuccess: 2, retry.StopNotRetryable: 1, retry.StopAttempts: 1}, st.Retried)
		require.EqualValues(t, 6, st.Originals)
		require.EqualValues(t, 6, st.Retries)
		require.EqualValues(t, 6, st.Delays.Count)
		require.Equal(t, (2+2+4+2+4+2)*time.Second, st.Delays.Sum)
		require.Zero(t, st.Ended.Of(retry.StopReason(99)))
		require.Equal(t, "test", st.Name)
		requireConserved(t, st)
	})
}

// While calls are under way nothing has ended that didn't begin.
func TestStatsShowWhoIsBackingOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRetrier(t, fixed(2))
		looked := make(chan struct{})
		time.AfterFunc(time.Second, func() {
			defer close(looked)
			st := r.Stats()
			require.EqualValues(t, 7, st.BackingOff)
			require.EqualValues(t, 7, st.Originals)
			require.EqualValues(t, 7, st.Delays.Count)
			require.Zero(t, st.Ended.Total()+st.Retries)
		})
		hammer.Together(7, func(int) { _, _ = r.Do(t.Context(), failing(errOp)) })
		<-looked
		requireConserved(t, r.Stats())
	})
}

// T-05, R80, E2: the error says how often, why and what; it is told apart by type.
func TestExhaustedErrorTellsTheStory(t *testing.T) {
	hinted := &spillway.Rejection{Component: "lane", Name: "bulk", Reason: spillway.ReasonQueueFull, Limit: 3, RetryAfter: time.Second}
	e := &retry.ExhaustedError{Name: "orders", Report: retry.Report{Attempts: 2, MaxAttempts: 3, Reason: retry.StopBudget, Err: hinted}}
	require.EqualError(t, e, `retry "orders": gave up after 2 of 3 attempts, the retry budget is used up: `+
		`lane "bulk" refused the call: the waiting room is full (limit 3)`)
	require.ErrorIs(t, e, spillway.ErrBackpressure)
	var rejection *spillway.Rejection
	require.ErrorAs(t, fmt.Errorf("save: %w", e), &rejection)
	require.Same(t, hinted, rejection)
	require.Equal(t, "budget_exhausted", e.ErrorType())
	require.Equal(t, spillway.OutcomeLocal, e.Outcome())
	e.Err, e.Cause = errOp, context.Canceled
	require.Equal(t, spillway.OutcomeLocal, e.Outcome())
	require.ErrorIs(t, e, context.Canceled)
	e.Cause = nil
	require.Equal(t, spillway.OutcomeUnknown, e.Outcome())
	require.NotErrorIs(t, e, context.Canceled)
}

func TestStopReasonsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for r := retry.StopSuccess; r <= retry.StopCanceled; r++ {
		seen[r.String()] = true
		require.NotContains(t, r.String(), "(")
		require.Contains(t, (&retry.ExhaustedError{Report: retry.Report{Reason: r, Err: errOp}}).Error(), "attempts, ")
		cut := r == retry.StopElapsed || r == retry.StopDeadline || r == retry.StopHint
		require.Equal(t, cut, retry.Report{Reason: r}.CutByTime())
	}
	require.Len(t, seen, len(retry.StopCounts{}))
	require.Equal(t, "stop(99)", retry.StopReason(99).String())
}
