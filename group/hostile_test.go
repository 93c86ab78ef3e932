//go:build go1.25

package group_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/group"
)

// slowReturn gives a permit to everybody; one that comes back waits for gate until that is
// closed, so that those who return it are on their way out for as long as the test wants.
type slowReturn struct {
	gate           chan struct{}
	given, skipped chan struct{} // one for each permit; one for each that came back unused
}

func newSlowReturn() *slowReturn {
	return &slowReturn{gate: make(chan struct{}), given: make(chan struct{}, 100), skipped: make(chan struct{}, 100)}
}

func (s *slowReturn) Admit(context.Context) (spillway.Permit, error) {
	s.given <- struct{}{}
	return spillway.NewPermit(s, 0), nil
}

func (s *slowReturn) End(_ uint64, o spillway.Outcome, _ time.Duration) {
	if o == spillway.OutcomeLocal {
		s.skipped <- struct{}{}
		return
	}
	<-s.gate
}

// leaving has n members end and hang on their way out.
func leaving(t *testing.T, g *group.Group[int], n int) {
	t.Helper()
	for range n {
		require.NoError(t, g.Go(answer(1)))
	}
	synctest.Wait()
}

// G-GRP-6: more producers wait for members on their way out than there are of those. When
// those have gone every producer goes on, though none of the members that they start ends
// before all have.
func TestGroupProducersAllGoOnWhenMembersHaveLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const producers = 20
		s := newSlowReturn()
		g := newGroup(t, s, group.Config{})
		leaving(t, g, 9)
		started, all := make(chan struct{}, producers), make(chan struct{})
		for range producers {
			go func() {
				_ = g.Go(func(context.Context) (int, error) {
					started <- struct{}{}
					<-all
					return 1, nil
				})
			}()
		}
		synctest.Wait()
		require.Len(t, s.given, 9+producers, "each has its permit")
		require.Empty(t, started, "and waits for those on their way out")
		close(s.gate)
		synctest.Wait()
		require.Len(t, started, producers)
		close(all)
		require.NoError(t, g.Wait())
		requireConserved(t, g.Stats())
	})
}

// G-GRP-1, G-GRP-6: who waits for members on their way out returns when the group's context
// is done, and gives back the permit that he has.
func TestGroupProducerBehindThoseLeavingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowReturn()
		g := newGroup(t, s, group.Config{})
		leaving(t, g, 9)
		result := make(chan error, 1)
		go func() { result <- g.Go(answer(1)) }()
		synctest.Wait()
		require.Empty(t, result)
		g.Cancel(errMember)
		require.ErrorIs(t, <-result, errMember)
		require.Len(t, s.skipped, 1)
		close(s.gate)
		require.ErrorIs(t, g.Wait(), errMember)
		requireConserved(t, g.Stats())
	})
}

// typedNil is an error type of the kind that everybody has written once: a nil pointer of it
// is an error that isn't nil, and panics when it is asked.
type typedNil struct{ cause error }

func (e *typedNil) Error() string             { return e.cause.Error() }
func (e *typedNil) Unwrap() error             { return e.cause }
func (e *typedNil) Outcome() spillway.Outcome { return spillway.OutcomeOf(e.cause) }

var errTypedNil error = (*typedNil)(nil)

// G-GRP-3, G-GRP-2: an error whose methods panic is its member's all the same, and is counted;
// from an admission it keeps nobody in Wait.
func TestGroupErrorsMayPanic(t *testing.T) {
	g := newGroup(t, newLimiter(t, 1), group.Config{})
	require.NoError(t, g.Go(fail(errTypedNil)))
	require.Error(t, g.Wait())
	r := g.Results()[0]
	require.True(t, r.Started)
	require.True(t, r.Err == errTypedNil, "the member's own") //nolint:errorlint // asking it panics
	require.Equal(t, uint64(1), g.Stats().Ended.Of(spillway.OutcomeUnknown))

	refusing := admissionFunc(func(context.Context) (spillway.Permit, error) { return spillway.Permit{}, errTypedNil })
	g = newGroup(t, refusing, group.Config{})
	require.Error(t, g.Go(answer(1)))
	require.Error(t, g.Wait())
	require.Equal(t, uint64(1), g.Stats().Refused)
	requireConserved(t, g.Stats())

	s, err := group.Each(t.Context(), refusing, group.Config{}, count(3), func(context.Context, int) error { return nil })
	require.Error(t, err)
	require.Equal(t, uint64(1), s.Refused, "it would meet every further item")
	requireConserved(t, s)
}

// G-GRP-8: an error whose text can't be had is one of many in the text of the whole.
func TestGroupErrorTextsMayPanic(t *testing.T) {
	g := newGroup(t, newLimiter(t, 2), group.Config{Name: "reads", CancelOnError: true})
	var cause error
	require.NoError(t, g.Go(func(ctx context.Context) (int, error) {
		<-ctx.Done()
		cause = context.Cause(ctx)
		return 1, nil
	}))
	require.NoError(t, g.Go(fail(errTypedNil)))
	require.EqualError(t, g.Wait(), `group "reads": 1 of 2 failed: <nil>`)
	require.EqualError(t, cause, `group "reads": canceled because a member failed: <nil>`)
}

// exitingPermits ends the goroutine that gives a permit back.
type exitingPermits struct{}

func (exitingPermits) Admit(context.Context) (spillway.Permit, error) {
	return spillway.NewPermit(exitingPermits{}, 0), nil
}

func (exitingPermits) End(uint64, spillway.Outcome, time.Duration) { goexit() }

// G-GRP-2: a permit of one's own that ends the goroutine which gives it back keeps nobody in
// Wait, nor, however many do, behind those on their way out.
func TestGroupPermitsMayExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, exitingPermits{}, group.Config{})
		for range 20 {
			require.NoError(t, g.Go(answer(1)))
			synctest.Wait()
		}
		require.NoError(t, g.Wait())
		require.Equal(t, uint64(20), g.Stats().Succeeded())
		requireConserved(t, g.Stats())
	})
}

// G-GRP-2: so is one that ends the producer's goroutine.
func TestGroupAdmissionErrorMayExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, admissionFunc(func(context.Context) (spillway.Permit, error) { return spillway.Permit{}, exits{} }), group.Config{})
		go func() { _ = g.Go(answer(1)) }()
		synctest.Wait()
		var whole *group.Error
		require.ErrorAs(t, g.Wait(), &whole)
		require.Equal(t, uint64(1), whole.Stats.Refused)
	})
}

// exits is an error that ends the goroutine that asks it what it is.
type exits struct{}

func (exits) Error() string { return "exits" }

func (exits) Is(target error) bool {
	if errors.Is(target, context.Canceled) {
		goexit()
	}
	return false
}

// own is a context of a type of its own: what descends from it hears of its end from a
// goroutine, a little later.
type own struct{ context.Context }

func (own) Value(any) any { return nil }

// G-GRP-6: the end of such a context counts at once, before the permit and after.
func TestGroupStartsNothingUnderAContextOfItsOwnType(t *testing.T) {
	for name, early := range map[string]bool{"before": true, "after": false} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			g, err := group.New[int](own{ctx}, admissionFunc(func(context.Context) (spillway.Permit, error) {
				require.False(t, early, "it isn't asked")
				cancel()
				return spillway.Permit{}, nil
			}), group.Config{})
			require.NoError(t, err)
			if early {
				cancel()
			}
			require.ErrorIs(t, g.Go(answer(1)), context.Canceled)
			require.ErrorIs(t, g.Wait(), context.Canceled)
			require.Equal(t, uint64(1), g.Stats().Refused)
		})
	}
}
