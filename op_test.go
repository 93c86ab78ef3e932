package spillway_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

var errOp = errors.New("the operation failed")

// trace is a decorator that writes its name into log before and after.
func trace(log *[]string, name string) spillway.Decorator[int] {
	return func(op spillway.Op[int]) spillway.Op[int] {
		return func(ctx context.Context) (int, error) {
			*log = append(*log, name+" in")
			defer func() { *log = append(*log, name+" out") }()
			return op(ctx)
		}
	}
}

func answer(v int) spillway.Op[int] {
	return func(context.Context) (int, error) { return v, nil }
}

func TestChainPutsTheFirstOutermost(t *testing.T) {
	var log []string
	chain := spillway.Chain(trace(&log, "a"), trace(&log, "b"), trace(&log, "c"))
	v, err := chain(answer(4))(t.Context())
	require.NoError(t, err)
	require.Equal(t, 4, v)
	require.Equal(t, []string{"a in", "b in", "c in", "c out", "b out", "a out"}, log)
}

func TestChainOfNothingIsTheOperation(t *testing.T) {
	v, err := spillway.Chain[int]()(answer(4))(t.Context())
	require.NoError(t, err)
	require.Equal(t, 4, v)
}

func TestChainCanBeUsedForManyOperations(t *testing.T) {
	var log []string
	chain := spillway.Chain(trace(&log, "a"), trace(&log, "b"))
	for i := range 3 {
		v, err := chain(answer(i))(t.Context())
		require.NoError(t, err)
		require.Equal(t, i, v)
	}
	require.Len(t, log, 12)
}

func TestChainPanicsIfADecoratorIsNil(t *testing.T) {
	var log []string
	require.PanicsWithValue(t, "spillway: Chain: decorator 1 is nil", func() {
		spillway.Chain(trace(&log, "a"), nil)
	})
}

func TestChainLetsPanicsThrough(t *testing.T) {
	var log []string
	op := spillway.Chain(trace(&log, "a"))(func(context.Context) (int, error) { panic("op") })
	require.PanicsWithValue(t, "op", func() { _, _ = op(t.Context()) })
	require.Equal(t, []string{"a in", "a out"}, log)
}
