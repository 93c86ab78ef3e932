package cause_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/internal/cause"
)

// merged ends with one context and has the values of another.
type merged struct{ context.Context }

type valuesKey struct{}

func (m merged) Value(key any) any {
	return m.Context.Value(valuesKey{}).(context.Context).Value(key)
}

func TestOfIsTheCause(t *testing.T) {
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	require.NoError(t, cause.Of(ctx))
	cancel(why)
	require.Equal(t, why, cause.Of(ctx))
}

// F10: fails with Go 1.24, where context.Cause is nil here, if nothing else is asked.
func TestOfADoneContextIsNeverNil(t *testing.T) {
	values, stop := context.WithCancel(t.Context())
	defer stop()
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), valuesKey{}, values))
	require.NoError(t, cause.Of(merged{ctx}))
	cancel()
	require.Equal(t, context.Canceled, cause.Of(merged{ctx}))
}

// Nor does the end of the other count as one.
func TestOfALivingContextIsNil(t *testing.T) {
	values, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, cause.Of(merged{context.WithValue(t.Context(), valuesKey{}, values)}))
}
