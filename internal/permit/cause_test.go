package permit_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause/causetest"
	"github.com/spillway-go/spillway/internal/permit"
)

// F10: with Go 1.24, too, a done context of a stranger's type is admitted nowhere, and is counted once.
func TestStrangersContextThatIsDoneIsNotAdmitted(t *testing.T) {
	ended := causetest.Ended(t.Context())
	for _, full := range []bool{false, true} {
		for _, room := range []int{0, 1} {
			c := newCore(permit.Options{Room: room, MaxWait: time.Hour})
			var held spillway.Permit
			if full {
				held, _ = c.Admit(t.Context(), 1)
			}
			_, err := permit.Do(ended, c, 1, func(context.Context) (int, error) {
				t.Error("the operation ran")
				return 0, nil
			})
			require.Equal(t, context.Canceled, err)
			p, err := c.Admit(ended, 1)
			require.Equal(t, context.Canceled, err)
			require.Equal(t, spillway.Permit{}, p)
			st := c.Stats()
			require.EqualValues(t, 2, st.Canceled)
			require.Zero(t, st.Refused.Total())
			held.Release()
			requireWhole(t, c)
		}
	}
}

// leaving is a context whose caller goes as soon as he waits.
type leaving struct {
	causetest.Merged

	leave context.CancelFunc
}

func (l leaving) Done() <-chan struct{} {
	l.leave()
	return l.Context.Done()
}

func TestStrangersContextThatEndsInAWaitSaysSo(t *testing.T) {
	c := newCore(permit.Options{})
	held, err := c.Admit(t.Context(), 1)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	_, err = c.Wait(leaving{causetest.Merged{Context: ctx, Values: t.Context()}, cancel}, 1, 1)
	require.ErrorIs(t, err, context.Canceled)
	held.Release()
	requireWhole(t, c)
}

func TestStrangersContextThatEndsACloseSaysSo(t *testing.T) {
	c := newCore(permit.Options{})
	held, err := c.Admit(t.Context(), 1)
	require.NoError(t, err)
	require.ErrorIs(t, c.Close(causetest.Ended(t.Context())), context.Canceled)
	held.Release()
}
