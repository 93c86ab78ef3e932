package limiter_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/limiter"
)

// R1, B-01, A3: G-LIM-1.
func TestLimiterRunsAsManyAsItsLimitAndRefusesTheRest(t *testing.T) {
	const limit, callers = 20, 5000
	l := newLimiter(t, limiter.Config{Limit: limit})
	var running, decisions atomic.Int64
	allDecided := make(chan struct{})
	decide := func() {
		if decisions.Add(1) == callers {
			close(allDecided)
		}
	}
	hammer.Together(callers, func(int) {
		v, err := l.Do(t.Context(), func(context.Context) (int, error) {
			running.Add(1)
			decide()
			<-allDecided // all run at the same time, or none returns
			return 7, nil
		})
		if err == nil {
			require.Equal(t, 7, v)
			return
		}
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		decide()
	})
	require.EqualValues(t, limit, running.Load())
	require.EqualValues(t, callers-limit, l.Stats().Refused.Of(spillway.ReasonLimit))
	requireWhole(t, l)
}

// A5, B25, R4: G-LIM-2.
func TestLimiterOfOneRefusesTheSecondCallAtOnce(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 1, RetryAfter: 5})
	_, err := l.Do(t.Context(), func(ctx context.Context) (int, error) {
		return l.Do(ctx, answer(2))
	})
	require.Equal(t, &spillway.Rejection{
		Component: "limiter", Name: "test", Reason: spillway.ReasonLimit, Limit: 1, RetryAfter: 5,
	}, err)
	v, err := l.Do(t.Context(), answer(3))
	require.NoError(t, err)
	require.Equal(t, 3, v)
}

// R7: the operation's own value and error pass untouched.
func TestLimiterReturnsWhatTheOperationReturns(t *testing.T) {
	l := newLimiter(t, limiter.Config{})
	v, err := l.Do(t.Context(), func(context.Context) (int, error) { return 3, errOp })
	require.Equal(t, 3, v)
	require.Same(t, errOp, err)
	require.Equal(t, uint64(1), l.Stats().Ended.Of(spillway.OutcomeUnknown))
	requireWhole(t, l)
}

// A6, A7, R7: G-LIM-3.
func TestLimiterGetsItsPermitBackHoweverTheOperationEnds(t *testing.T) {
	for name, c := range map[string]struct {
		op      func(cancel func()) (int, error)
		outcome spillway.Outcome
		aborted uint64
	}{
		"value":  {func(func()) (int, error) { return 1, nil }, spillway.OutcomeOK, 0},
		"error":  {func(func()) (int, error) { return 0, errOp }, spillway.OutcomeUnknown, 0},
		"cancel": {func(cancel func()) (int, error) { cancel(); return 0, context.Canceled }, spillway.OutcomeLocal, 0},
		"late":   {func(cancel func()) (int, error) { cancel(); return 1, nil }, spillway.OutcomeOK, 0},
		"panic":  {func(func()) (int, error) { panic("op") }, 0, 1},
		"goexit": {func(func()) (int, error) { runtime.Goexit(); return 0, nil }, 0, 1},
		// An error may be a nil pointer whose methods panic when they are asked.
		"rude error": {func(func()) (int, error) { return 0, (*rudeError)(nil) }, 0, 1},
		"odd error":  {func(func()) (int, error) { return 0, oddError(200) }, spillway.OutcomeUnknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(t, limiter.Config{Limit: 3})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			hammer.Together(1, func(int) {
				defer func() { _ = recover() }()
				_, _ = l.DoN(ctx, 2, func(context.Context) (int, error) {
					require.Equal(t, 2, l.Stats().InUse)
					return c.op(cancel)
				})
			})
			require.Equal(t, c.aborted, l.Stats().Aborted)
			require.Equal(t, 1-c.aborted, l.Stats().Ended.Of(c.outcome))
			requireWhole(t, l)
		})
	}
}

type rudeError struct{ text string }

func (e *rudeError) Error() string             { return e.text }
func (e *rudeError) Outcome() spillway.Outcome { return spillway.Outcome(len(e.text)) }

type oddError spillway.Outcome

func (e oddError) Error() string             { return "odd" }
func (e oddError) Outcome() spillway.Outcome { return spillway.Outcome(e) }

// R7.
func TestLimiterPanicGoesThroughToTheCaller(t *testing.T) {
	l := newLimiter(t, limiter.Config{})
	require.PanicsWithValue(t, "op", func() {
		_, _ = l.Do(t.Context(), func(context.Context) (int, error) { panic("op") })
	})
	require.Panics(t, func() { _, _ = l.Do(t.Context(), nil) })
	require.Equal(t, uint64(2), l.Stats().Aborted)
	requireWhole(t, l)
}

// R7.
func TestLimiterGoexitGoesThroughToTheCaller(t *testing.T) {
	l := newLimiter(t, limiter.Config{})
	wentOn := false
	hammer.Together(1, func(int) {
		_, _ = l.Do(t.Context(), func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })
		wentOn = true
	})
	require.False(t, wentOn)
	requireWhole(t, l)
}

// A20, R15, P9, B-13.
func TestLimiterTakesAllPermitsOfAWeightOrNone(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 5})
	v, err := l.DoN(t.Context(), 4, func(ctx context.Context) (int, error) {
		require.Equal(t, 4, l.Stats().InUse)
		require.Equal(t, 1, l.Stats().Available)
		_, err := l.DoN(ctx, 2, answer(0))
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		return l.DoN(ctx, 1, answer(9))
	})
	require.NoError(t, err)
	require.Equal(t, 9, v)
	requireWhole(t, l)
}

// R15, P9, A18.
func TestLimiterRefusesImpossibleWeightsByAnErrorOfTheirOwn(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 5})
	for _, n := range []int{0, -1, 6, math.MaxInt, math.MinInt} {
		_, err := l.DoN(t.Context(), n, answer(1))
		require.Equal(t, &spillway.WeightError{Component: "limiter", Name: "test", Weight: n, Limit: 5}, err)
		p, err := l.AdmitN(t.Context(), n)
		require.IsType(t, &spillway.WeightError{}, err)
		require.NotErrorIs(t, err, spillway.ErrBackpressure)
		require.Equal(t, spillway.Permit{}, p)
	}
	require.Equal(t, uint64(10), l.Stats().Invalid)
	requireWhole(t, l)
}

// B7, P11, C16: G-LIM-5.
func TestLimiterAdmitsNothingForADoneContext(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 100})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOp)
	for range 1000 {
		_, err := l.Do(ctx, func(context.Context) (int, error) {
			t.Error("the operation ran")
			return 0, nil
		})
		require.Same(t, errOp, err)
		_, err = l.Admit(ctx)
		require.Same(t, errOp, err)
	}
	require.Equal(t, uint64(2000), l.Stats().Canceled)
	require.Zero(t, l.Stats().Admitted)
}

// R8.
func TestLimiterSharesItsPermitsAcrossResultTypes(t *testing.T) {
	type row struct{ id int }
	l := newLimiter(t, limiter.Config{})
	rows, texts := limiter.Share[*row](l), limiter.Share[error](l)
	r, err := rows.Do(t.Context(), func(ctx context.Context) (*row, error) {
		_, err := l.Do(ctx, answer(1))
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		_, err = texts.Do(ctx, func(context.Context) (error, error) { return errOp, nil })
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		return &row{4}, nil
	})
	require.NoError(t, err)
	require.Equal(t, &row{4}, r)
	e, err := texts.Do(t.Context(), func(context.Context) (error, error) { return errOp, nil })
	require.NoError(t, err)
	require.Same(t, errOp, e)
	require.Equal(t, l.Stats(), rows.Stats())
}

func TestLimiterWrapGuardsEachCall(t *testing.T) {
	l := newLimiter(t, limiter.Config{})
	op := spillway.Chain(spillway.Decorator[int](l.Wrap))(answer(5))
	v, err := op(t.Context())
	require.NoError(t, err)
	require.Equal(t, 5, v)
	p := admit(t, l, 1)
	_, err = op(t.Context())
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	p.Release()
	_, err = op(t.Context())
	require.NoError(t, err)
}

// R14: the zero Limiter is as one that was closed.
func TestLimiterThatWasNotMadeRefusesEverything(t *testing.T) {
	var l limiter.Limiter[int]
	_, err := l.Do(t.Context(), answer(1))
	require.EqualError(t, err, "a zero limiter or lane is closed: make it with its constructor")
	require.ErrorIs(t, err, spillway.ErrClosed)
	_, err = l.Wrap(answer(1))(t.Context())
	require.ErrorIs(t, err, spillway.ErrClosed)
	p, err := l.Admit(t.Context())
	require.ErrorIs(t, err, spillway.ErrClosed)
	p.Release()
	_, err = limiter.Share[string](&l).Admit(t.Context())
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.ErrorIs(t, l.SetLimit(5), spillway.ErrClosed)
	require.ErrorIs(t, l.SetMode(spillway.Off), spillway.ErrClosed)
	require.NoError(t, l.Close(t.Context()))
	require.Equal(t, limiter.Stats{Closed: true}, l.Stats())
	require.Empty(t, l.Holders())
	require.Empty(t, l.Name())
}

// R22, B-15.
func TestLimiterTellsNestedCallsIfAsked(t *testing.T) {
	for _, limit := range []int{1, 5} {
		l := newLimiter(t, limiter.Config{Limit: limit, DetectNested: true})
		other := newLimiter(t, limiter.Config{DetectNested: true})
		v, err := l.Do(t.Context(), func(ctx context.Context) (int, error) {
			_, err := l.Do(ctx, answer(1))
			require.Equal(t, &spillway.NestedError{Component: "limiter", Name: "test"}, err)
			_, err = limiter.Share[string](l).Admit(ctx)
			require.IsType(t, &spillway.NestedError{}, err)
			return other.Do(ctx, answer(2))
		})
		require.NoError(t, err)
		require.Equal(t, 2, v)
		require.Equal(t, uint64(2), l.Stats().Invalid)
		requireWhole(t, l)
	}
}

// R22, B-15.
func TestLimiterAllowsNestedCallsUnlessAsked(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 2})
	v, err := l.Do(t.Context(), func(ctx context.Context) (int, error) { return l.Do(ctx, answer(1)) })
	require.NoError(t, err)
	require.Equal(t, 1, v)
}

// R3: the families are never mixed.
func TestLimiterErrorsBelongToOneFamilyEach(t *testing.T) {
	closed := newLimiter(t, limiter.Config{})
	require.NoError(t, closed.Close(t.Context()))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	full := newLimiter(t, limiter.Config{DetectNested: true})
	admit(t, full, 1)
	shed := newLimiter(t, limiter.Config{Mode: spillway.RefuseAll})
	free := newLimiter(t, limiter.Config{})
	families := []error{spillway.ErrBackpressure, spillway.ErrClosed, context.Canceled, context.DeadlineExceeded, errOp}
	for name, c := range map[string]struct {
		l     *limiter.Limiter[int]
		ctx   context.Context
		n     int
		match []error
		kind  string
	}{
		"full":       {full, t.Context(), 1, []error{spillway.ErrBackpressure}, "limit_reached"},
		"refuse all": {shed, t.Context(), 1, []error{spillway.ErrBackpressure}, "refuse_all"},
		"closed":     {closed, t.Context(), 1, []error{spillway.ErrClosed}, "closed"},
		"done":       {free, done, 1, []error{context.Canceled}, ""},
		"own":        {free, t.Context(), 1, []error{errOp}, ""},
		"weight":     {free, t.Context(), 2, nil, "invalid_weight"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.l.DoN(c.ctx, c.n, func(context.Context) (int, error) { return 0, errOp })
			require.Error(t, err)
			var matched []error
			for _, family := range families {
				if errors.Is(err, family) {
					matched = append(matched, family)
				}
			}
			require.Equal(t, c.match, matched)
			var typed interface{ ErrorType() string }
			if errors.As(err, &typed) {
				require.Equal(t, c.kind, typed.ErrorType())
				want := spillway.OutcomeLocal
				if c.kind == "invalid_weight" {
					want = spillway.OutcomePermanent // the same call fails again
				}
				require.Equal(t, want, spillway.OutcomeOf(err))
			} else {
				require.Empty(t, c.kind)
			}
		})
	}
}
