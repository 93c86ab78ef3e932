//go:build go1.25

package nethttp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/retry"
)

var errSecret = errors.New("secret: table users on db-7")

// R143, X10: every error of the toolkit has its answer. Of the ones for a guard and for
// a handler there is but one list.
var answers = []struct {
	name  string
	err   error
	code  int
	after string
}{
	{"lane full", &spillway.Rejection{Component: "lane", Reason: spillway.ReasonQueueFull, RetryAfter: 2500 * time.Millisecond}, 429, "3"},
	{"lane full, nobody may wait", &spillway.Rejection{Component: "lane", Reason: spillway.ReasonLimit}, 429, "1"},
	{"lane, waited", &spillway.Rejection{Component: "lane", Reason: spillway.ReasonMaxWait}, 429, "1"},
	{"lane, predicted", &spillway.Rejection{Component: "lane", Reason: spillway.ReasonPredicted, RetryAfter: time.Nanosecond}, 429, "1"},
	{"lane, shrunk", &spillway.Rejection{Component: "lane", Reason: spillway.ReasonLimitShrunk}, 429, "1"},
	{"lane, refuse all", &spillway.Rejection{Component: "lane", Reason: spillway.ReasonRefuseAll}, 503, "1"},
	{"limiter full", &spillway.Rejection{Component: "limiter", Reason: spillway.ReasonLimit}, 503, "1"},
	{"limiter, hint", &spillway.Rejection{Component: "limiter", Reason: spillway.ReasonLimit, RetryAfter: time.Minute}, 503, "60"},
	{"longest hint", &spillway.Rejection{Component: "limiter", RetryAfter: math.MaxInt64}, 503, strconv.FormatInt(math.MaxInt64/int64(time.Second), 10)},
	{"executor full", &spillway.Rejection{Component: "executor", Reason: spillway.ReasonQueueFull}, 503, "1"},
	{"dropped", &spillway.Rejection{Component: "executor", Reason: spillway.ReasonDropped}, 503, "1"},
	{"expired", &spillway.Rejection{Component: "executor", Reason: spillway.ReasonExpired}, 504, ""},
	{"refused by somebody's own", fmt.Errorf("quota: %w", spillway.ErrBackpressure), 503, "1"},
	{"wrapped", fmt.Errorf("read: %w", &spillway.Rejection{Component: "lane", Reason: spillway.ReasonQueueFull}), 429, "1"},
	{"given up", &retry.ExhaustedError{Report: retry.Report{Err: &spillway.Rejection{Component: "lane", Reason: spillway.ReasonQueueFull}}}, 429, "1"},
	{"closed", &spillway.ClosedError{Component: "limiter"}, 503, "1"},
	{"not connected", &lifecycle.StateError{Op: "lease"}, 503, "1"},
	{"canceled", context.Canceled, 499, ""},
	{"out of time", context.DeadlineExceeded, 504, ""},
	{"weight", &spillway.WeightError{}, 500, ""},
	{"configuration", &spillway.ConfigError{}, 500, ""},
	{"nested", &spillway.NestedError{}, 500, ""},
	{"panic", &spillway.PanicError{Value: errSecret}, 500, ""},
	{"unknown", errSecret, 500, ""},
	{"answered with 429", &nethttp.StatusError{Code: 429}, 429, "1"},
	{"answered with 503", &nethttp.StatusError{Code: 503}, 503, "1"},
	{"answered with 502", &nethttp.StatusError{Code: 502}, 503, "1"},
	{"answered with 504", &nethttp.StatusError{Code: 504}, 504, ""},
	{"answered with 500", &nethttp.StatusError{Code: 500}, 500, ""},
	{"attempt took too long", &nethttp.TimeoutError{What: "attempt"}, 504, ""},
	{"connection broke", &nethttp.CallError{Err: errSecret}, 503, "1"},
}

// G-HTTP-3; R143, R144.
func TestGuardAnswersEveryRefusal(t *testing.T) {
	for _, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			g := newGuard(t, refusing(c.err))
			w := httptest.NewRecorder()
			g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("served") })).
				ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			requireAnswer(t, w, c.code, c.after)
			require.EqualValues(t, 1, g.Stats().Refused)
		})
	}
}

func TestWriteErrorAnswersEveryError(t *testing.T) {
	for _, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			nethttp.WriteError(w, httptest.NewRequest(http.MethodGet, "/", nil), c.err)
			requireAnswer(t, w, c.code, c.after)
		})
	}
	w := httptest.NewRecorder()
	nethttp.WriteError(w, httptest.NewRequest(http.MethodGet, "/", nil), nil)
	require.Empty(t, w.Header())
	require.Zero(t, w.Body.Len())
}

// requireAnswer checks an answer, and that it gives nothing away.
func requireAnswer(t *testing.T, w *httptest.ResponseRecorder, code int, after string) {
	t.Helper()
	require.Equal(t, code, w.Code)
	require.Equal(t, after, w.Header().Get("Retry-After"))
	require.Equal(t, strconv.Itoa(w.Body.Len()), w.Header().Get("Content-Length"))
	if code == 499 {
		require.Zero(t, w.Body.Len())
		return
	}
	require.Equal(t, fmt.Sprintf("%d %s\n", code, http.StatusText(code)), w.Body.String())
	require.Equal(t, "text/plain; charset=utf-8", w.Header().Get("Content-Type"))
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
}

func TestWriteStatusSpeaksJSONToThoseWhoDo(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                "text/plain; charset=utf-8",
		"text/html,*/*;q=0.8":             "text/plain; charset=utf-8",
		"application/json":                "application/problem+json",
		"application/problem+json, */*":   "application/problem+json",
		"text/html, application/vnd+json": "application/problem+json",
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", accept)
		w.Header().Set("Etag", `"1"`)
		w.Header().Set("Content-Encoding", "gzip")
		nethttp.WriteStatus(w, r, spillway.Status{HTTP: 429, RetryAfter: 1500 * time.Millisecond})
		require.Equal(t, want, w.Header().Get("Content-Type"), accept)
		require.Equal(t, "2", w.Header().Get("Retry-After"))
		require.Empty(t, w.Header().Get("Etag"))
		require.Empty(t, w.Header().Get("Content-Encoding"))
		if want == "application/problem+json" {
			require.JSONEq(t, `{"title":"Too Many Requests","status":429}`, w.Body.String())
		}
	}
}

// Overload never becomes a success, whatever a Status function says (T-16).
func TestWriteStatusWritesOnlyErrors(t *testing.T) {
	for _, code := range []int{-1, 0, 99, 100, 200, 204, 304, 399, 600, 1000} {
		w := httptest.NewRecorder()
		nethttp.WriteStatus(w, httptest.NewRequest(http.MethodGet, "/", nil), spillway.Status{HTTP: code})
		require.Equal(t, 500, w.Code, code)
	}
	w := httptest.NewRecorder()
	nethttp.WriteStatus(w, httptest.NewRequest(http.MethodGet, "/", nil), spillway.Status{HTTP: 599})
	require.Equal(t, "599\n", w.Body.String(), "a status without a name")
}

func TestOutcomeOfStatus(t *testing.T) {
	for code, want := range map[int]spillway.Outcome{
		0: spillway.OutcomeOK, 101: spillway.OutcomeOK, 200: spillway.OutcomeOK, 204: spillway.OutcomeOK, 304: spillway.OutcomeOK,
		400: spillway.OutcomePermanent, 404: spillway.OutcomePermanent, 408: spillway.OutcomeTimeout, 429: spillway.OutcomeQuota,
		499: spillway.OutcomeLocal, 500: spillway.OutcomeUnknown, 501: spillway.OutcomePermanent, 502: spillway.OutcomeNetwork,
		503: spillway.OutcomeOverload, 504: spillway.OutcomeTimeout, 505: spillway.OutcomePermanent, 599: spillway.OutcomeUnknown,
	} {
		require.Equal(t, want, nethttp.OutcomeOfStatus(code), code)
	}
}
