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

// Row 49: a producer that waits for room goes as fast as the workers.
func TestExecutorSubmitCouplesTheRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 4, MaxSubmitters: 1, Drain: time.Hour})
		begin := time.Now()
		for range 106 {
			must(t)(e.Submit(t.Context(), lasting(100*time.Millisecond)))
		}
		require.Equal(t, 50*100*time.Millisecond, time.Since(begin)) // 100 of 106 had to wait, 2 at a time
	})
}

// Row 50: both modes on one queue; who refuses to wait doesn't push in before who waits.
func TestExecutorMixesBothModesOnOneQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1, MaxSubmitters: 1, Drain: time.Hour})
		release := occupy(t, e, 1)
		must(t)(e.TrySubmit(t.Context(), answer(1)))
		parked := make(chan error, 1)
		go func() {
			_, err := e.Submit(t.Context(), answer(2))
			parked <- err
		}()
		synctest.Wait()
		require.Equal(t, 1, e.Stats().Parked)
		_, err := e.TrySubmit(t.Context(), answer(3))
		requireReason(t, spillway.ReasonQueueFull, err)
		_, err = e.Submit(t.Context(), answer(4)) // there is no place to park either
		requireReason(t, spillway.ReasonQueueFull, err)
		require.Empty(t, parked)
		release()
		require.NoError(t, <-parked)
		synctest.Wait()
		require.Equal(t, uint64(3), e.Stats().Ended.Total())
	})
}

// B16: full queue, drained; everybody who waited for room gets it.
func TestExecutorParkedSubmittersAllGetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Workers: 2, Queue: 3, MaxSubmitters: 500, Drain: time.Hour})
		release := occupy(t, e, 2)
		var in atomic.Int64
		for range 400 {
			go func() {
				if _, err := e.Submit(context.Background(), answer(1)); err == nil {
					in.Add(1)
				}
			}()
		}
		synctest.Wait()
		require.Equal(t, 397, e.Stats().Parked)
		require.Equal(t, 3, e.Stats().Depth)
		release()
		synctest.Wait()
		require.Equal(t, int64(400), in.Load())
	})
}

// B20, P14: a parked submitter leaves with its context, and makes room for another.
func TestExecutorParkedSubmitterLeavesWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1, MaxSubmitters: 2, Drain: time.Hour})
		release := occupy(t, e, 1)
		must(t)(e.TrySubmit(t.Context(), answer(1)))
		ctx, cancel := context.WithCancelCause(t.Context())
		timed, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		canceled, late := make(chan error, 1), make(chan error, 1)
		go func() { _, err := e.Submit(ctx, answer(2)); canceled <- err }()
		go func() { _, err := e.Do(timed, answer(3)); late <- err }()
		synctest.Wait()
		require.Equal(t, 2, e.Stats().Parked)
		cancel(errOp)
		require.Same(t, errOp, <-canceled)
		require.Equal(t, 1, e.Stats().Parked)
		begin := time.Now()
		r := rejectionOf(t, spillway.ReasonExpired, <-late)
		require.Equal(t, time.Second, time.Since(begin))
		require.Equal(t, time.Second, r.Wait)
		require.Zero(t, e.Stats().Parked)
		release()
	})
}

// Row 97: the TTL runs from the call on, also while it is parked.
func TestExecutorParkedSubmitterExpiresByTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1, MaxSubmitters: 2, TTL: 2 * time.Second, Drain: time.Hour})
		require.NoError(t, e.Go(t.Context(), stubborn(time.Minute)))
		must(t)(e.TrySubmit(t.Context(), answer(1)))
		begin := time.Now()
		time.Sleep(time.Second)
		go func() {
			_, err := e.Do(context.Background(), answer(2))
			require.ErrorIs(t, err, deadline.ErrExpired)
			require.Equal(t, 3*time.Second, time.Since(begin))
		}()
		synctest.Wait()
		require.Equal(t, 1, e.Stats().Parked)
		time.Sleep(1500 * time.Millisecond) // the queued one has expired: the parked one took its place
		require.Equal(t, 1, e.Stats().Depth)
		require.Zero(t, e.Stats().Parked)
	})
}

// Row 63: the oldest makes way and its owner is told; the newest gets in, always.
func TestExecutorDropsTheOldestIfToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink failures
		e := newExecutor(t, deadline.Config{Queue: 2, Overflow: deadline.DropOldest, Sink: sink.sink, Drain: time.Hour})
		release := occupy(t, e, 1)
		first := must(t)(e.Submit(t.Context(), answer(1)))
		require.NoError(t, e.GoN(t.Context(), 20, answer(2)))
		time.Sleep(time.Second)
		third := must(t)(e.Submit(t.Context(), answer(3)))
		_, err := first.Result()
		r := rejectionOf(t, spillway.ReasonDropped, err)
		require.Equal(t, time.Second, r.Wait)
		fourth := must(t)(e.Submit(t.Context(), answer(4)))
		require.Len(t, sink.all(), 1)
		require.Equal(t, 20, sink.all()[0].Items)
		requireReason(t, spillway.ReasonDropped, sink.all()[0].Err)
		release()
		for i, f := range []*deadline.Future[int]{third, fourth} {
			v, err := result(f)
			require.NoError(t, err)
			require.Equal(t, 3+i, v)
		}
		st := e.Stats()
		require.Equal(t, uint64(2), st.Refused.Of(spillway.ReasonDropped))
		require.Equal(t, uint64(20), st.LostItems)
	})
}

// Row 63: what is dead already goes before what is only old.
func TestExecutorDropsTheExpiredBeforeTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 2, Overflow: deadline.DropOldest, Drain: time.Hour})
		release := occupy(t, e, 1)
		old := must(t)(e.Submit(t.Context(), answer(1)))
		ctx, cancel := context.WithCancel(t.Context())
		dead := must(t)(e.Submit(ctx, answer(2)))
		cancel()
		must(t)(e.Submit(t.Context(), answer(3)))
		_, err := old.Result()
		require.ErrorIs(t, err, deadline.ErrPending)
		_, err = dead.Result()
		require.ErrorIs(t, err, context.Canceled)
		release()
		_, err = result(old)
		require.NoError(t, err)
	})
}

// Row 35, E22 of the seed: fire and forget returns at once and says what was lost.
func TestExecutorGoNeverWaitsAndReportsEachJobOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink failures
		e := newExecutor(t, deadline.Config{Queue: 2, MaxSubmitters: 9, TTL: time.Minute, Sink: sink.sink, Drain: time.Hour})
		begin := time.Now()
		require.NoError(t, e.Go(t.Context(), stubborn(time.Hour)))
		synctest.Wait()
		require.NoError(t, e.GoN(t.Context(), 10, answer(1)))
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, e.GoN(ctx, 100, answer(1)))
		requireReason(t, spillway.ReasonQueueFull, e.GoN(t.Context(), 1000, answer(1)))
		require.Zero(t, time.Since(begin))
		cancel()
		time.Sleep(time.Millisecond) // a full queue is looked through for the canceled only so often
		require.NoError(t, e.GoN(t.Context(), 5, answer(1)), "the canceled one makes room")
		time.Sleep(time.Minute)
		synctest.Wait()
		lost := map[int]error{}
		for _, f := range sink.all() {
			lost[f.Items] = f.Err
		}
		require.Len(t, sink.all(), 3)
		require.ErrorIs(t, lost[10], deadline.ErrExpired)
		require.ErrorIs(t, lost[100], context.Canceled)
		require.ErrorIs(t, lost[5], deadline.ErrExpired)
		require.Equal(t, uint64(1115), e.Stats().LostItems)
	})
}

// Row 35: what failed comes with its times.
func TestExecutorSinkIsToldOfFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink failures
		e := newExecutor(t, deadline.Config{Queue: 2, Sink: sink.sink, Drain: time.Hour})
		require.NoError(t, e.Go(t.Context(), lasting(2*time.Second)))
		require.NoError(t, e.GoN(t.Context(), 7, func(context.Context) (int, error) {
			time.Sleep(time.Second)
			return 0, errOp
		}))
		time.Sleep(time.Minute)
		require.Equal(t, []deadline.Failure{{Err: errOp, Items: 7, Wait: 2 * time.Second, Run: time.Second}}, sink.all())
		require.Equal(t, uint64(7), e.Stats().LostItems)
	})
}
