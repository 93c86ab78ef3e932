//go:build go1.25

package deadline_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// brisk hands in so many jobs of Go behind one that holds the only worker, so that the
// worker then does them in one go, and most of them without a look at the clock.
func brisk(ctx context.Context, t *testing.T, e *deadline.Executor[int], n int, op func(i int) spillway.Op[int]) (release func()) {
	t.Helper()
	release = occupy(t, e, 1)
	for i := range n {
		require.NoError(t, e.Go(ctx, op(i)))
	}
	return release
}

// W6, E10: G-EXE-2: among jobs of no length there is one of five seconds. Whose time is up
// behind it isn't started, though nobody looked at the clock for each of them before.
func TestExecutorBriskJobsExpireBehindALongOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1000, Drain: time.Hour})
		short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		long, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var ran atomic.Int64
		release := brisk(long, t, e, 101, func(i int) spillway.Op[int] {
			if i == 100 {
				return stubborn(5 * time.Second)
			}
			return counted(&ran)
		})
		for range 100 { // the two take turns, so that a late start would have to be by chance right
			require.NoError(t, e.Go(short, counted(&ran)))
			require.NoError(t, e.Go(deadlineOnly{t.Context(), time.Now().Add(3 * time.Second)}, counted(&ran)))
			require.NoError(t, e.Go(long, counted(&ran)))
		}
		release()
		time.Sleep(10 * time.Second)
		st := e.Stats()
		require.Equal(t, int64(200), ran.Load())
		require.Equal(t, uint64(200), st.Refused.Of(spillway.ReasonExpired))
		require.GreaterOrEqual(t, st.Run.Sum, 5*time.Second, "the long one was seen")
	})
}

// G-EXE-7: that a job ended too late is seen though those before it took no time.
func TestExecutorBriskJobsThatAreLateAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1000, Drain: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		release := brisk(ctx, t, e, 150, func(i int) spillway.Op[int] {
			if i == 149 {
				return stubborn(5 * time.Second)
			}
			return answer(1)
		})
		release()
		time.Sleep(10 * time.Second)
		st := e.Stats()
		require.Equal(t, uint64(1), st.Late)
		require.Equal(t, uint64(1), st.Ended.Of(spillway.OutcomeLate))
		require.Equal(t, uint64(150), st.Ended.Of(spillway.OutcomeOK))
	})
}

// E3: G-EXE-2: a job whose context the job right before it has canceled isn't started, and
// the sink is told.
func TestExecutorBriskJobCancelsThoseBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sunk failures
		e := newExecutor(t, deadline.Config{Queue: 1000, Drain: time.Hour, Sink: sunk.sink})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		doomed, doom := context.WithCancelCause(ctx)
		var ran, started atomic.Int64
		release := brisk(ctx, t, e, 100, func(i int) spillway.Op[int] {
			if i == 60 {
				return func(context.Context) (int, error) { doom(errOp); return 1, nil }
			}
			return counted(&ran)
		})
		for range 50 {
			require.NoError(t, e.Go(doomed, counted(&started)))
			require.NoError(t, e.Go(ctx, counted(&ran)))
		}
		release()
		require.NoError(t, e.Close(t.Context()))
		require.Zero(t, started.Load())
		require.Equal(t, int64(99+50), ran.Load())
		require.Equal(t, uint64(50), e.Stats().Canceled)
		require.Len(t, sunk.all(), 50)
		for _, f := range sunk.all() {
			require.ErrorIs(t, f.Err, errOp)
		}
	})
}

// E7, E8: G-EXE-6: a panic, a Goexit and an error among jobs that are done in one go. They
// are handed in by a job, while the work is brisk, so that those go in without a look at
// the clock either.
func TestExecutorBriskJobsMayEndAnyhow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sunk failures
		e := newExecutor(t, deadline.Config{Queue: 1000, Drain: time.Hour, Sink: sunk.sink})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var ran atomic.Int64
		var order []int
		op := func(i int) spillway.Op[int] {
			return func(context.Context) (int, error) {
				order = append(order, i)
				switch i % 100 {
				case 50:
					panic("no")
				case 60:
					runtime.Goexit()
				case 70:
					return 0, errOp
				}
				return int(ran.Add(1)), nil
			}
		}
		release := brisk(ctx, t, e, 100, func(i int) spillway.Op[int] {
			if i != 30 {
				return answer(1)
			}
			return func(context.Context) (int, error) {
				for i := range 300 {
					require.NoError(t, e.Go(ctx, op(i)))
				}
				return 1, nil
			}
		})
		release()
		synctest.Wait()
		require.NoError(t, e.Close(t.Context()))
		st := e.Stats()
		require.Equal(t, int64(291), ran.Load())
		require.Equal(t, uint64(6), st.Aborted)
		require.Equal(t, uint64(401), st.Submitted)
		require.Equal(t, uint64(9), st.LostItems)
		require.Len(t, sunk.all(), 9)
		for i := range order {
			require.Equal(t, i, order[i])
		}
	})
}

// B22: G-EXE-8, G-EXE-3: jobs leave from everywhere in a long queue, and the others keep
// their order.
func TestExecutorKeepsTheOrderPastThoseThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 10_000, Drain: time.Hour})
		release := occupy(t, e, 1)
		var order []int
		note := func(i int) spillway.Op[int] {
			return func(context.Context) (int, error) { order = append(order, i); return 1, nil }
		}
		gone, futures, number := 0, []*deadline.Future[int]{}, 0
		for round := range 40 {
			soon := deadlineOnly{t.Context(), time.Now().Add(time.Second)}
			canceled, doom := context.WithCancel(t.Context())
			for i := range 60 {
				switch (i + round) % 4 {
				case 0:
					require.NoError(t, e.Go(soon, note(-1)))
					gone++
				case 1:
					futures = append(futures, must(t)(e.TrySubmit(canceled, note(-1))))
					gone++
				case 2:
					require.NoError(t, e.Go(t.Context(), note(number)))
					number++
				case 3:
					must(t)(e.TrySubmit(t.Context(), note(number)))
					number++
				}
			}
			doom()
			time.Sleep(2 * time.Second)
			require.Equal(t, number, e.Stats().Depth)
		}
		release()
		synctest.Wait()
		require.Len(t, order, number)
		for i := range order {
			require.Equal(t, i, order[i])
		}
		for _, f := range futures {
			_, err := result(f)
			require.ErrorIs(t, err, context.Canceled)
		}
		st := e.Stats()
		require.Equal(t, uint64(gone), st.Canceled+st.Refused.Of(spillway.ReasonExpired))
	})
}

// G-EXE-4: contexts that aren't pointers get one of their own for each job, and each of
// those ends with its job, also among jobs that are done in one go.
func TestExecutorBriskJobsContextsEndWithThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1000, Drain: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var seen []context.Context
		release := occupy(t, e, 1)
		for range 100 {
			own := deadlineOnly{t.Context(), time.Now().Add(time.Minute)}
			require.NoError(t, e.Go(ctx, answer(1)))
			require.NoError(t, e.Go(own, func(ctx context.Context) (int, error) {
				_ = ctx.Done() // from here on there is something to end
				seen = append(seen, ctx)
				return 1, nil
			}))
		}
		release()
		synctest.Wait()
		require.Len(t, seen, 100)
		for _, ctx := range seen {
			require.ErrorIs(t, ctx.Err(), context.Canceled)
		}
	})
}
