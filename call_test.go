package spillway_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

// label is a middleware that writes its name and the call's into log.
func label(log *[]string, name string) spillway.Middleware {
	return func(ctx context.Context, call spillway.Call, next func(context.Context) error) error {
		*log = append(*log, name+" "+call.Operation)
		return next(ctx)
	}
}

func TestJoinMiddlewarePutsTheFirstOutermost(t *testing.T) {
	var log []string
	m := spillway.JoinMiddleware(label(&log, "a"), label(&log, "b"), label(&log, "c"))
	err := m(t.Context(), spillway.Call{Operation: "Get"}, func(context.Context) error {
		log = append(log, "op")
		return errOp
	})
	require.Same(t, errOp, err)
	require.Equal(t, []string{"a Get", "b Get", "c Get", "op"}, log)
}

func TestJoinMiddlewareOfNothingIsNil(t *testing.T) {
	require.Nil(t, spillway.JoinMiddleware())
}

func TestJoinMiddlewareOfOneIsThatOne(t *testing.T) {
	var log []string
	err := spillway.JoinMiddleware(label(&log, "a"))(t.Context(), spillway.Call{Operation: "Put"}, func(context.Context) error { return nil })
	require.NoError(t, err)
	require.Equal(t, []string{"a Put"}, log)
}

func TestJoinMiddlewarePanicsIfOneIsNil(t *testing.T) {
	var log []string
	require.PanicsWithValue(t, "spillway: JoinMiddleware: middleware 1 is nil", func() {
		spillway.JoinMiddleware(label(&log, "a"), nil)
	})
	require.Panics(t, func() { spillway.JoinMiddleware(nil) })
}

func TestJoinMiddlewareDoesNotChangeWithItsArguments(t *testing.T) {
	var log []string
	ms := []spillway.Middleware{label(&log, "a"), label(&log, "b"), label(&log, "c")}
	m := spillway.JoinMiddleware(ms...)
	clear(ms)
	require.NoError(t, m(t.Context(), spillway.Call{}, func(context.Context) error { return nil }))
	require.Equal(t, []string{"a ", "b ", "c "}, log)
}

// F10.
func TestJoinMiddlewarePassesContextsOn(t *testing.T) {
	class := func(ctx context.Context, _ spillway.Call, next func(context.Context) error) error {
		return next(spillway.WithClass(ctx, spillway.Bulk))
	}
	var got spillway.Class
	m := spillway.JoinMiddleware(class, label(new([]string), "b"))
	require.NoError(t, m(t.Context(), spillway.Call{}, func(ctx context.Context) error {
		got, _ = spillway.ClassFrom(ctx)
		return nil
	}))
	require.Equal(t, spillway.Bulk, got)
}

func TestLiftReturnsTheOperationsResult(t *testing.T) {
	var log []string
	op := spillway.Lift[int](label(&log, "a"), spillway.Call{Operation: "Get"})(func(context.Context) (int, error) { return 3, errOp })
	v, err := op(t.Context())
	require.Equal(t, 3, v)
	require.Same(t, errOp, err)
	require.Equal(t, []string{"a Get"}, log)
}

func TestLiftReturnsTheLastResultOfSeveral(t *testing.T) {
	twice := func(ctx context.Context, _ spillway.Call, next func(context.Context) error) error {
		_ = next(ctx)
		return next(ctx)
	}
	n := 0
	v, err := spillway.Lift[int](twice, spillway.Call{})(func(context.Context) (int, error) { n++; return n, nil })(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, v)
}

func TestLiftReturnsTheZeroValueIfTheOperationNeverRan(t *testing.T) {
	deny := func(context.Context, spillway.Call, func(context.Context) error) error { return errOp }
	v, err := spillway.Lift[int](deny, spillway.Call{})(func(context.Context) (int, error) {
		t.Error("the operation ran")
		return 1, nil
	})(t.Context())
	require.Zero(t, v)
	require.Same(t, errOp, err)
}

func TestLiftKeepsNothingOfOneCallForTheNext(t *testing.T) {
	runs := 0
	once := func(ctx context.Context, _ spillway.Call, next func(context.Context) error) error {
		if runs++; runs > 1 {
			return errOp
		}
		return next(ctx)
	}
	op := spillway.Lift[int](once, spillway.Call{})(answer(7))
	v, err := op(t.Context())
	require.NoError(t, err)
	require.Equal(t, 7, v)
	v, err = op(t.Context())
	require.Same(t, errOp, err)
	require.Zero(t, v)
}

func TestLiftPanicsIfTheMiddlewareIsNil(t *testing.T) {
	require.PanicsWithValue(t, "spillway: Lift: middleware is nil", func() { spillway.Lift[int](nil, spillway.Call{}) })
}

func TestKindHasAName(t *testing.T) {
	for kind, name := range map[spillway.Kind]string{
		spillway.KindUnknown: "unknown", spillway.KindRead: "read", spillway.KindWrite: "write",
		spillway.KindStream: "stream", spillway.KindJob: "job", spillway.KindAdmin: "admin", 6: "kind(6)",
	} {
		require.Equal(t, name, kind.String())
	}
}
