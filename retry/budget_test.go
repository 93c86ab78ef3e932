//go:build go1.25

package retry_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/retry"
)

// withdraw takes all that is there and returns how much that was.
func withdraw(b *retry.Budget) int {
	n := 0
	for b.Withdraw() {
		n++
	}
	return n
}

// C46, C47, L-22: boundary values are taken, everything else is named.
func TestBudgetConfigNamesEveryFaultAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		cfg    retry.BudgetConfig
		fields []string
	}{
		"zero":     {retry.BudgetConfig{}, []string{"Burst"}},
		"no refil": {retry.BudgetConfig{Burst: 1}, []string{"Ratio"}},
		"tiny":     {retry.BudgetConfig{Ratio: 1e-9, Burst: 1}, []string{"Ratio"}},
		"NaN":      {retry.BudgetConfig{Ratio: math.NaN(), PerSecond: math.NaN(), Burst: 1}, []string{"Ratio", "PerSecond"}},
		"infinite": {retry.BudgetConfig{Ratio: math.Inf(1), PerSecond: math.Inf(1), Burst: math.MaxInt}, []string{"Ratio", "PerSecond", "Burst"}},
		"negative": {retry.BudgetConfig{Ratio: -1, PerSecond: -1, Burst: -1}, []string{"Ratio", "PerSecond", "Burst"}},
		"over one": {retry.BudgetConfig{Ratio: 1.01, PerSecond: 10_001, Burst: 1_000_001}, []string{"Ratio", "PerSecond", "Burst"}},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := retry.NewBudget(c.cfg)
			require.Nil(t, b)
			var config *spillway.ConfigError
			require.ErrorAs(t, err, &config)
			var fields []string
			for _, f := range config.Faults {
				fields = append(fields, f.Field)
			}
			require.Equal(t, c.fields, fields)
		})
	}
	for _, cfg := range []retry.BudgetConfig{
		retry.DefaultBudgetConfig(),
		{Ratio: 1, PerSecond: 10_000, Burst: 1_000_000},
		{Ratio: 1e-6, Burst: 1},
		{PerSecond: 1e-6, Burst: 1},
	} {
		require.InDelta(t, cfg.Burst, newBudget(t, cfg).Stats().Available, 0)
	}
}

// C35, C40, C46: n successes pay for n·Ratio retries, neither more nor less, and no
// more than Burst can be saved, however long the run of successes. G-RET-11.
func TestBudgetIsRefilledBySuccessesUpToItsBurst(t *testing.T) {
	b := newBudget(t, retry.BudgetConfig{Ratio: 0.1, Burst: 20})
	require.Equal(t, 20, withdraw(b))
	for range 99 {
		b.Deposit()
	}
	require.InDelta(t, 9.9, b.Stats().Available, 1e-9)
	require.Equal(t, 9, withdraw(b))
	b.Deposit()
	require.Equal(t, 1, withdraw(b), "what is left of a retry isn't lost")
	for range 1_000_000 {
		b.Deposit()
	}
	require.InDelta(t, 20, b.Stats().Available, 0)
	b.Refund()
	require.InDelta(t, 20, b.Stats().Available, 0)
	require.Equal(t, 20, withdraw(b))
	st := b.Stats()
	require.EqualValues(t, 50, st.Granted)
	require.EqualValues(t, 4, st.Denied)
}

// C41, C47: time refills it, too, also after a quiet period, and no clock makes it
// panic or overflow. G-RET-11.
func TestBudgetIsRefilledByTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBudget(t, retry.BudgetConfig{PerSecond: 2, Burst: 5})
		require.Equal(t, 5, withdraw(b))
		time.Sleep(time.Second - 1)
		require.Equal(t, 1, withdraw(b))
		time.Sleep(time.Nanosecond)
		require.Equal(t, 1, withdraw(b))
		for _, quiet := range []time.Duration{time.Minute, 24 * time.Hour, 100 * 365 * 24 * time.Hour} {
			time.Sleep(quiet)
			require.InDelta(t, 5, b.Stats().Available, 0)
			require.Equal(t, 5, withdraw(b))
		}
		fast := newBudget(t, retry.BudgetConfig{PerSecond: 10_000, Burst: 1})
		time.Sleep(100 * 365 * 24 * time.Hour)
		require.Equal(t, 1, withdraw(fast))
	})
	outside := newBudget(t, retry.DefaultBudgetConfig())
	bubble(t, func(*testing.T) { // in here it is long before the budget was made
		require.Equal(t, 10, withdraw(outside))
	})
}

// G14: one who has no success is not locked out: the trickle feeds him.
func TestBudgetDoesNotStarveABatchWorker(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := fixed(2)
		p.Base, p.Cap = time.Millisecond, time.Millisecond
		p.Budget = newBudget(t, retry.BudgetConfig{Ratio: 0.1, PerSecond: 1, Burst: 10})
		withdraw(p.Budget)
		r := newRetrier(t, p)
		for range 60 {
			_, err := r.Do(t.Context(), failing(errOp))
			require.Error(t, err)
			time.Sleep(time.Second)
		}
		require.InDelta(t, 60, r.Stats().Retries, 2)
	})
}

// C43, R83: a thousand fail at once; those who back off have paid, so they can't
// all fire; the others are told at once. G-RET-11.
func TestBudgetIsChargedBeforeTheBackOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := fixed(3)
		p.Budget = newBudget(t, retry.BudgetConfig{Ratio: 0.2, Burst: 200})
		r := newRetrier(t, p)
		start, denied := time.Now(), make(chan time.Duration, 1000)
		hammer.Together(1000, func(int) {
			_, err := r.Do(t.Context(), failing(errOp))
			if e := exhausted(t, err); e.Reason == retry.StopBudget {
				require.ErrorIs(t, err, errOp) // C45: it is no error of the budget
				denied <- time.Since(start)
			}
		})
		close(denied)
		early := 0
		for took := range denied {
			if took == 0 {
				early++
			}
		}
		require.Equal(t, 800, early, "they did not sleep for nothing")
		st := r.Stats()
		require.EqualValues(t, 200, st.Retries)
		require.EqualValues(t, 200, st.Budget.Granted)
		require.Equal(t, st.Budget.Denied, st.Ended.Of(retry.StopBudget))
		requireConserved(t, st)
	})
}

// C35, C36, C37, C40, C42: what each path leaves in the budget. G-RET-11.
func TestBudgetBalanceAfterEachPath(t *testing.T) {
	for name, c := range map[string]struct {
		errs []error
		want float64
	}{
		"success":               {nil, 6},                                                    // once, and only once
		"success after a retry": {[]error{errOp}, 5},                                         // −1 +1
		"after two":             {[]error{errOp, errRefused}, 4},                             // −2 +1
		"gave up":               {[]error{errOp, errOp, errOp}, 3},                           // −2
		"not found":             {[]error{&classError{spillway.OutcomePermanent}}, 6},        // it answered
		"retry, then not found": {[]error{errOp, &classError{spillway.OutcomePermanent}}, 5}, // −1 +1
		"canceled":              {[]error{context.Canceled}, 5},
		"closed":                {[]error{errOp, spillway.ErrClosed}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := fixed(3)
				p.Budget = newBudget(t, retry.BudgetConfig{Ratio: 1, Burst: 10})
				for range 5 {
					require.True(t, p.Budget.Withdraw())
				}
				r := newRetrier(t, p)
				_, _ = r.Do(t.Context(), (&script{errs: c.errs}).op)
				require.InDelta(t, c.want, p.Budget.Stats().Available, 1e-9)
				requireConserved(t, r.Stats())
			})
		})
	}
	b := newBudget(t, retry.BudgetConfig{Ratio: 0.1, Burst: 5}) // C35
	withdraw(b)
	p := fixed(3)
	p.Budget = b
	r := newRetrier(t, p)
	for range 1000 {
		_, err := r.Do(t.Context(), (&script{}).op)
		require.NoError(t, err)
	}
	require.InDelta(t, 5, b.Stats().Available, 0)
}

// C39, C40: retriers share a budget only if they were given the same.
func TestBudgetBelongsToADependency(t *testing.T) {
	bubble(t, func(t *testing.T) {
		shared, own := fixed(2), fixed(2)
		shared.Budget = newBudget(t, retry.BudgetConfig{Ratio: 1, Burst: 1})
		own.Budget = newBudget(t, retry.BudgetConfig{Ratio: 1, Burst: 1})
		a, b, c := newRetrier(t, shared), newRetrier(t, shared), newRetrier(t, own)
		for r, want := range map[*retry.Retrier[int]]retry.StopReason{a: retry.StopAttempts, c: retry.StopAttempts} {
			_, err := r.Do(t.Context(), failing(errOp))
			require.Equal(t, want, exhausted(t, err).Reason)
		}
		_, err := b.Do(t.Context(), failing(errOp))
		require.Equal(t, retry.StopBudget, exhausted(t, err).Reason)
		_, err = b.Do(t.Context(), (&script{}).op)
		require.NoError(t, err)
		_, err = a.Do(t.Context(), failing(errOp))
		require.Equal(t, retry.StopAttempts, exhausted(t, err).Reason, "the one's success is the other's retry")
		require.Equal(t, a.Stats().Budget, b.Stats().Budget)
	})
}

// The zero Budget grants nothing; none at all grants everything.
func TestBudgetThatWasNotMade(t *testing.T) {
	var zero retry.Budget
	zero.Deposit()
	require.False(t, zero.Withdraw())
	require.Zero(t, zero.Stats().Available)
	var none *retry.Budget
	none.Deposit()
	none.Refund()
	require.True(t, none.Withdraw())
	require.Equal(t, retry.BudgetStats{}, none.Stats())
}
