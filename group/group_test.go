//go:build go1.25

package group_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/group"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/retry"
)

// G-GRP-5; R34: results come in the order of submission, not in that of the ends.
func TestGroupReturnsResultsInTheOrderOfSubmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, newLimiter(t, 10), group.Config{})
		for i := range 10 {
			require.NoError(t, g.Go(func(context.Context) (int, error) {
				time.Sleep(time.Duration(10-i) * time.Second)
				return i, nil
			}))
		}
		require.NoError(t, g.Wait())
		for i, r := range g.Results() {
			require.Equal(t, group.Result[int]{Value: i, Started: true}, r)
		}
		require.EqualValues(t, 10, g.Stats().Succeeded())
	})
}

// G-GRP-1; R33, E34, X5: a full limiter refuses before anything starts, and the refusal is
// an outcome of the group, also if nobody looks at the error of Go.
func TestGroupFullLimiterRefusesBeforeTheGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 2)
		g := newGroup(t, l, group.Config{Name: "fan"})
		release := make(chan struct{})
		var started atomic.Int32
		for i := range 5 {
			err := g.Go(func(context.Context) (int, error) { started.Add(1); <-release; return i, nil })
			require.Equal(t, i >= 2, errors.Is(err, spillway.ErrBackpressure), "%d: %v", i, err)
		}
		synctest.Wait()
		require.EqualValues(t, 2, started.Load())
		requireConserved(t, g.Stats())
		close(release)
		err := g.Wait()
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		require.ErrorContains(t, err, `group "fan": 3 of 5 failed`)
		results := g.Results()
		require.Len(t, results, 5)
		require.True(t, results[1].Started)
		require.False(t, results[2].Started)
		var r *spillway.Rejection
		require.ErrorAs(t, results[2].Err, &r)
		require.Zero(t, l.Stats().InUse)
	})
}

// G-GRP-1, G-GRP-6; R33, R38, E35: a full lane slows the producer, at no cost of
// goroutines.
func TestGroupFullLaneSlowsTheProducer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, newLane(t, 4), group.Config{})
		var now, peak atomic.Int32
		start := time.Now()
		for i := range 100 {
			require.NoError(t, g.Go(func(context.Context) (int, error) {
				raise(&peak, now.Add(1))
				defer now.Add(-1)
				time.Sleep(time.Second)
				return i, nil
			}))
		}
		require.Equal(t, 24*time.Second, time.Since(start), "the producer went no faster than the members")
		require.NoError(t, g.Wait())
		require.EqualValues(t, 4, peak.Load())
	})
}

// G-GRP-4; R34, B15, E26, P4: panics and Goexits are errors with a stack; the permits come back.
func TestGroupPanicIsAnErrorWithItsStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, 1)
		g := newGroup(t, l, group.Config{})
		for range 5 {
			require.NoError(t, g.Go(func(context.Context) (int, error) { panic(errMember) }))
		}
		require.NoError(t, g.Go(func(context.Context) (int, error) { goexit(); return 1, nil }))
		require.NoError(t, g.Go(answer(7)))
		err := g.Wait()
		require.ErrorIs(t, err, errMember)
		var p *spillway.PanicError
		require.ErrorAs(t, err, &p)
		require.Contains(t, string(p.Stack), "group_test.go")
		results := g.Results()
		require.ErrorAs(t, results[5].Err, &p)
		require.Nil(t, p.Value)
		require.Contains(t, string(p.Stack), "goexit")
		require.Equal(t, group.Result[int]{Value: 7, Started: true}, results[6])
		s := g.Stats()
		require.EqualValues(t, 6, s.Aborted)
		require.EqualValues(t, 1, s.Succeeded())
		requireConserved(t, s)
		require.Zero(t, l.Stats().InUse)
	})
}

// G-GRP-4; E22: whatever ends a member badly cancels the siblings, if that was asked for.
func TestGroupFirstFailureCancelsTheSiblings(t *testing.T) {
	for name, bad := range map[string]spillway.Op[int]{
		"error":  fail(errMember),
		"panic":  func(context.Context) (int, error) { panic(errMember) },
		"goexit": func(context.Context) (int, error) { goexit(); return 0, nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, newLimiter(t, 20), group.Config{Name: "ten", CancelOnError: true})
				var cause error
				require.NoError(t, g.Go(func(ctx context.Context) (int, error) {
					<-ctx.Done()
					cause = context.Cause(ctx)
					return 0, ctx.Err()
				}))
				for range 8 {
					require.NoError(t, g.Go(untilDone))
				}
				require.NoError(t, g.Go(bad))
				var e *group.Error
				require.ErrorAs(t, g.Wait(), &e)
				require.Len(t, e.Unwrap(), 1, "those that were cancelled aren't failures")
				require.EqualValues(t, 9, e.Canceled)
				require.NotErrorIs(t, e, context.Canceled)
				var c *group.CanceledError
				require.ErrorAs(t, cause, &c)
				require.Equal(t, e.Unwrap()[0], c.Err)
				require.ErrorIs(t, c, context.Canceled)
				require.ErrorIs(t, g.Results()[3].Err, context.Canceled)
			})
		})
	}
}

// What the first failure was isn't what became of those that it cancels: they weren't
// refused, and have no panic, whatever it was.
func TestGroupCanceledErrorIsOfNoOtherFamily(t *testing.T) {
	for _, failure := range []error{&spillway.Rejection{Component: "limiter"}, &spillway.PanicError{}, context.DeadlineExceeded, spillway.ErrClosed} {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, newLimiter(t, 2), group.Config{CancelOnError: true})
			require.NoError(t, g.Go(fail(failure)))
			synctest.Wait()
			err := g.Go(answer(1))
			require.Error(t, g.Wait())
			require.ErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, failure)
			require.Equal(t, spillway.Status{HTTP: 499, GRPC: 1}, spillway.StatusOf(err))
			require.Equal(t, retry.Stop, retry.Classify(err))
		})
	}
}

// Without the option a failure is nobody else's; T-17, R101: seven of eight nodes answer.
func TestGroupSlowMemberLeavesPartialResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		g, err := group.New[int](ctx, newLimiter(t, 8), group.Config{Name: "nodes", MemberTimeout: 2 * time.Second})
		require.NoError(t, err)
		start := time.Now()
		var cause error
		for i := range 8 {
			require.NoError(t, g.Go(func(ctx context.Context) (int, error) {
				if i == 3 {
					v, err := untilDone(ctx)
					cause = context.Cause(ctx)
					return v, err
				}
				return i, nil
			}))
		}
		results := g.Results()
		require.Equal(t, 2*time.Second, time.Since(start), "the member's time, not the whole's")
		for i, r := range results {
			require.Equal(t, i == 3, r.Err != nil)
			if i != 3 {
				require.Equal(t, i, r.Value)
			}
		}
		var late *group.MemberTimeoutError
		require.ErrorAs(t, cause, &late)
		require.ErrorIs(t, cause, context.DeadlineExceeded)
		require.Equal(t, 2*time.Second, late.Limit)
		require.ErrorIs(t, g.Wait(), context.DeadlineExceeded)
		require.Equal(t, spillway.OutcomeTimeout, spillway.OutcomeOf(g.Wait()))
	})
}

// G-GRP-6; R101, T-18: the budget of the whole ends everything, the producer included.
func TestGroupBudgetEndsMembersAndProducer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		l := newLane(t, 1)
		g, err := group.New[int](ctx, l, group.Config{})
		require.NoError(t, err)
		require.NoError(t, g.Go(untilDone))
		require.ErrorIs(t, g.Go(answer(1)), context.DeadlineExceeded, "the producer was waiting for the permit")
		require.ErrorIs(t, g.Go(answer(2)), context.DeadlineExceeded)
		require.Error(t, g.Wait())
		require.EqualValues(t, 2, g.Stats().Refused)
		require.Zero(t, l.Stats().InUse+l.Stats().Waiting)
	})
}

// E20: a producer blocked on submit, while all members wait for a context that the
// producer would cancel, is let go by a failure, by Cancel, and by the lane's own bound.
func TestGroupBlockedProducerDoesNotDeadlock(t *testing.T) {
	t.Run("failure", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, newLane(t, 3), group.Config{CancelOnError: true})
			require.NoError(t, g.Go(untilDone))
			require.NoError(t, g.Go(untilDone))
			require.NoError(t, g.Go(func(context.Context) (int, error) { time.Sleep(time.Second); return 0, errMember }))
			// The failing member's permit may go to the producer before the context ends.
			for range 3 {
				_ = g.Go(untilDone)
			}
			var c *group.CanceledError
			require.ErrorAs(t, g.Go(answer(1)), &c)
			require.Equal(t, errMember, c.Err)
			require.ErrorIs(t, g.Wait(), errMember)
		})
	})
	t.Run("cancel", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, newLane(t, 1), group.Config{})
			require.NoError(t, g.Go(untilDone))
			time.AfterFunc(time.Second, func() { g.Cancel(errMember) })
			require.ErrorIs(t, g.Go(answer(1)), errMember)
			require.Error(t, g.Wait())
		})
	})
	t.Run("bound", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, newLane(t, 1), group.Config{})
			require.NoError(t, g.Go(untilDone))
			require.ErrorIs(t, g.Go(answer(1)), spillway.ErrBackpressure)
			g.Cancel(nil)
			require.Error(t, g.Wait())
		})
	})
}

// E12, E23, R184: no members, no New, no context left behind.
func TestGroupWithoutMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, newLimiter(t, 1), group.Config{})
		require.NoError(t, g.Wait())
		require.Empty(t, g.Results())
		var zero group.Group[int]
		require.NoError(t, zero.Wait())
		require.ErrorIs(t, zero.Go(answer(1)), spillway.ErrClosed)
		require.Empty(t, zero.Results())
		require.Zero(t, zero.Stats())
		zero.Cancel(nil)
	})
}

// E12, B7, C16: after a cancel nothing starts, not even from an admission that doesn't look.
func TestGroupStartsNothingOnceCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := 0
		blind := admissionFunc(func(context.Context) (spillway.Permit, error) {
			return spillway.NewPermit(releaserFunc(func() { released++ }), 1), nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		g, err := group.New[int](ctx, blind, group.Config{})
		require.NoError(t, err)
		cancel()
		for range 1000 {
			require.ErrorIs(t, g.Go(answer(1)), context.Canceled)
		}
		require.Error(t, g.Wait())
		require.Zero(t, g.Stats().Started())

		ctx, cancel = context.WithCancel(t.Context())
		late := admissionFunc(func(ctx context.Context) (spillway.Permit, error) { cancel(); return blind(ctx) })
		g, err = group.New[int](ctx, late, group.Config{})
		require.NoError(t, err)
		require.ErrorIs(t, g.Go(answer(1)), context.Canceled)
		require.Equal(t, 1, released, "a permit that came too late goes back")
		require.Error(t, g.Wait())
	})
}

type releaserFunc func()

func (f releaserFunc) End(uint64, spillway.Outcome, time.Duration) { f() }

// E24: a nil operation is an error and no member.
func TestGroupNilOperationIsAnError(t *testing.T) {
	g := newGroup(t, newLimiter(t, 1), group.Config{})
	var faults *spillway.ConfigError
	require.ErrorAs(t, g.Go(nil), &faults)
	require.NoError(t, g.Wait())
	require.Zero(t, g.Stats().Submitted)
}

// E4, E5: after Wait nothing is taken; whatever was taken before has run.
func TestGroupGoAfterWaitIsRefused(t *testing.T) {
	g := newGroup(t, newLimiter(t, 1), group.Config{Name: "done"})
	require.NoError(t, g.Wait())
	err := g.Go(answer(1))
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.EqualError(t, err, `group "done" is closed`)
	require.Empty(t, g.Results())
}

// Members may add members while Wait waits.
func TestGroupMembersMayAddMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, newLimiter(t, 10), group.Config{})
		var down func(n int) spillway.Op[int]
		down = func(n int) spillway.Op[int] {
			return func(context.Context) (int, error) {
				time.Sleep(time.Second)
				if n > 0 {
					return n, g.Go(down(n - 1))
				}
				return n, nil
			}
		}
		require.NoError(t, g.Go(down(5)))
		require.NoError(t, g.Wait())
		require.Len(t, g.Results(), 6)
	})
}

// G-GRP-3: a panic of the admission goes through to the producer, and the group is whole.
func TestGroupAdmissionThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, admissionFunc(func(context.Context) (spillway.Permit, error) { panic("boom") }), group.Config{})
		require.PanicsWithValue(t, "boom", func() { _ = g.Go(answer(1)) })
		require.ErrorContains(t, g.Wait(), "did not return")
		requireConserved(t, g.Stats())
	})
}

// G-GRP-8, R182: the text of a thousand failures is short, and matches all of them.
func TestGroupErrorTextIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, newLimiter(t, 1001), group.Config{})
		for i := range 1000 {
			require.NoError(t, g.Go(fail(fmt.Errorf("%d %s", i, strings.Repeat("ü", 500)))))
		}
		require.NoError(t, g.Go(answer(1)))
		err := g.Wait()
		require.Less(t, len(err.Error()), 3000)
		require.ErrorContains(t, err, "1000 of 1001 failed")
		require.ErrorContains(t, err, "and 992 more")
		for _, r := range g.Results()[:1000] {
			require.ErrorIs(t, err, r.Err)
		}
	})
}

// A group is repeated as a whole only if that repeats nothing that succeeded.
func TestGroupErrorSaysWhetherToRepeatTheWhole(t *testing.T) {
	overload := fail(&classed{spillway.OutcomeOverload})
	timeout := fail(&classed{spillway.OutcomeTimeout})
	for name, c := range map[string]struct {
		ops  []spillway.Op[int]
		want spillway.Outcome
	}{
		"all overloaded":          {[]spillway.Op[int]{overload, overload}, spillway.OutcomeOverload},
		"one of them":             {[]spillway.Op[int]{overload, answer(1)}, spillway.OutcomePermanent},
		"one timed out":           {[]spillway.Op[int]{timeout, answer(1)}, spillway.OutcomeTimeout},
		"mixed":                   {[]spillway.Op[int]{timeout, overload}, spillway.OutcomePermanent},
		"panic":                   {[]spillway.Op[int]{func(context.Context) (int, error) { panic(1) }}, spillway.OutcomePermanent},
		"refused within, partial": {[]spillway.Op[int]{fail(&spillway.Rejection{}), answer(1)}, spillway.OutcomePermanent},
		"refused, and not sent":   {[]spillway.Op[int]{fail(&spillway.Rejection{}), fail(&classed{spillway.OutcomeLocal})}, spillway.OutcomePermanent},
		"refused, and canceled":   {[]spillway.Op[int]{fail(context.Canceled), fail(&spillway.Rejection{})}, spillway.OutcomePermanent},
		"canceled, all":           {[]spillway.Op[int]{fail(context.Canceled)}, spillway.OutcomeLocal},
		"refused within, all":     {[]spillway.Op[int]{fail(&spillway.Rejection{})}, spillway.OutcomeLocal},
	} {
		g := newGroup(t, newLimiter(t, 5), group.Config{})
		for _, op := range c.ops {
			require.NoError(t, g.Go(op))
		}
		require.Equal(t, c.want, spillway.OutcomeOf(g.Wait()), name)
	}
}

type classed struct{ o spillway.Outcome }

func (c *classed) Error() string             { return c.o.String() }
func (c *classed) Outcome() spillway.Outcome { return c.o }

// L-22: every fault of a configuration is named.
func TestConfigListsEveryFault(t *testing.T) {
	_, err := group.New[int](nil, nil, group.Config{MemberTimeout: -1}) //nolint:staticcheck // a nil context is the fault
	for _, field := range []string{"ctx is", "admission is", "MemberTimeout is -1ns"} {
		require.ErrorContains(t, err, field)
	}
}

// G-GRP-3; E10, E11, E13: many producers, refusals and panics: all is counted once, at any time.
func TestGroupConcurrentSafe(t *testing.T) {
	l, err := limiter.New[int](limiter.Config{Name: "test", Limit: 8})
	require.NoError(t, err)
	g := newGroup(t, l, group.Config{})
	var wg sync.WaitGroup
	var now, ran, accepted atomic.Int64
	var over atomic.Bool
	for p := range 8 {
		wg.Go(func() {
			for i := range 200 {
				err := g.Go(func(context.Context) (int, error) {
					if now.Load() >= 8+1 {
						over.Store(true)
					}
					now.Add(1)
					defer now.Add(-1)
					ran.Add(1)
					switch i % 7 {
					case 3:
						panic(i)
					case 5:
						return 0, errMember
					}
					return p, nil
				})
				if err == nil {
					accepted.Add(1)
				}
				requireConserved(t, g.Stats())
			}
		})
	}
	wg.Wait()
	_ = g.Wait()
	s := g.Stats()
	requireConserved(t, s)
	require.False(t, over.Load())
	require.EqualValues(t, 1600, s.Submitted)
	require.Equal(t, accepted.Load(), ran.Load(), "accepted = executed")
	require.EqualValues(t, s.Started(), ran.Load())
	require.Len(t, g.Results(), 1600)
	require.Zero(t, l.Stats().InUse)
}

// G-GRP-8: only what says that it was canceled, after another's failure has canceled the rest,
// is no failure of its own.
func TestGroupErrorListsWhatIsAFailureOfItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		cancel       bool
		first, other error
		canceled     uint64
	}{
		"canceled first":   {true, context.Canceled, errMember, 0},
		"failed later":     {true, errMember, context.DeadlineExceeded, 0},
		"nobody cancels":   {false, errMember, context.Canceled, 0},
		"canceled by that": {true, errMember, context.Canceled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, newLimiter(t, 2), group.Config{CancelOnError: c.cancel})
				require.NoError(t, g.Go(func(context.Context) (int, error) { time.Sleep(time.Second); return 0, c.other }))
				require.NoError(t, g.Go(fail(c.first)))
				var e *group.Error
				require.ErrorAs(t, g.Wait(), &e)
				require.Equal(t, c.canceled, e.Canceled)
				require.Equal(t, []error{c.first, c.other}[:2-c.canceled], e.Unwrap())
			})
		})
	}
}

// E23: the context of a member's own time ends with the member, and leaves no timer.
func TestGroupMembersContextEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, newLimiter(t, 1), group.Config{MemberTimeout: time.Hour})
		var kept context.Context
		require.NoError(t, g.Go(func(ctx context.Context) (int, error) { kept = ctx; return 1, nil }))
		synctest.Wait()
		require.ErrorIs(t, kept.Err(), context.Canceled)
		require.NoError(t, g.Wait())
	})
}

// G-GRP-2, G-GRP-4: a member that isn't admitted, and is the last, lets Wait go, and cancels
// the others if errors do.
func TestGroupMemberThatIsRefusedCountsAsOneThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, 1)
		held, err := l.Admit(t.Context())
		require.NoError(t, err)
		g := newGroup(t, l, group.Config{})
		go func() { _ = g.Go(answer(1)) }()
		synctest.Wait() // it waits for its permit
		require.ErrorIs(t, g.Wait(), spillway.ErrBackpressure)
		held.Release()

		g = newGroup(t, newLimiter(t, 1), group.Config{CancelOnError: true})
		require.NoError(t, g.Go(untilDone))
		require.ErrorIs(t, g.Go(answer(1)), spillway.ErrBackpressure)
		var e *group.Error
		require.ErrorAs(t, g.Wait(), &e)
		require.EqualValues(t, 1, e.Canceled)
	})
}
