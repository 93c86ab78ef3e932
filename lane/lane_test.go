//go:build go1.25

package lane_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/lane"
)

func nop(context.Context) (int, error) { return 1, nil }

// G-LAN-3; R12, B19: waiting callers get their permits in the order in which they
// came, or the other way around with Order Newest.
func TestLaneServesInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		order lane.Order
		want  []int
	}{"fifo": {lane.FIFO, []int{0, 1, 2, 3, 4}}, "newest": {lane.Newest, []int{4, 3, 2, 1, 0}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 5, MaxWait: time.Second, Order: c.order})
				release := hold(t, l, 1)
				var got []int
				var wg sync.WaitGroup
				for i := range 5 {
					wg.Go(func() {
						_, err := l.Do(t.Context(), func(context.Context) (int, error) {
							got = append(got, i) // one at a time: the limit is one
							return 0, nil
						})
						require.NoError(t, err)
					})
					synctest.Wait()
				}
				require.Equal(t, 5, l.Stats().Waiting)
				release()
				wg.Wait()
				require.Equal(t, c.want, got)
				require.EqualValues(t, 5, l.Stats().Wait.Count)
			})
		})
	}
}

// G-LAN-2; R10, R13: so many may wait and no more, so long and no longer.
func TestLaneBoundsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 2, MaxWait: 30 * time.Second})
		hold(t, l, 1)
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := l.Do(t.Context(), nop)
				errs <- err
			}()
		}
		synctest.Wait()
		start := time.Now()
		_, err := l.Do(t.Context(), nop)
		require.Equal(t, spillway.ReasonQueueFull, reasonOf(t, err))
		require.Zero(t, time.Since(start))
		require.Equal(t, 429, spillway.StatusOf(err).HTTP)
		for range 2 {
			err := <-errs
			require.Equal(t, spillway.ReasonMaxWait, reasonOf(t, err))
			var r *spillway.Rejection
			require.ErrorAs(t, err, &r)
			require.Equal(t, 30*time.Second, r.Wait)
		}
		require.Equal(t, 30*time.Second, time.Since(start))
		require.Zero(t, l.Stats().Waiting)
	})
}

// X3: nobody waits for ever: without MaxWait the context must have a deadline.
func TestLaneWithoutMaxWaitNeedsADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 2})
		_, err := l.Do(context.Background(), nop)
		var faults *spillway.ConfigError
		require.ErrorAs(t, err, &faults)
		require.Equal(t, "MaxWait", faults.Faults[0].Field)
		_, err = l.Admit(context.Background())
		require.ErrorAs(t, err, &faults)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		p, err := l.Admit(ctx)
		require.NoError(t, err)
		_, err = l.Do(ctx, nop)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, l.Stats().Waiting)
		p.Release()
	})
}

// G-LAN-4; R11, A11, B20: who gives up leaves nothing behind, and the next is served.
func TestLaneCancelledWaiterLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 1, MaxWait: time.Minute})
		release := hold(t, l, 1)
		cause := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		errs := make(chan error, 1)
		go func() {
			_, err := l.Do(ctx, nop)
			errs <- err
		}()
		synctest.Wait()
		cancel(cause)
		err := <-errs
		require.ErrorIs(t, err, cause)
		require.EqualError(t, err, `lane "test": waited 0s for a permit: gone`, "it says where")
		go func() {
			_, err := l.Do(t.Context(), nop) // has his place
			errs <- err
		}()
		synctest.Wait()
		require.Equal(t, 1, l.Stats().Waiting)
		release()
		require.NoError(t, <-errs)
		require.Zero(t, l.Stats().InUse)
		require.EqualValues(t, 1, l.Stats().Canceled)
	})
}

// G-LAN-5; B14, L-25, R16: resize, modes and close wake whom they concern.
func TestLaneChangesWakeTheWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*testing.T, *lane.Lane[int])
		check  func(*testing.T, error)
	}{
		"raise":  {func(t *testing.T, l *lane.Lane[int]) { require.NoError(t, l.SetLimit(3)) }, func(t *testing.T, err error) { require.NoError(t, err) }},
		"shadow": {func(t *testing.T, l *lane.Lane[int]) { require.NoError(t, l.SetMode(spillway.Shadow)) }, func(t *testing.T, err error) { require.NoError(t, err) }},
		"off":    {func(t *testing.T, l *lane.Lane[int]) { require.NoError(t, l.SetMode(spillway.Off)) }, func(t *testing.T, err error) { require.NoError(t, err) }},
		"refuse all": {func(t *testing.T, l *lane.Lane[int]) { require.NoError(t, l.SetMode(spillway.RefuseAll)) }, func(t *testing.T, err error) {
			require.Equal(t, spillway.ReasonRefuseAll, reasonOf(t, err))
		}},
		"shrink": {func(t *testing.T, l *lane.Lane[int]) { require.NoError(t, l.SetLimit(1)) }, func(t *testing.T, err error) {
			require.Equal(t, spillway.ReasonLimitShrunk, reasonOf(t, err))
		}},
		"close": {func(t *testing.T, l *lane.Lane[int]) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.ErrorIs(t, l.Close(ctx), context.DeadlineExceeded)
		}, func(t *testing.T, err error) { require.ErrorIs(t, err, spillway.ErrClosed) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLane(t, lane.Config{Limit: 2, MaxWaiting: 1, MaxWait: time.Minute})
				release := hold(t, l, 1)
				errs := make(chan error, 1)
				start := time.Now()
				go func() {
					_, err := l.DoN(t.Context(), 2, nop)
					errs <- err
				}()
				synctest.Wait()
				c.change(t, l)
				c.check(t, <-errs)
				require.LessOrEqual(t, time.Since(start), time.Second)
				release()
			})
		})
	}
}

// The hint of a refusal is how long those who wait will need.
func TestLaneRefusalsSayWhenToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 20, MaxWait: time.Minute})
		var wg sync.WaitGroup
		var hint atomic.Int64
		for range 200 { // a call takes 10 ms, one after the other
			wg.Go(func() {
				for {
					_, err := l.Do(t.Context(), func(context.Context) (int, error) { time.Sleep(10 * time.Millisecond); return 0, nil })
					if err == nil {
						return
					}
					var r *spillway.Rejection
					require.ErrorAs(t, err, &r)
					hint.Store(max(hint.Load(), int64(r.RetryAfter)))
					time.Sleep(max(r.RetryAfter, 50*time.Millisecond))
				}
			})
		}
		wg.Wait()
		require.Greater(t, time.Duration(hint.Load()), 150*time.Millisecond, "twenty times 10 ms wait in front")
		require.Less(t, time.Duration(hint.Load()), 300*time.Millisecond)
	})
}

// Newest first: the oldest is refused once the room has been standing for long.
func TestLaneNewestShedsTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 1, MaxWaiting: 10, MaxWait: time.Minute, Order: lane.Newest})
		release := hold(t, l, 1)
		errs := make(chan error, 2)
		start := time.Now()
		go func() { _, err := l.Do(t.Context(), nop); errs <- err }()
		err := <-errs
		require.Equal(t, spillway.ReasonDropped, reasonOf(t, err))
		require.Equal(t, 100*time.Millisecond, time.Since(start), "the room was empty a moment ago")
		release()
	})
}

// G-LAN-8.
func TestLaneUncontendedAllocatesNothing(t *testing.T) {
	l := newLane(t, lane.Config{Limit: 10, MaxWaiting: 10, MaxWait: time.Second, Predict: true})
	ctx := t.Context()
	do := testing.AllocsPerRun(1000, func() { _, _ = l.Do(ctx, nop) })
	admit := testing.AllocsPerRun(1000, func() {
		p, _ := l.Admit(ctx)
		p.Release()
	})
	if !invariant.Enabled { // the race detector allocates on its own account
		require.Zero(t, do)
		require.Zero(t, admit)
	}
	require.Zero(t, l.Stats().InUse)
}

// L-22: every fault is named.
func TestConfigListsEveryFault(t *testing.T) {
	_, err := lane.New[int](lane.Config{
		Limit: -1, MaxWaiting: -1, MaxWait: -1, Order: 7, Predict: true, Mode: 9, RetryAfter: -1, Track: 9, HoldWarn: -1,
	})
	var faults *spillway.ConfigError
	require.ErrorAs(t, err, &faults)
	var fields []string
	for _, f := range faults.Faults {
		fields = append(fields, f.Field)
	}
	require.Equal(t, []string{"Name", "Limit", "Mode", "RetryAfter", "Track", "HoldWarn", "MaxWaiting", "MaxWait", "Order"}, fields)
	_, err = lane.New[int](lane.Config{Name: "x", Limit: 1, MaxWait: 1, Predict: true, HoldWarn: 1})
	require.ErrorContains(t, err, "MaxWait is 1ns: needs MaxWaiting")
	require.ErrorContains(t, err, "Predict is true: needs MaxWaiting")
	require.ErrorContains(t, err, "HoldWarn is 1ns: needs Track")
}

// R184: the zero values refuse and hang nowhere.
func TestZeroLaneRefuses(t *testing.T) {
	var l lane.Lane[int]
	_, err := l.Do(t.Context(), nop)
	require.ErrorIs(t, err, spillway.ErrClosed)
	_, err = l.Admit(t.Context())
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.ErrorIs(t, l.SetLimit(1), spillway.ErrClosed)
	require.ErrorIs(t, l.SetMode(spillway.Off), spillway.ErrClosed)
	require.NoError(t, l.Close(t.Context()))
	require.True(t, l.Stats().Closed)
	require.Empty(t, l.Holders())
	require.Empty(t, l.Name())
	var s lane.Set[int]
	_, err = s.Do(s.Into(t.Context(), "x"), nop)
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.Nil(t, s.Lane("x"))
	require.Empty(t, s.Stats())
	require.NoError(t, s.Close(t.Context()))
	var r lane.Router[int]
	_, err = r.Do(r.Into(t.Context(), "x"), nop)
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.ErrorContains(t, err, "lane router")
	require.Empty(t, r.Name())
}

// R8: the same permits under another result type.
func TestShareIsTheSameLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, lane.Config{Limit: 1})
		other := lane.Share[string](l)
		_, err := other.Do(t.Context(), func(ctx context.Context) (string, error) {
			_, err := l.Do(ctx, nop)
			require.ErrorIs(t, err, spillway.ErrBackpressure)
			return "", nil
		})
		require.NoError(t, err)
		require.EqualValues(t, 1, l.Stats().Refused.Of(spillway.ReasonLimit))
	})
}
