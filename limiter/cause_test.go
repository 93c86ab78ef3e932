package limiter_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause/causetest"
	"github.com/spillway-go/spillway/limiter"
)

// F10: with Go 1.24, too, a done context of a stranger's type gets neither a call nor a permit.
func TestLimiterStrangersContextThatIsDoneIsNotAdmitted(t *testing.T) {
	l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 1})
	require.NoError(t, err)
	ended := causetest.Ended(t.Context())
	_, err = l.Do(ended, func(context.Context) (int, error) {
		t.Error("the operation ran")
		return 0, nil
	})
	require.Equal(t, context.Canceled, err)
	p, err := l.Admit(ended)
	require.Equal(t, context.Canceled, err)
	require.Equal(t, spillway.Permit{}, p)
}
