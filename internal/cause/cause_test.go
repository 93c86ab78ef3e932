package cause_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/internal/cause"
	"github.com/spillway-go/spillway/internal/cause/causetest"
)

func TestOfIsTheCause(t *testing.T) {
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	require.NoError(t, cause.Of(ctx))
	cancel(why)
	require.Equal(t, why, cause.Of(ctx))
}

// F10: fails with Go 1.24, where context.Cause is nil here, if nothing else is asked.
func TestOfAStrangersContextIsNeverNil(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	merged := causetest.Merged{Context: ctx, Values: t.Context()}
	require.NoError(t, cause.Of(merged))
	cancel()
	require.Equal(t, context.Canceled, cause.Of(merged))
}

// Nor does the end of the other count as one.
func TestOfAStrangersContextThatLivesIsNil(t *testing.T) {
	values, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, cause.Of(causetest.Merged{Context: t.Context(), Values: values}))
}
