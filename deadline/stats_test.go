//go:build go1.25

package deadline_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// Row 61: depth, capacity, wait, run and oldest age.
func TestExecutorStatsShowTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 5, MaxSubmitters: 3, Drain: time.Hour})
		require.Equal(t, deadline.Stats{Name: "test", Capacity: 5, MaxSubmitters: 3, Workers: 2, Idle: 2}, e.Stats())
		_, err := e.Do(t.Context(), answer(1))
		require.NoError(t, err)
		for range 2 {
			must(t)(e.Submit(t.Context(), lasting(10*time.Second)))
		}
		time.Sleep(time.Second)
		for range 5 {
			must(t)(e.Submit(t.Context(), lasting(10*time.Second)))
			time.Sleep(time.Second)
		}
		for range 3 {
			go func() { _, _ = e.Do(context.Background(), answer(1)) }()
		}
		synctest.Wait()
		st := e.Stats()
		require.Equal(t, 5, st.Depth)
		require.Equal(t, 3, st.Parked)
		require.Equal(t, 2, st.Busy)
		require.Zero(t, st.Idle)
		require.Equal(t, 5*time.Second, st.Oldest)
		require.Equal(t, uint64(11), st.Submitted)
		require.Equal(t, uint64(1), st.Run.Count)
		require.NoError(t, e.Close(context.Background()))
		st = e.Stats()
		require.Zero(t, st.Oldest)
		require.Equal(t, uint64(3), st.AfterClose)
		require.Equal(t, uint64(8), st.Run.Count)
		require.Equal(t, uint64(8), st.Wait.Count)
		require.Equal(t, 70*time.Second, st.Run.Sum)
		require.Equal(t, (9+8+17+16+25)*time.Second, st.Wait.Sum)
	})
}

// Row 27 of the statistics: snapshots of the same executor under another type.
func TestExecutorSharesItsStatistics(t *testing.T) {
	e := newExecutor(t, deadline.Config{Queue: 5})
	s := deadline.Share[string](e)
	_, err := s.Do(t.Context(), func(context.Context) (string, error) { return "", errOp })
	require.ErrorIs(t, err, errOp)
	require.Equal(t, uint64(1), e.Stats().Submitted)
	require.NoError(t, s.SetMode(spillway.RefuseAll))
	require.Equal(t, spillway.RefuseAll, e.Stats().Mode)
	require.NoError(t, s.Close(t.Context()))
	require.ErrorIs(t, e.Go(t.Context(), answer(1)), spillway.ErrClosed)
}

// Where jobs come by microseconds most of them are not timed; what is counted is exact.
func TestExecutorCountsAreExactWhereTimesAreSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1000, Drain: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		release := occupy(t, e, 1)
		for range 800 {
			require.NoError(t, e.Go(ctx, answer(1)))
		}
		time.Sleep(10 * time.Second)
		require.Equal(t, 10*time.Second, e.Stats().Oldest)
		release()
		synctest.Wait()
		st := e.Stats()
		require.Equal(t, uint64(801), st.Ended.Total())
		require.GreaterOrEqual(t, st.Wait.Count, uint64(800/64))
		require.GreaterOrEqual(t, st.Run.Count, uint64(800/64))
	})
}
