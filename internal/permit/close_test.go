//go:build go1.25

package permit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// A17, R17.
func TestCloseLastsThroughResizesAndModes(t *testing.T) {
	c := newCore(permit.Options{Limit: 5})
	require.NoError(t, c.Close(t.Context()))
	for _, change := range []func() error{
		func() error { return c.SetLimit(1) },
		func() error { return c.SetLimit(permit.MaxLimit) },
		func() error { return c.SetMode(spillway.Off) },
		func() error { return c.SetMode(spillway.Shadow) },
		func() error { return c.SetMode(spillway.RefuseAll) },
		func() error { return c.SetMode(spillway.Enforce) },
	} {
		require.NoError(t, change())
		_, err := c.Enter(t.Context(), 1)
		require.Equal(t, &spillway.ClosedError{Component: "core", Name: "test"}, err)
		_, err = c.Wait(t.Context(), 1, 9)
		require.ErrorIs(t, err, spillway.ErrClosed)
	}
	require.True(t, c.Stats().Closed)
	require.Equal(t, uint64(12), c.Stats().AfterClose)
}

// F2.
func TestCloseReturnsToEverybodyWhenTheLastPermitIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 2})
		u, v := enter(t, c, 1), enter(t, c, 1)
		closed := make(chan error, 65)
		for range 64 {
			go func() { closed <- c.Close(context.Background()) }()
		}
		synctest.Wait()
		c.Leave(u, spillway.OutcomeOK)
		synctest.Wait()
		require.Empty(t, closed)
		c.Abort(v)
		for range 64 {
			require.NoError(t, <-closed)
		}
		require.NoError(t, c.Close(context.Background()))
		requireWhole(t, c)
	})
}

// F2, L-25: the number is that of the permits, without the ghosts.
func TestCloseThatIsGivenUpTellsHowManyAreOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 9})
		u := enter(t, c, 3)
		haunt(t, c, 4, time.Hour)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errGone)
		defer cancel()
		err := c.Close(ctx)
		require.ErrorIs(t, err, errGone)
		require.EqualError(t, err, `core "test": closed with 3 permits still in use: the caller has gone`)
		_, err = c.Enter(t.Context(), 1)
		require.ErrorIs(t, err, spillway.ErrClosed)
		c.Leave(u, spillway.OutcomeOK)
		require.NoError(t, c.Close(ctx), "a done context is no matter if nothing is out")
	})
}

// P9: a core that was closed and dropped leaves no timer behind that holds it.
func TestCloseEndsTheWaitForWhatTimeBrings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{MaxWait: time.Hour})
		u := enter(t, c, 1)
		w := wait(c, 1, 1)
		require.True(t, c.Armed())
		c.Leave(u, spillway.OutcomeOK)
		w.requireAdmitted(t)
		w.leave()
		require.NoError(t, c.Close(t.Context()))
		require.False(t, c.Armed())
	})
}
