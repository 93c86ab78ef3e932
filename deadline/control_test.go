//go:build go1.25

package deadline_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// B14: callers parked on one worker get in as soon as there are four.
func TestExecutorMoreWorkersFreeParkedCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{MaxSubmitters: 3, Drain: time.Hour})
		release := make(chan struct{})
		for range 4 {
			go func() { _, _ = e.Do(context.Background(), waiting(release)) }()
		}
		synctest.Wait()
		require.Equal(t, 3, e.Stats().Parked)
		require.NoError(t, e.SetWorkers(4))
		synctest.Wait()
		require.Zero(t, e.Stats().Parked)
		require.Equal(t, 4, e.Stats().Busy)
		close(release)
	})
}

// Row 62, E13: resize under load. Never more jobs at once than there were workers
// allowed at that time, and fewer workers lose nothing.
func TestExecutorResizesUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 4, Queue: 1000, Drain: time.Hour})
		var now, most atomic.Int64
		for range 600 {
			require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				return 0, nil
			}))
		}
		for _, n := range []int{4, 1, 8, 2, 16} {
			require.NoError(t, e.SetWorkers(n))
			time.Sleep(1500 * time.Millisecond) // what ran at the time of the change has ended
			most.Store(0)
			time.Sleep(8 * time.Second)
			require.Equal(t, int64(n), most.Load())
			st := e.Stats()
			require.Equal(t, n, st.Workers)
			require.Equal(t, n, st.Busy)
			require.Zero(t, st.Idle)
		}
		require.NoError(t, e.Close(context.Background()))
		require.Equal(t, uint64(600), e.Stats().Ended.Of(spillway.OutcomeOK))
	})
}

// Row 62: workers that are asleep go at once, and jobs that were as good as started
// still leave at their deadline.
func TestExecutorFewerWorkersKeepWhatWasAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 8, Queue: 0, TTL: time.Minute, Drain: time.Hour})
		release := occupy(t, e, 8)
		release()
		synctest.Wait()
		require.Equal(t, 8, e.Stats().Idle)
		for range 3 {
			must(t)(e.TrySubmit(t.Context(), stubborn(2*time.Minute)))
		}
		require.NoError(t, e.SetWorkers(1))
		_, err := e.TrySubmit(t.Context(), answer(1))
		requireReason(t, spillway.ReasonQueueFull, err)
		synctest.Wait()
		// Some of the three may have been started before; what wasn't waits, over the
		// queue's size for the moment.
		st := e.Stats()
		require.Equal(t, 3, st.Busy+st.Depth)
		require.Positive(t, st.Busy)
		time.Sleep(time.Minute)
		require.Equal(t, uint64(st.Depth), e.Stats().Refused.Of(spillway.ReasonExpired))
		time.Sleep(time.Hour)
		_, err = e.Do(t.Context(), answer(1))
		require.NoError(t, err)
	})
}

func TestExecutorSetWorkersRefusesNonsense(t *testing.T) {
	e := newExecutor(t, deadline.Config{Workers: 3})
	for _, n := range []int{0, -1, deadline.MaxWorkers + 1} {
		var cfg *spillway.ConfigError
		require.ErrorAs(t, e.SetWorkers(n), &cfg)
		require.Equal(t, n, cfg.Faults[0].Value)
	}
	require.Equal(t, 3, e.Stats().Workers)
	require.Error(t, e.SetMode(spillway.Mode(9)))
	require.Equal(t, spillway.Enforce, e.Stats().Mode)
}

// RefuseAll sheds what comes and who is parked, and lets go on what is in.
func TestExecutorRefuseAllShedsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var modes, workers [][2]int
		e := newExecutor(t, deadline.Config{Queue: 1, MaxSubmitters: 1, Drain: time.Hour, Hooks: []deadline.Hooks{{
			ModeChanged:    func(from, to spillway.Mode) { modes = append(modes, [2]int{int(from), int(to)}) },
			WorkersChanged: func(from, to int) { workers = append(workers, [2]int{from, to}) },
		}}})
		release := occupy(t, e, 1)
		in := must(t)(e.Submit(t.Context(), answer(1)))
		parked := make(chan error, 1)
		go func() { _, err := e.Do(context.Background(), answer(1)); parked <- err }()
		synctest.Wait()
		require.NoError(t, e.SetMode(spillway.RefuseAll))
		requireReason(t, spillway.ReasonRefuseAll, <-parked)
		requireReason(t, spillway.ReasonRefuseAll, e.Go(t.Context(), answer(1)))
		release()
		_, err := result(in)
		require.NoError(t, err)
		require.NoError(t, e.SetMode(spillway.Enforce))
		require.NoError(t, e.SetMode(spillway.Enforce))
		require.NoError(t, e.SetWorkers(2))
		_, err = e.Do(t.Context(), answer(1))
		require.NoError(t, err)
		require.Equal(t, [][2]int{{0, 3}, {3, 0}}, modes)
		require.Equal(t, [][2]int{{1, 2}}, workers)
		require.Equal(t, uint64(2), e.Stats().Refused.Of(spillway.ReasonRefuseAll))
	})
}

// The hook hears of every job that ran, of any kind, with its times and its end, and of
// no other.
func TestExecutorTellsOfJobsThatRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type told struct {
			wait, run time.Duration
			err       error
		}
		var all []told
		e := newExecutor(t, deadline.Config{Queue: 9, Drain: time.Hour, Hooks: []deadline.Hooks{{}, {
			Ran: func(_ context.Context, wait, run time.Duration, err error) { all = append(all, told{wait, run, err}) },
		}}})
		release := occupy(t, e, 1)
		fails := func(context.Context) (int, error) {
			time.Sleep(3 * time.Second)
			return 0, errOp
		}
		f := must(t)(e.Submit(t.Context(), fails))
		done, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := e.Do(done, answer(1))
		require.Error(t, err)
		time.Sleep(time.Second)
		release()
		_, err = result(f)
		require.ErrorIs(t, err, errOp)
		require.Equal(t, []told{{0, time.Second, nil}, {time.Second, 3 * time.Second, errOp}}, all)
	})
}
