package lane_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause/causetest"
	"github.com/spillway-go/spillway/lane"
)

// F10: with Go 1.24, too, a done context of a stranger's type gets neither a call nor a permit.
func TestLaneStrangersContextThatIsDoneIsNotAdmitted(t *testing.T) {
	l, err := lane.New[int](lane.Config{Name: "db", Limit: 1, MaxWaiting: 1, MaxWait: time.Minute})
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
