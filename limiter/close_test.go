//go:build go1.25

package limiter_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
)

// A17, R17.
func TestLimiterThatWasClosedStaysClosed(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 5})
	require.NoError(t, l.Close(t.Context()))
	require.NoError(t, l.SetLimit(1))
	require.NoError(t, l.SetMode(spillway.Off))
	_, err := l.Do(t.Context(), answer(1))
	require.Equal(t, &spillway.ClosedError{Component: "limiter", Name: "test"}, err)
	_, err = l.Admit(t.Context())
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.Equal(t, uint64(2), l.Stats().AfterClose)
	require.True(t, l.Stats().Closed)
}

// F2, R17.
func TestLimiterCloseReturnsToEverybodyWhenTheLastCallIsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: 9})
		p := admit(t, l, 1)
		go func() {
			_, _ = l.DoN(context.Background(), 4, func(context.Context) (int, error) {
				time.Sleep(time.Hour)
				return 1, nil
			})
		}()
		synctest.Wait()
		closed := make(chan error, 64)
		for range 64 {
			go func() { closed <- l.Close(context.Background()) }()
		}
		synctest.Wait()
		p.Release()
		time.Sleep(time.Hour - 1)
		require.Empty(t, closed)
		for range 64 {
			require.NoError(t, <-closed)
		}
		requireWhole(t, l)
	})
}

// F2, L-25: a call that closes its own limiter waits for itself, but not for ever.
func TestLimiterCloseFromWithinACallEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: 5})
		v, err := l.DoN(t.Context(), 3, func(ctx context.Context) (int, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			err := l.Close(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.EqualError(t, err, `limiter "test": closed with 3 permits still in use: context deadline exceeded`)
			return 8, nil
		})
		require.NoError(t, err)
		require.Equal(t, 8, v)
		require.NoError(t, l.Close(t.Context()))
		requireWhole(t, l)
	})
}

// R17: ghosts are nobody's, so nobody waits for them.
func TestLimiterCloseDoesNotWaitForGhosts(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 2})
	admit(t, l, 1).ReleaseAfter(time.Hour)
	require.NoError(t, l.Close(t.Context()))
	require.Equal(t, 1, l.Stats().Ghosts)
}

func TestLimiterGhostKeepsItsPermitForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: 1})
		p := admit(t, l, 1)
		p.ReleaseAfter(time.Second)
		p.Release()
		_, err := l.Do(t.Context(), answer(1))
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		st := l.Stats()
		require.Equal(t, 1, st.InUse)
		require.Equal(t, 1, st.Ghosts)
		require.Equal(t, uint64(1), st.GhostsTotal)
		require.Equal(t, uint64(1), st.Ended.Of(spillway.OutcomeTimeout))
		time.Sleep(time.Second + 1)
		v, err := l.Do(t.Context(), answer(2))
		require.NoError(t, err)
		require.Equal(t, 2, v)
		require.Zero(t, l.Stats().Ghosts)
		requireWhole(t, l)
	})
}
