//go:build go1.25

package nethttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/retry"
)

// hangs answers when the request's context ends, as net/http does.
func hangs(_ int, r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// G-HTTP-15: a request ends within its Timeout, its attempts within theirs, whichever is
// shorter, and a caller's own deadline counts as well.
func TestTransportEndsInTime(t *testing.T) {
	for name, c := range map[string]struct {
		timeout, attempt, caller time.Duration
		takes                    time.Duration
		calls                    int
	}{
		"attempts":        {10 * time.Second, time.Second, 0, 3*time.Second + 2*20*time.Millisecond + 20*time.Millisecond, 3},
		"request":         {2500 * time.Millisecond, time.Second, 0, 2500 * time.Millisecond, 3},
		"request alone":   {2 * time.Second, 0, 0, 2 * time.Second, 1},
		"attempts alone":  {0, time.Second, 0, 3*time.Second + 60*time.Millisecond, 3},
		"caller":          {10 * time.Second, 5 * time.Second, 1500 * time.Millisecond, 1500 * time.Millisecond, 1},
		"caller, between": {10 * time.Second, time.Second, 1500 * time.Millisecond, 1500 * time.Millisecond, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, 1)
				b := &backend{do: hangs}
				rt := newTransport(t, b, l, func(cfg *nethttp.TransportConfig) {
					cfg.Timeout, cfg.AttemptTimeout = c.timeout, c.attempt
				})
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if c.caller > 0 {
					ctx, cancel = context.WithTimeout(ctx, c.caller)
				}
				defer cancel()
				start := time.Now()
				_, err := rt.RoundTrip(request(t, http.MethodGet, nil).WithContext(ctx))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, c.takes, time.Since(start))
				require.Equal(t, c.calls, b.calls())
				require.Equal(t, 504, spillway.StatusOf(err).HTTP)
				require.EqualValues(t, c.calls, l.Stats().Ended.Of(spillway.OutcomeTimeout))
				requireWhole(t, l)
			})
		})
	}
}

// What took too long says what, and for how long it might have.
func TestTransportTimeoutErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for what, change := range map[string]func(*nethttp.TransportConfig){
			"attempt": func(c *nethttp.TransportConfig) { c.AttemptTimeout = time.Second },
			"request": func(c *nethttp.TransportConfig) { c.Timeout = time.Second },
		} {
			rt := newTransport(t, &backend{do: hangs}, nil, func(c *nethttp.TransportConfig) { c.Retry = retry.WritePolicy() }, change)
			_, err := rt.RoundTrip(request(t, http.MethodGet, nil))
			require.EqualError(t, err, fmt.Sprintf("http %q: the %s took longer than 1s", "test", what))
			var late *nethttp.TimeoutError
			require.ErrorAs(t, err, &late)
			require.Equal(t, "timeout", late.ErrorType())
			_, err = (&http.Client{Transport: rt}).Get(site)
			var outside *url.Error
			require.ErrorAs(t, err, &outside)
			require.True(t, outside.Timeout(), "as net/http says it")
		}
	})
}

// An answer that comes at the very moment of the timeout is whole, or no answer.
func TestTransportAnswerAtTheLastMoment(t *testing.T) {
	for what, change := range map[string]func(*nethttp.TransportConfig){
		"attempt": func(c *nethttp.TransportConfig) { c.AttemptTimeout = time.Second },
		"request": func(c *nethttp.TransportConfig) { c.Timeout = time.Second },
	} {
		for range 2000 { // the moment is short
			synctest.Test(t, func(t *testing.T) {
				b := &backend{do: func(int, *http.Request) (*http.Response, error) {
					time.Sleep(time.Second)
					return answer(200, "body"), nil
				}}
				l := newLimiter(t, 1)
				rt := newTransport(t, b, l, func(c *nethttp.TransportConfig) { c.Retry = retry.WritePolicy() }, change)
				resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
				want := spillway.OutcomeTimeout
				if err == nil {
					synctest.Wait()
					require.Equal(t, 1, l.Stats().InUse, what)
					require.Equal(t, "body", finish(t, resp))
					want = spillway.OutcomeOK
				} else {
					var late *nethttp.TimeoutError
					require.ErrorAs(t, err, &late)
					require.Equal(t, what, late.What)
				}
				require.Zero(t, b.open.Load())
				require.EqualValues(t, 1, l.Stats().Ended.Of(want))
				requireWhole(t, l)
			})
		}
	}
}

// A hook that takes longer than there is time for leaves neither an answer nor a body open.
func TestTransportSlowHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{do: always(503)}
		rt := newTransport(t, b, nil, func(c *nethttp.TransportConfig) {
			c.Retry.MaxElapsed = 200 * time.Millisecond
			c.Retry.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) { time.Sleep(time.Second) }}}
		})
		resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
		require.Nil(t, resp, "it was let go for a retry that wasn't made")
		var status *nethttp.StatusError
		require.ErrorAs(t, err, &status)
		require.Equal(t, 503, status.Code)
		require.Equal(t, "503", status.ErrorType())
		require.Equal(t, 503, spillway.StatusOf(err).HTTP)
		require.Zero(t, b.open.Load())
	})
}

// No attempt is made that can't fit, before or behind a wait for the permit.
func TestTransportMakesNoAttemptThatCannotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.New[any](lane.Config{Name: "calls", Limit: 1, MaxWaiting: 1, MaxWait: time.Minute})
		require.NoError(t, err)
		b := &backend{do: always(200)}
		rt := newTransport(t, b, l, func(c *nethttp.TransportConfig) { c.Least = 100 * time.Millisecond })
		call := func(left time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			resp, err := rt.RoundTrip(request(t, http.MethodGet, nil).WithContext(ctx))
			if err == nil {
				_ = finish(t, resp)
			}
			return err
		}
		require.NoError(t, call(100*time.Millisecond))
		err = call(99 * time.Millisecond)
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 504, spillway.StatusOf(err).HTTP)
		busy, err := l.Admit(t.Context())
		require.NoError(t, err)
		time.AfterFunc(50*time.Millisecond, busy.Release)
		require.ErrorIs(t, call(120*time.Millisecond), context.DeadlineExceeded)
		require.Equal(t, 1, b.calls())
		require.Zero(t, l.Stats().InUse)
		require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeLocal), "the other didn't ask for a permit")
	})
}

// drip sends one byte a second, for a minute.
func drip(w http.ResponseWriter, r *http.Request) {
	for range 60 {
		if _, err := io.WriteString(w, "x"); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-time.After(time.Second):
		case <-r.Context().Done():
			return
		}
	}
}

// G-HTTP-16; A8: the permit is held until the answer's body has ended, however it ends.
func TestTransportHoldsThePermitUntilTheBodyEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(t *testing.T, resp *http.Response, cancel context.CancelFunc)
		want spillway.Outcome
	}{
		"read": {func(t *testing.T, resp *http.Response, _ context.CancelFunc) {
			n, err := io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			require.EqualValues(t, 60, n)
		}, spillway.OutcomeOK},
		"closed": {func(t *testing.T, resp *http.Response, _ context.CancelFunc) {
			require.NoError(t, resp.Body.Close())
			require.NoError(t, resp.Body.Close())
		}, spillway.OutcomeOK},
		"context cancelled, never closed": {func(_ *testing.T, _ *http.Response, cancel context.CancelFunc) { cancel() }, spillway.OutcomeLocal},
		"context cancelled while reading": {func(t *testing.T, resp *http.Response, cancel context.CancelFunc) {
			time.AfterFunc(time.Second, cancel)
			_, err := io.Copy(io.Discard, resp.Body)
			require.ErrorIs(t, err, context.Canceled)
		}, spillway.OutcomeLocal},
		"forgotten": {func(*testing.T, *http.Response, context.CancelFunc) { time.Sleep(2 * time.Minute) }, spillway.OutcomeTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, 1)
				rt := newTransport(t, serve(t, http.HandlerFunc(drip)), l, func(c *nethttp.TransportConfig) {
					c.BodyTimeout = 90 * time.Second
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				resp, err := rt.RoundTrip(request(t, http.MethodGet, nil).WithContext(ctx))
				require.NoError(t, err)
				time.Sleep(20 * time.Second) // longer than Timeout and AttemptTimeout: those were for the headers
				require.Equal(t, 1, l.Stats().InUse)
				require.Equal(t, 1, rt.Stats().Open)
				c.end(t, resp, cancel)
				synctest.Wait()
				require.EqualValues(t, 1, l.Stats().Ended.Of(c.want), "%+v", l.Stats().Ended)
				requireWhole(t, l)
				require.Zero(t, rt.Stats().Open)
				_ = resp.Body.Close()
			})
		})
	}
}

// A body that is read for too long fails with a word on why.
func TestTransportBodyTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		rt := newTransport(t, serve(t, http.HandlerFunc(drip)), l, func(c *nethttp.TransportConfig) { c.BodyTimeout = 10 * time.Second })
		resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
		require.NoError(t, err)
		start := time.Now()
		_, err = io.Copy(io.Discard, resp.Body)
		require.EqualError(t, err, `http "test": the body took longer than 10s`)
		require.Equal(t, 10*time.Second, time.Since(start))
		require.NoError(t, resp.Body.Close())
		require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeTimeout))
		requireWhole(t, l)
	})
}

// A connection that breaks in the body is the backend's failure.
func TestTransportBodyBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		rt := newTransport(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})), l)
		resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeNetwork))
		requireWhole(t, l)
		_ = resp.Body.Close()
	})
}

// F8: the body can be read when RoundTrip has long returned, and its connection is used again.
func TestTransportBodyOutlivesTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", 100_000))
		}))
		dials, dial := 0, base.DialContext
		base.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			return dial(ctx, network, addr)
		}
		client := &http.Client{Transport: newTransport(t, base, newLimiter(t, 1)), Timeout: time.Minute}
		for range 5 {
			resp, err := client.Get(site)
			require.NoError(t, err)
			time.Sleep(30 * time.Second)
			require.Len(t, finish(t, resp), 100_000)
		}
		require.Equal(t, 1, dials)
	})
}

// An answer without a body holds nothing: it is often not closed.
func TestTransportAnswersWithoutABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		rt := newTransport(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })), l)
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			resp, err := rt.RoundTrip(request(t, method, nil))
			require.NoError(t, err)
			require.Equal(t, http.NoBody, resp.Body)
			requireWhole(t, l)
		}
	})
	l := newLimiter(t, 1)
	rt := newTransport(t, roundTrip(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 503}, nil }), l,
		func(c *nethttp.TransportConfig) { c.Retry = retry.WritePolicy() })
	resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
	require.NoError(t, err)
	require.Nil(t, resp.Body)
	requireWhole(t, l)
}

// A cause of the caller's is what comes back.
func TestTransportReturnsTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errCause := errors.New("changed my mind")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errCause) })
		l := newLimiter(t, 1)
		rt := newTransport(t, &backend{do: hangs}, l, func(c *nethttp.TransportConfig) { c.Retry = retry.WritePolicy() })
		_, err := rt.RoundTrip(request(t, http.MethodGet, nil).WithContext(ctx))
		require.Equal(t, errCause, err)
		requireWhole(t, l)
	})
}
