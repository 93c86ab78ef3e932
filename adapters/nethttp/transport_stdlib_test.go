//go:build go1.25

package nethttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

// tlsServer serves h over TLS, by HTTP/2 or not, and returns its address and its transport.
func tlsServer(t *testing.T, h2 bool, h http.Handler) (string, http.RoundTripper) {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = h2
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.URL, srv.Client().Transport
}

// G-HTTP-16: an answer without a body holds nothing, by HTTP/2 neither, where it has a reader for
// one all the same.
func TestTransportAnswersWithoutABodyInEitherProtocol(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		at, base := tlsServer(t, h2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				w.WriteHeader(http.StatusNoContent)
			}
		}))
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			l := newLimiter(t, 1)
			rt := newTransport(t, base, l)
			r, err := http.NewRequestWithContext(t.Context(), method, at, nil)
			require.NoError(t, err)
			resp, err := rt.RoundTrip(r)
			require.NoError(t, err)
			requireWhole(t, l) // before its body is read or closed
			require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeOK))
			require.Empty(t, finish(t, resp))
			require.Zero(t, rt.Stats().Open)
		}
	}
}

// An answer names the request that it is the answer to, whose context doesn't end with the body:
// who repeats or follows it goes on from there.
func TestTransportAnswersNameTheirRequest(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		at, base := tlsServer(t, h2, http.HandlerFunc(ok))
		foreign := roundTrip(func(r *http.Request) (*http.Response, error) { return base.RoundTrip(r.Clone(r.Context())) })
		for _, below := range []http.RoundTripper{base, foreign} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
			require.NoError(t, err)
			resp, err := newTransport(t, below, nil).RoundTrip(r)
			require.NoError(t, err)
			require.Equal(t, "ok", finish(t, resp))
			require.NoError(t, resp.Request.Context().Err())
			require.Equal(t, r.URL, resp.Request.URL)
			if below == base {
				require.Same(t, r, resp.Request)
			}
		}
	}
}

// G-HTTP-10: a 503 whose body is too slow to be drained is a 503 all the same, for the admission.
func TestTransportSlowRefusalIsOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, l := 0, newLimiter(t, 1)
		base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls++; calls == 1 {
				w.WriteHeader(503)
				drip(w, r)
				return
			}
			ok(w, r)
		}))
		code, _ := get(t, newTransport(t, base, l))
		require.Equal(t, 200, code)
		require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeOverload), "%+v", l.Stats().Ended)
		requireWhole(t, l)
	})
}

// What an http.Client's caller asks a url.Error is what he would be told without us.
func TestTransportTimeoutsSayTimeout(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		synctest.Test(t, func(t *testing.T) {
			for want, do := range map[bool]func(int, *http.Request) (*http.Response, error){
				true: hangs, false: func(int, *http.Request) (*http.Response, error) { return nil, errBroken },
			} {
				client := &http.Client{Transport: newTransport(t, &backend{do: do}, nil)}
				_, err := client.Do(request(t, method, nil))
				var failed *url.Error
				require.ErrorAs(t, err, &failed)
				require.Equal(t, want, failed.Timeout(), "%v", err)
			}
		})
	}
}

// overdue is a context that has a deadline and doesn't look at it.
type overdue struct {
	context.Context
	at time.Time
}

func (o overdue) Deadline() (time.Time, bool) { return o.at, true }

// A request that is ended by its Cancel, as an http.Client does at its Timeout, was ended by its
// caller: the network is not to blame, and nothing is repeated.
func TestTransportCancelIsTheCallers(t *testing.T) {
	for want, timeout := range map[spillway.Outcome]time.Duration{
		spillway.OutcomeLocal: time.Minute, spillway.OutcomeTimeout: time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			l, gone := newLimiter(t, 1), make(chan struct{})
			b := &backend{do: func(int, *http.Request) (*http.Response, error) { <-gone; return nil, errBroken }}
			r := request(t, http.MethodPost, nil).WithContext(overdue{t.Context(), time.Now().Add(timeout)})
			r.Cancel = gone //nolint:staticcheck // deprecated, and still set by http.Client
			time.AfterFunc(time.Second, func() { close(gone) })
			_, err := newTransport(t, b, l).RoundTrip(r)
			require.Equal(t, want, spillway.OutcomeOf(err), "%v", err)
			require.Equal(t, 1, b.calls())
			require.EqualValues(t, 1, l.Stats().Ended.Of(want), "%+v", l.Stats().Ended)
		})
	}
}

// A body that can't be had again was never sent: the admission isn't told of a broken network.
func TestTransportBodyThatCannotBeHadAgainIsLocal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		r := request(t, http.MethodPut, strings.NewReader("x"))
		r.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("no second body") }
		_, err := newTransport(t, &backend{do: always(503)}, l).RoundTrip(r)
		require.ErrorContains(t, err, "no second body")
		require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeLocal), "%+v", l.Stats().Ended)
		requireWhole(t, l)
	})
}

// A Base that returns an answer with its error has it closed.
func TestTransportClosesAnAnswerWithAnError(t *testing.T) {
	b := &backend{do: func(int, *http.Request) (*http.Response, error) { return answer(200, "body"), errBroken }}
	_, err := newTransport(t, b, nil).RoundTrip(request(t, http.MethodPost, nil))
	require.ErrorIs(t, err, errBroken)
	require.Zero(t, b.open.Load())
}
