package retry_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/retry"
)

var (
	errOp      = errors.New("the operation failed")
	errRefused = &spillway.Rejection{Component: "limiter", Name: "test", Reason: spillway.ReasonLimit, Limit: 1}
)

// classError is an error of an adapter: it carries its class.
type classError struct{ outcome spillway.Outcome }

func (e *classError) Error() string             { return e.outcome.String() }
func (e *classError) Outcome() spillway.Outcome { return e.outcome }

// fixed is a policy without jitter, for operations that may be repeated: after
// attempt n it waits 2ⁿ seconds.
func fixed(attempts int) retry.Policy {
	return retry.Policy{
		Name: "test", MaxAttempts: attempts, Base: time.Second, Cap: 1000 * time.Hour,
		Jitter: retry.NoJitter, Idempotent: true,
	}
}

func newRetrier(t testing.TB, p retry.Policy) *retry.Retrier[int] {
	t.Helper()
	r, err := retry.New[int](p)
	require.NoError(t, err)
	return r
}

func newBudget(t testing.TB, cfg retry.BudgetConfig) *retry.Budget {
	t.Helper()
	b, err := retry.NewBudget(cfg)
	require.NoError(t, err)
	return b
}

// script is an operation that ends with one error after another, and then with
// success. It counts how often it was run.
type script struct {
	errs []error
	runs int
}

func (s *script) op(context.Context) (int, error) {
	s.runs++
	if s.runs <= len(s.errs) {
		return s.runs, s.errs[s.runs-1]
	}
	return s.runs, nil
}

// failing is an operation that always ends with err.
func failing(err error) spillway.Op[int] {
	return func(context.Context) (int, error) { return 0, err }
}

// seeded returns random numbers that are the same in every run, for any number of
// goroutines.
func seeded(seed uint64) func() float64 {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 1))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return r.Float64()
	}
}

// exhausted returns the gave-up error that err must be.
func exhausted(t testing.TB, err error) *retry.ExhaustedError {
	t.Helper()
	e, ok := err.(*retry.ExhaustedError) //nolint:errorlint // it has to be the outermost
	require.True(t, ok, "%T: %v", err, err)
	return e
}

// requireConserved fails unless every call is counted once and nothing goes on.
func requireConserved(t testing.TB, st retry.Stats) {
	t.Helper()
	require.Equal(t, st.Originals, st.Ended.Total()+st.Aborted)
	require.LessOrEqual(t, st.Retries, st.Delays.Count)
	require.LessOrEqual(t, st.Retried.Total(), st.Ended.Total())
	require.Zero(t, st.BackingOff)
}
