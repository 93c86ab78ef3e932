//go:build go1.25

package nethttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
)

// G-HTTP-6: the admission is told how each request ended, by its status, its caller and
// its time.
func TestGuardTellsTheAdmissionHowItEnded(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	late := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done(); w.WriteHeader(code) }
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    spillway.Outcome
	}{
		"nothing written":     {func(http.ResponseWriter, *http.Request) {}, spillway.OutcomeOK},
		"written":             {ok, spillway.OutcomeOK},
		"200":                 {status(200), spillway.OutcomeOK},
		"404":                 {status(404), spillway.OutcomePermanent},
		"429":                 {status(429), spillway.OutcomeQuota},
		"500":                 {status(500), spillway.OutcomeUnknown},
		"503":                 {status(503), spillway.OutcomeOverload},
		"early hints and 200": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(200) }, spillway.OutcomeOK},
		"early hints and 503": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(503) }, spillway.OutcomeOverload},
		"200, then too late":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); w.WriteHeader(503) }, spillway.OutcomeOK},
		"late":                {late(200), spillway.OutcomeLate},
		"late and 504":        {late(504), spillway.OutcomeTimeout},
		"late and 503":        {late(503), spillway.OutcomeOverload},
		"backend refused": {func(w http.ResponseWriter, r *http.Request) {
			nethttp.WriteError(w, r, &spillway.Rejection{Component: "limiter"})
		}, spillway.OutcomeOverload},
		"panic": {func(http.ResponseWriter, *http.Request) { panic(errSecret) }, spillway.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, 1)
				g := newGuard(t, l, func(c *nethttp.GuardConfig) { c.Timeout = time.Second })
				func() {
					defer func() { _ = recover() }()
					take(g.Wrap(c.handler))
				}()
				s := l.Stats()
				require.EqualValues(t, 1, s.Ended.Of(c.want), "%+v", s.Ended)
				requireWhole(t, l)
			})
		})
	}
}

// A21: a request whose caller has gone is no sample of anything, however it ends.
func TestGuardCallerGoneWhileServed(t *testing.T) {
	for name, end := range map[string]func(){
		"returns": func() {},
		"aborts":  func() { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, 1)
				rt := serve(t, newGuard(t, l).Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					<-r.Context().Done()
					w.WriteHeader(500)
					end()
				})))
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, site, nil)
				require.NoError(t, err)
				_, err = rt.RoundTrip(r)
				require.ErrorIs(t, err, context.Canceled)
				synctest.Wait()
				require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeLocal))
				requireWhole(t, l)
			})
		})
	}
}

// G-HTTP-4; A6, failsafe-go's leak (its limit of 2 is dead after two panics): a panic
// goes on to the server, http.ErrAbortHandler included, and so does a Goexit; the permit
// is back.
func TestGuardPanickingHandlersCostNoPermit(t *testing.T) {
	for _, value := range []any{errSecret, http.ErrAbortHandler, "boom"} {
		l := newLimiter(t, 2)
		g := newGuard(t, l)
		h := g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(value) }))
		for range 5 {
			require.PanicsWithValue(t, value, func() { take(h) })
		}
		require.EqualValues(t, 5, g.Stats().Aborted)
		require.Zero(t, g.Stats().Serving)
		requireWhole(t, l)
	}
	l := newLimiter(t, 2)
	h := newGuard(t, l).Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { runtime.Goexit() }))
	var wg sync.WaitGroup
	wg.Go(func() { take(h) })
	wg.Wait()
	requireWhole(t, l)
}

// The same over a real server: the connection breaks for the caller, and for nobody else.
func TestGuardPanickingHandlersBreakTheirConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		rt := serve(t, newGuard(t, l).Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Panic") != "" {
				_, _ = io.WriteString(w, "half an ans")
				panic(http.ErrAbortHandler)
			}
			ok(w, r)
		})))
		for range 3 {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site, nil)
			require.NoError(t, err)
			r.Header.Set("X-Panic", "now")
			_, err = rt.RoundTrip(r)
			require.Error(t, err)
			code, _ := get(t, rt)
			require.Equal(t, 200, code)
		}
		synctest.Wait()
		requireWhole(t, l)
	})
}

// Without an Outcome nothing is looked at, and the handler gets the server's own writer.
func TestGuardWithoutOutcomeWrapsNothing(t *testing.T) {
	l := newLimiter(t, 1)
	g := newGuard(t, l, func(c *nethttp.GuardConfig) { c.Outcome = nil })
	var got http.ResponseWriter
	w := take(g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { got = w; w.WriteHeader(500) })))
	require.Same(t, w, got)
	require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeOK))
}

// G-HTTP-1, G-HTTP-4: whatever handlers do, never more than the limit are served, every
// request is counted once, and in the end nothing is out.
func TestGuardConcurrentSafe(t *testing.T) {
	const limit = 4
	l := newLimiter(t, limit)
	g := newGuard(t, l, func(c *nethttp.GuardConfig) {
		c.Timeout, c.Exempt, c.HoldHijacked = time.Minute, nethttp.Paths("/exempt"), true
	})
	var serving, peak, codes [3]atomic.Int32
	h := g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/exempt" {
			return
		}
		if n := serving[0].Add(1); n > limit {
			peak[0].Add(1)
		}
		defer serving[0].Add(-1)
		runtime.Gosched()
		switch r.Header.Get("X-End") {
		case "panic":
			panic(http.ErrAbortHandler)
		case "500":
			w.WriteHeader(500)
		default:
			ok(w, r)
		}
	}))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 50 {
				func() {
					defer func() { _ = recover() }()
					w := take(h, header("X-End", [...]string{"", "panic", "500"}[(i+j)%3]), func(r *http.Request) {
						if j%10 == 9 {
							r.URL.Path = "/exempt"
						}
					})
					codes[w.Code/500].Add(1)
				}()
			}
		})
	}
	wg.Wait()
	require.Zero(t, peak[0].Load())
	s := g.Stats()
	require.EqualValues(t, 16*50, s.Exempt+s.Admitted+s.Refused+s.Canceled)
	require.EqualValues(t, 16*5, s.Exempt)
	require.Zero(t, s.Serving)
	require.Equal(t, s.Admitted, l.Stats().Admitted)
	requireWhole(t, l)
}

// A done context's error may be anybody's.
func TestGuardForeignContexts(t *testing.T) {
	l := newLimiter(t, 1)
	g := newGuard(t, l)
	ctx := strangeContext{t.Context()}
	w := take(g.Wrap(http.HandlerFunc(ok)), func(r *http.Request) { *r = *r.WithContext(ctx) })
	require.Equal(t, 500, w.Code)
	requireWhole(t, l)
}

// A context may be of a type that can't be compared.
func TestGuardContextsThatCannotBeCompared(t *testing.T) {
	ctx := incomparable{t.Context(), []int{1}}
	w := take(newGuard(t, newLimiter(t, 1)).Wrap(http.HandlerFunc(ok)), func(r *http.Request) { *r = *r.WithContext(ctx) })
	require.Equal(t, 200, w.Code)
}

type incomparable struct {
	context.Context
	_ []int
}

type strangeContext struct{ context.Context }

func (strangeContext) Err() error { return errors.New("strange") }

// G-HTTP-6: a source that fails before its first byte has answered nothing, so what the handler
// says then is the answer.
func TestGuardSourceThatFailsHasNotAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		source io.Reader
		want   int
	}{
		"before the first byte": {failing{}, 502},
		"nothing":               {onlyReader{strings.NewReader("")}, 502},
		"after the first byte":  {io.MultiReader(strings.NewReader("x"), failing{}), 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, told := newLimiter(t, 1), 0
				g := newGuard(t, l, func(c *nethttp.GuardConfig) {
					c.Outcome = func(status int) spillway.Outcome { told = status; return nethttp.OutcomeOfStatus(status) }
				})
				code, _ := get(t, serve(t, g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if n, _ := io.Copy(w, c.source); n == 0 {
						w.WriteHeader(http.StatusBadGateway)
					}
				}))))
				synctest.Wait()
				require.Equal(t, c.want, code)
				require.Equal(t, c.want, told)
				require.EqualValues(t, 1, l.Stats().Ended.Of(nethttp.OutcomeOfStatus(c.want)))
			})
		})
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the source has gone") }

type onlyReader struct{ io.Reader }

// G-HTTP-3: a request whose context ended with a cause that panics when it is asked is answered and
// counted as any other whose caller has gone.
func TestGuardSurvivesACauseThatPanics(t *testing.T) {
	l := newLimiter(t, 1)
	g := newGuard(t, l)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errNil())
	w := take(g.Wrap(http.HandlerFunc(ok)), func(r *http.Request) { *r = *r.WithContext(ctx) })
	require.Equal(t, 499, w.Code)
	require.EqualValues(t, 1, g.Stats().Canceled)
	requireWhole(t, l)
}
