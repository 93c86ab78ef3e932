//go:build go1.25

package retry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/retry"
)

// bubble runs f in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// C18, C19, C25, P14, R72: n attempts have n−1 back-offs, which double; there is none
// after the last. It is the same however many attempts are allowed. G-RET-4.
func TestRetrierSleepsBetweenAttemptsOnly(t *testing.T) {
	for _, attempts := range []int{4, 5, 100, retry.Unlimited} {
		bubble(t, func(t *testing.T) {
			p := fixed(attempts)
			p.MaxElapsed = 24 * time.Hour
			s := &script{errs: []error{errOp, errOp, errOp}}
			start := time.Now()
			v, rep, err := newRetrier(t, p).DoReport(t.Context(), s.op)
			require.NoError(t, err)
			require.Equal(t, 4, v)
			require.Equal(t, (2+4+8)*time.Second, time.Since(start))
			require.Equal(t, retry.Report{
				Attempts: 4, MaxAttempts: attempts, Reason: retry.StopSuccess, Delay: 14 * time.Second, Err: errOp,
			}, rep)
		})
	}
	bubble(t, func(t *testing.T) {
		start := time.Now()
		r := newRetrier(t, fixed(3))
		s := &script{errs: []error{errOp, errOp, errRefused, errOp}}
		v, err := r.Do(t.Context(), s.op)
		require.Equal(t, 3, v, "the last value comes with the error")
		require.Equal(t, 6*time.Second, time.Since(start))
		e := exhausted(t, err)
		require.Equal(t, retry.Report{
			Attempts: 3, MaxAttempts: 3, Reason: retry.StopAttempts, Delay: 6 * time.Second, Err: errRefused,
		}, e.Report)
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		require.NotErrorIs(t, err, errOp, "errors before the last one aren't kept")
		requireConserved(t, r.Stats())
	})
}

// C20, C23, C49, P20, R78: what isn't worth repeating comes back bare, whichever
// attempt it ends and however many there could be. G-RET-5.
func TestRetrierReturnsWhatIsNotRetryableBare(t *testing.T) {
	notFound := &classError{spillway.OutcomePermanent}
	wrapped := fmt.Errorf("get: %w", retry.Permanent(errOp))
	for name, c := range map[string]struct{ err, want error }{
		"permanent class":  {notFound, notFound},
		"marked":           {retry.Permanent(errOp), errOp},
		"marked refusal":   {retry.Permanent(errRefused), errRefused},
		"marked, wrapped":  {wrapped, wrapped},
		"canceled inside":  {context.Canceled, context.Canceled},
		"closed":           {spillway.ErrClosed, spillway.ErrClosed},
		"marked with hint": {retry.After(retry.Permanent(errOp), time.Second), errOp},
	} {
		for _, attempts := range []int{1, 3, retry.Unlimited} {
			for before := range min(attempts, 3) {
				t.Run(fmt.Sprintf("%s/attempts=%d/before=%d", name, attempts, before), func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						p := fixed(attempts)
						p.MaxElapsed = time.Hour
						s := &script{}
						for range before {
							s.errs = append(s.errs, errRefused)
						}
						s.errs = append(s.errs, c.err)
						_, rep, err := newRetrier(t, p).DoReport(t.Context(), s.op)
						require.True(t, err == c.want, "%#v", err) //nolint:errorlint // the very same
						require.Equal(t, before+1, s.runs)
						require.Equal(t, retry.StopNotRetryable, rep.Reason)
						require.Equal(t, before+1, rep.Attempts)
					})
				})
			}
		}
	}
}

// T-09, R79: what may have been executed is executed again only if that was
// declared to be harmless; a refusal may always be repeated. G-RET-6.
func TestRetrierRepeatsTheAmbiguousOnlyIfIdempotent(t *testing.T) {
	timeout := &classError{outcomeTimeout}
	for name, c := range map[string]struct {
		policy retry.Policy
		err    error
		runs   int
		reason retry.StopReason
	}{
		"default, timeout": {retry.DefaultPolicy(), timeout, 1, retry.StopNotIdempotent},
		"default, unknown": {retry.DefaultPolicy(), errOp, 1, retry.StopNotIdempotent},
		"default, refused": {retry.DefaultPolicy(), errRefused, 3, retry.StopAttempts},
		"read, timeout":    {retry.ReadPolicy(), timeout, 3, retry.StopAttempts},
		"read, refused":    {retry.ReadPolicy(), errRefused, 3, retry.StopAttempts},
		"write, timeout":   {retry.WritePolicy(), timeout, 1, retry.StopNotIdempotent},
		"write, refused":   {retry.WritePolicy(), errRefused, 1, retry.StopAttempts},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := &script{errs: []error{c.err, c.err, c.err, c.err}}
				r := newRetrier(t, c.policy)
				_, rep, err := r.DoReport(t.Context(), s.op)
				require.Equal(t, c.runs, s.runs)
				require.Equal(t, c.reason, rep.Reason)
				require.ErrorIs(t, err, c.err)
				if c.runs == 1 {
					require.True(t, err == c.err, "it was not repeated, so it comes back bare") //nolint:errorlint // the very same
				}
				require.EqualValues(t, 1, r.Stats().Ended.Of(c.reason))
				requireConserved(t, r.Stats())
			})
		})
	}
}

// A classifier of one's own decides, except about marks.
func TestRetrierAsksThePolicysClassifier(t *testing.T) {
	for verdict, want := range map[retry.Verdict]int{
		retry.Stop: 1, retry.Ambiguous: 1, retry.Transient: 3, retry.Pushback: 3, retry.Verdict(9): 1,
	} {
		bubble(t, func(t *testing.T) {
			p := retry.DefaultPolicy()
			p.Classify = func(error) retry.Verdict { return verdict }
			s := &script{errs: []error{errOp, errOp, errOp}}
			_, err := newRetrier(t, p).Do(t.Context(), s.op)
			require.ErrorIs(t, err, errOp)
			require.Equal(t, want, s.runs, "%v", verdict)
			s = &script{errs: []error{fmt.Errorf("get: %w", retry.Permanent(errOp))}}
			_, err = newRetrier(t, p).Do(t.Context(), s.op)
			require.ErrorIs(t, err, errOp)
			require.Equal(t, 1, s.runs)
		})
	}
}

// P16: a refusal of our own isn't repeated as any error, but after the floor; and a
// classifier passes it through untouched.
func TestRetrierTreatsARefusalAsSuch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := retry.DefaultPolicy()
		start := time.Now()
		_, err := newRetrier(t, p).Do(t.Context(), (&script{errs: []error{errRefused}}).op)
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(start), p.Floor)
		p.Classify = func(err error) retry.Verdict {
			if errors.Is(err, spillway.ErrBackpressure) {
				return retry.Stop
			}
			return retry.Classify(err)
		}
		_, err = newRetrier(t, p).Do(t.Context(), failing(errRefused))
		require.Same(t, errRefused, err)
	})
}

// P15: nothing of one call is left for the next.
func TestRetrierStartsAfreshWithEachCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := fixed(3)
		p.Jitter = retry.DecorrelatedJitter
		p.Rand = func() float64 { return 0.9 }
		r := newRetrier(t, p)
		var took []time.Duration
		for range 3 {
			start := time.Now()
			_, err := r.Do(t.Context(), failing(errOp))
			require.Equal(t, 3, exhausted(t, err).Attempts)
			took = append(took, time.Since(start))
		}
		require.Equal(t, took[0], took[1])
		require.Equal(t, took[0], took[2])
		require.Greater(t, took[0], 8*time.Second, "the second back-off grows from the first")
	})
}

// C29, C33: the operation is run as a whole each time, and never twice at once.
func TestRetrierRunsTheWholeOperationEachTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, running := newRetrier(t, fixed(5)), 0
		for range 5 {
			var bodies []string
			_, err := r.Do(t.Context(), func(context.Context) (int, error) {
				require.Zero(t, running)
				running++
				defer func() { running-- }()
				time.Sleep(time.Minute)
				body, err := io.ReadAll(bytes.NewReader([]byte("all of it")))
				require.NoError(t, err)
				if bodies = append(bodies, string(body)); len(bodies) < 3 {
					return 0, errOp
				}
				return 1, nil
			})
			require.NoError(t, err)
			require.Equal(t, []string{"all of it", "all of it", "all of it"}, bodies)
		}
	})
}

// Panics and Goexit go through on whichever attempt, and are counted. G-RET-10.
func TestRetrierLetsPanicsAndGoexitThrough(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("op") }, "goexit": runtime.Goexit} {
		for _, before := range []int{0, 2} {
			t.Run(fmt.Sprintf("%s/before=%d", name, before), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					p := fixed(5)
					p.Budget = newBudget(t, retry.BudgetConfig{Ratio: 1, Burst: 10})
					r := newRetrier(t, p)
					for _, do := range []func(context.Context, spillway.Op[int]) (int, error){
						r.Do, func(ctx context.Context, op spillway.Op[int]) (int, error) {
							v, _, err := r.DoReport(ctx, op)
							return v, err
						},
					} {
						var recovered any
						wentOn, runs := false, 0
						hammer.Together(1, func(int) {
							defer func() { recovered = recover() }()
							_, _ = do(t.Context(), func(context.Context) (int, error) {
								if runs++; runs > before {
									end()
								}
								return 0, errOp
							})
							wentOn = true
						})
						require.False(t, wentOn)
						require.Equal(t, before+1, runs)
						if name == "panic" {
							require.Equal(t, "op", recovered)
						}
					}
					st := r.Stats()
					require.EqualValues(t, 2, st.Aborted)
					require.EqualValues(t, 2*before, st.Budget.Granted)
					require.Zero(t, st.Budget.Refunded)
					requireConserved(t, st)
				})
			})
		}
	}
	r := newRetrier(t, fixed(2))
	require.Panics(t, func() { _, _ = r.Do(t.Context(), nil) })
	require.Panics(t, func() { // an error whose methods panic
		_, _ = r.Do(t.Context(), failing((*classError)(nil)))
	})
	require.EqualValues(t, 2, r.Stats().Aborted)
	requireConserved(t, r.Stats())
}

// R8: one policy, one count, several result types.
func TestRetrierSharesItsStatisticsAcrossResultTypes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRetrier(t, fixed(3))
		texts := retry.Share[string](r)
		s := &script{errs: []error{errOp}}
		text, err := texts.Do(t.Context(), func(ctx context.Context) (string, error) {
			n, err := s.op(ctx)
			return fmt.Sprint("run ", n), err
		})
		require.NoError(t, err)
		require.Equal(t, "run 2", text)
		require.Equal(t, r.Stats(), texts.Stats())
		require.EqualValues(t, 1, r.Stats().Retries)
		op := spillway.Chain(spillway.Decorator[int](r.Wrap))((&script{errs: []error{errOp}}).op)
		v, err := op(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, v)
	})
}

// O4: the zero Retrier makes one attempt.
func TestRetrierThatWasNotMadeMakesOneAttempt(t *testing.T) {
	var r retry.Retrier[int]
	s := &script{errs: []error{errRefused}}
	v, err := r.Do(t.Context(), s.op)
	require.Same(t, errRefused, err)
	require.Equal(t, 1, v)
	_, rep, err := r.DoReport(t.Context(), s.op)
	require.NoError(t, err)
	require.Equal(t, 1, rep.MaxAttempts)
	out, _, err := retry.Each(t.Context(), retry.Share[string](&r), []int{1}, func(context.Context, []int) ([]retry.Result[int], error) {
		return nil, errRefused
	})
	require.Same(t, errRefused, err)
	require.Same(t, errRefused, out[0].Err)
	require.Equal(t, retry.Stats{}, r.Stats())
	require.Empty(t, r.Name())
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = r.Do(done, s.op)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, s.runs)
}
