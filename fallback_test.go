package spillway_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

// T-21.
func TestFallbackAnswersForAnOperationThatFailed(t *testing.T) {
	op := spillway.Fallback(func(_ context.Context, err error) (int, error) {
		require.Same(t, errOp, err)
		return 9, nil
	})(func(context.Context) (int, error) { return 1, errOp })
	v, err := op(t.Context())
	require.NoError(t, err)
	require.Equal(t, 9, v)
}

func TestFallbackIsNotAskedAfterASuccess(t *testing.T) {
	op := spillway.Fallback(func(context.Context, error) (int, error) {
		t.Error("the fallback was asked")
		return 9, nil
	})(answer(1))
	v, err := op(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, v)
}

// F12.
func TestFallbackIsNotAskedForADoneContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	op := spillway.Fallback(func(context.Context, error) (int, error) {
		t.Error("the fallback was asked")
		return 9, nil
	})(func(context.Context) (int, error) {
		cancel()
		return 1, errOp
	})
	v, err := op(ctx)
	require.Same(t, errOp, err)
	require.Equal(t, 1, v)
}

func TestFallbackMayFailItself(t *testing.T) {
	op := spillway.Fallback(func(_ context.Context, err error) (int, error) { return 0, err })(
		func(context.Context) (int, error) { return 1, errOp })
	_, err := op(t.Context())
	require.Same(t, errOp, err)
}

func TestFallbackLetsPanicsThrough(t *testing.T) {
	op := spillway.Fallback(func(context.Context, error) (int, error) { return 9, nil })(
		func(context.Context) (int, error) { panic("op") })
	require.PanicsWithValue(t, "op", func() { _, _ = op(t.Context()) })
}

func TestFallbackPanicsIfItsFunctionIsNil(t *testing.T) {
	require.PanicsWithValue(t, "spillway: Fallback: function is nil", func() { spillway.Fallback[int](nil) })
}
