//go:build go1.25

package retry_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/retry"
)

var errCause = errors.New("the user has left")

// C16, P14: a done context gets no attempt, and no random pick of two ready cases.
// G-RET-7.
func TestRetrierMakesNoAttemptForADoneContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCause)
	for _, p := range []retry.Policy{fixed(1), fixed(3), {MaxAttempts: retry.Unlimited, Base: 1, Cap: 1, MaxElapsed: 1}} {
		r := newRetrier(t, p)
		for range 1000 {
			_, rep, err := r.DoReport(ctx, func(context.Context) (int, error) {
				t.Error("an attempt was made")
				return 0, nil
			})
			require.Same(t, errCause, err)
			require.Equal(t, retry.StopCanceled, rep.Reason)
			require.Zero(t, rep.Attempts)
		}
		_, err := r.Do(ctx, nil)
		require.Same(t, errCause, err)
		require.EqualValues(t, 1001, r.Stats().Canceled)
		require.Zero(t, r.Stats().Originals)
	}
}

// C15, F20, P14, R75, E3: cancelled at any point, there is no further attempt, and the
// sleep ends at once. G-RET-7.
func TestRetrierEndsAtOnceWhenItsContextDoes(t *testing.T) {
	for name, where := range map[string]string{"operation": "op", "hook": "hook", "sleep": "sleep", "same moment": "edge"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				p, runs, start := fixed(10), 0, time.Now()
				p.Budget = newBudget(t, retry.BudgetConfig{Ratio: 1, Burst: 5})
				told := 0
				p.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) {
					told++
					switch where {
					case "hook":
						cancel(errCause)
					case "sleep":
						time.AfterFunc(time.Second, func() { cancel(errCause) })
					case "edge":
						time.AfterFunc(2*time.Second, func() { cancel(errCause) })
					}
				}}}
				r := newRetrier(t, p)
				_, err := r.Do(ctx, func(context.Context) (int, error) {
					if runs++; where == "op" {
						cancel(errCause)
					}
					return 0, errOp
				})
				if where == "edge" && runs == 2 {
					return // the retry was a moment earlier than its end
				}
				e := exhausted(t, err)
				require.Equal(t, retry.StopCanceled, e.Reason)
				require.False(t, e.CutByTime())
				require.Equal(t, errCause, e.Cause)
				require.ErrorIs(t, err, errCause)
				require.ErrorIs(t, err, errOp)
				require.ErrorContains(t, err, "the context ended (the user has left): the operation failed")
				require.Equal(t, 1, runs)
				require.LessOrEqual(t, time.Since(start), 2*time.Second)
				require.EqualValues(t, told, r.Stats().Delays.Count)
				require.Equal(t, where != "op", told == 1, "no back-off begins on a done context")
				// C37: what was paid for and not made is paid back.
				require.InDelta(t, 5, p.Budget.Stats().Available, 0)
				require.Equal(t, p.Budget.Stats().Granted, p.Budget.Stats().Refunded)
				requireConserved(t, r.Stats())
			})
		})
	}
}

// C17, P14, T-03: a back-off that the deadline wouldn't let be followed by an
// attempt isn't begun; the edge is exclusive. G-RET-8.
func TestRetrierDoesNotSleepTowardsTheDeadline(t *testing.T) {
	for left, want := range map[time.Duration]int{2*time.Second - 1: 1, 2 * time.Second: 1, 2*time.Second + 1: 2, 6 * time.Second: 2, 7 * time.Second: 3} {
		bubble(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			start := time.Now()
			r := newRetrier(t, fixed(retry.Unlimited))
			_, err := r.Do(ctx, failing(errOp))
			e := exhausted(t, err)
			require.Equal(t, retry.StopDeadline, e.Reason)
			require.True(t, e.CutByTime())
			require.Equal(t, want, e.Attempts, "%v", left)
			require.NoError(t, ctx.Err(), "it returned before the deadline")
			require.NoError(t, e.Cause)
			require.Equal(t, e.Delay, time.Since(start))
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			requireConserved(t, r.Stats())
		})
	}
	bubble(t, func(t *testing.T) { // the deadline passes while an attempt runs
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := newRetrier(t, fixed(3)).Do(ctx, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, errOp
		})
		require.Equal(t, retry.StopDeadline, exhausted(t, err).Reason)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, outcomeTimeout, spillway.OutcomeOf(err))
	})
}

// C13, C27, T-03, T-05, R74: MaxElapsed bounds the whole, with the next back-off
// counted in, and its edge is exclusive. G-RET-8.
func TestRetrierStopsBeforeMaxElapsed(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		elapsed time.Duration // MaxElapsed
		takes   time.Duration // each attempt
		want    int
	}{
		"edge":                        {2 * time.Second, 0, 1},
		"a moment more":               {2*time.Second + 1, 0, 2},
		"attempts count":              {2*time.Second + 500*ms, 500 * ms, 1},
		"attempts count, and fit":     {2*time.Second + 501*ms, 500 * ms, 2},
		"third":                       {6*time.Second + 1, 0, 3},
		"first is longer than all":    {time.Second, time.Hour, 1},
		"nearly for ever":             {math.MaxInt64, time.Hour, 5},
		"for ever, the delay is huge": {math.MaxInt64 - 1, 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := fixed(5)
				p.MaxElapsed = c.elapsed
				r := newRetrier(t, p)
				_, err := r.Do(t.Context(), func(context.Context) (int, error) {
					time.Sleep(c.takes)
					return 0, errOp
				})
				e := exhausted(t, err)
				require.Equal(t, c.want, e.Attempts)
				require.Equal(t, c.want < 5, e.CutByTime())
				requireConserved(t, r.Stats())
			})
		})
	}
}

// C11, C12, R76: a hint is waited for, or the operation is given up at once; it never
// makes a bound longer.
func TestRetrierWaitsForHintsWithinItsBounds(t *testing.T) {
	for name, c := range map[string]struct {
		hint   time.Duration
		reason retry.StopReason
	}{
		"honoured":            {time.Second, retry.StopSuccess},
		"as long as allowed":  {10 * time.Second, retry.StopSuccess},
		"longer than MaxHint": {10*time.Second + 1, retry.StopHint},
		"for ever":            {math.MaxInt64, retry.StopHint},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				start := time.Now()
				s := &script{errs: []error{retry.After(errOp, c.hint)}}
				_, rep, err := newRetrier(t, retry.DefaultPolicy()).DoReport(t.Context(), s.op)
				require.Equal(t, c.reason, rep.Reason)
				if c.reason == retry.StopSuccess {
					require.NoError(t, err)
					require.GreaterOrEqual(t, time.Since(start), c.hint)
					return
				}
				require.True(t, exhausted(t, err).CutByTime())
				require.Zero(t, time.Since(start))
				require.Equal(t, c.hint, retry.Hint(err), "those further up can pass it on")
			})
		})
	}
	bubble(t, func(t *testing.T) { // MaxElapsed without MaxHint
		p, start := fixed(3), time.Now()
		p.MaxElapsed = time.Hour
		_, err := newRetrier(t, p).Do(t.Context(), failing(retry.After(errOp, math.MaxInt64)))
		require.Equal(t, retry.StopElapsed, exhausted(t, err).Reason)
		require.Zero(t, time.Since(start))
	})
}

// C28, C12, C22: without a limit of attempts there must be one of time.
func TestRetrierWithUnlimitedAttemptsNeedsATimeBound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := retry.Policy{MaxAttempts: retry.Unlimited, Base: time.Millisecond, Cap: time.Millisecond, Idempotent: true}
		r := newRetrier(t, p)
		_, err := r.Do(t.Context(), func(context.Context) (int, error) {
			t.Error("an attempt was made")
			return 0, nil
		})
		var config *spillway.ConfigError
		require.ErrorAs(t, err, &config)
		require.EqualValues(t, 1, r.Stats().Invalid)
		require.Equal(t, retry.Stop, retry.Classify(err))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = r.Do(ctx, failing(errOp))
		e := exhausted(t, err)
		require.Greater(t, e.Attempts, 1000)
		require.Equal(t, retry.StopDeadline, e.Reason)
		require.ErrorContains(t, err, "gave up after attempt ")
		requireConserved(t, r.Stats())
	})
}

// C22, C48: a hundred thousand attempts keep no more than two. G-RET-9.
func TestRetrierKeepsNothingOfEarlierAttempts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := retry.Policy{MaxAttempts: retry.Unlimited, Base: 1, Cap: 1, MaxElapsed: time.Hour, Idempotent: true}
		runs := 0
		var before, after runtime.MemStats
		_, err := newRetrier(t, p).Do(t.Context(), func(context.Context) (int, error) {
			switch runs++; runs {
			case 10:
				runtime.GC()
				runtime.ReadMemStats(&before)
			case 100_000:
				runtime.GC()
				runtime.ReadMemStats(&after)
				return 0, nil
			}
			return 0, errors.New(string(make([]byte, 1000)))
		})
		require.NoError(t, err)
		require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(64<<10))
	})
}

// C30: cancelled sleeps leave neither timers nor memory. G-RET-9.
func TestRetrierCancelledSleepsLeaveNothingBehind(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRetrier(t, fixed(2))
		sleeps := func(rounds int) {
			for range rounds {
				ctx, cancel := context.WithCancel(t.Context())
				hammer.Together(1000, func(i int) {
					_, err := r.Do(ctx, func(context.Context) (int, error) {
						if i == 0 {
							time.AfterFunc(1, cancel)
						}
						return 0, errOp
					})
					require.ErrorIs(t, err, context.Canceled)
				})
			}
		}
		sleeps(1)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		sleeps(100)
		runtime.GC()
		runtime.ReadMemStats(&after)
		require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(2<<20))
		require.EqualValues(t, 101_000, r.Stats().Ended.Of(retry.StopCanceled))
		requireConserved(t, r.Stats())
		// A timer that was left would go off now, at the end of its two seconds.
		time.Sleep(time.Minute)
	})
}
