package limiter_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
)

var errOp = errors.New("the operation failed")

// newLimiter returns a limiter named "test" with a limit of one if cfg has none.
func newLimiter(t testing.TB, cfg limiter.Config) *limiter.Limiter[int] {
	t.Helper()
	cfg.Name = "test"
	cfg.Limit = max(cfg.Limit, 1)
	l, err := limiter.New[int](cfg)
	require.NoError(t, err)
	return l
}

// answer is an operation that returns v.
func answer(v int) spillway.Op[int] {
	return func(context.Context) (int, error) { return v, nil }
}

// admit takes n permits, which must be there.
func admit(t testing.TB, l *limiter.Limiter[int], n int) spillway.Permit {
	t.Helper()
	p, err := l.AdmitN(t.Context(), n)
	require.NoError(t, err)
	return p
}

// requireWhole fails unless every permit is back and every admitted call has ended.
func requireWhole(t testing.TB, l *limiter.Limiter[int]) {
	t.Helper()
	st := l.Stats()
	require.Zero(t, st.InUse, "permits in use")
	require.Equal(t, st.Limit, st.Available)
	require.Equal(t, st.Admitted, st.Ended.Total()+st.Aborted, "calls admitted and ended")
}
