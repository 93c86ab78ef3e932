//go:build go1.25

package nethttp_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
)

// take serves one request without a network, and returns what was written.
func take(h http.Handler, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// newLanes returns lanes "front" of 2 and "back" of 1, for bulk.
func newLanes(t testing.TB, change ...func(*lane.Config)) *lane.Set[any] {
	t.Helper()
	back := lane.Config{Name: "back", Limit: 1}
	for _, f := range change {
		f(&back)
	}
	s, err := lane.NewSet[any](lane.SetConfig{
		Name: "lanes", Default: "front", Lanes: []lane.Config{{Name: "front", Limit: 2}, back},
		Classes: map[spillway.Class]string{spillway.Bulk: "back"},
	})
	require.NoError(t, err)
	return s
}

func TestNewGuardNamesItsFaults(t *testing.T) {
	_, err := nethttp.NewGuard(nethttp.GuardConfig{
		Name: " ", Admission: (*limiter.Limiter[any])(nil), Timeout: -1,
		Lane:   func(*http.Request) string { return "" },
		Weight: func(*http.Request) int { return 1 },
	})
	for _, text := range []string{
		`http guard " ": invalid configuration`, `Name is " "`, "Admission is <nil>", "MaxWait is 0s", "Timeout is -1ns", "Lane is",
	} {
		require.ErrorContains(t, err, text)
	}
	cfg := nethttp.DefaultGuardConfig("x", admissionFunc(nil))
	cfg.TimeoutHeader = "x-timeout"
	cfg.Weight = func(*http.Request) int { return 1 }
	_, err = nethttp.NewGuard(cfg)
	require.ErrorContains(t, err, `TimeoutHeader is "x-timeout": needs Timeout`)
	require.ErrorContains(t, err, "Weight is")
	require.PanicsWithValue(t, "nethttp: Wrap: handler is nil", func() { newGuard(t, newLimiter(t, 1)).Wrap(nil) })
}

func TestGuardZeroRefuses(t *testing.T) {
	var g nethttp.Guard
	w := take(g.Wrap(http.HandlerFunc(ok)))
	requireAnswer(t, w, 503, "1")
	require.Equal(t, nethttp.GuardStats{Refused: 1}, g.Stats())
}

// G-HTTP-1: no more than the limit are in their handlers, however many come.
func TestGuardAdmitsUpToTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 3)
		g := newGuard(t, l)
		rt := serve(t, g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			ok(w, r)
		})))
		codes := make(chan int, 10)
		for range 10 {
			go func() {
				code, _ := get(t, rt)
				codes <- code
			}()
		}
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, 3, g.Stats().Serving)
		require.Equal(t, 3, l.Stats().InUse)
		require.Len(t, codes, 7, "the others have their answer while the three are still served")
		count := map[int]int{}
		for range 10 {
			count[<-codes]++
		}
		require.Equal(t, map[int]int{200: 3, 503: 7}, count)
		requireWhole(t, l)
		require.Equal(t, nethttp.GuardStats{Name: "test", Admitted: 3, Refused: 7}, g.Stats())
	})
}

// G-HTTP-5; issue 6: probes never stand behind the data limit, and refusing makes nobody unready.
func TestGuardExemptRequestsNeedNoPermit(t *testing.T) {
	l := newLimiter(t, 1)
	busy, err := l.Admit(t.Context())
	require.NoError(t, err)
	defer busy.Release()
	g := newGuard(t, l, func(c *nethttp.GuardConfig) { c.Exempt = nethttp.Paths("/livez", "/readyz") })
	ready, err := nethttp.NewReadiness(nethttp.DefaultReadinessConfig())
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/", http.HandlerFunc(ok))
	mux.Handle("/livez", nethttp.Liveness())
	mux.Handle("/readyz", ready)
	h := g.Wrap(mux)
	for range 100 {
		require.Equal(t, 503, take(h).Code)
	}
	at := func(path string) func(*http.Request) { return func(r *http.Request) { r.URL.Path = path } }
	require.Equal(t, 200, take(h, at("/livez")).Code)
	require.Equal(t, 200, take(h, at("/readyz")).Code)
	require.Equal(t, 503, take(h, at("/livez/")).Code)
	require.EqualValues(t, 2, g.Stats().Exempt)
}

// The class goes to the admission and on to the handler; one that nobody knows says nothing.
func TestGuardClassPicksTheLane(t *testing.T) {
	lanes := newLanes(t)
	g := newGuard(t, lanes, func(c *nethttp.GuardConfig) {
		c.Class = nethttp.ClassFromHeader("X-Class", spillway.Critical, spillway.Bulk)
	})
	seen := spillway.Class("none")
	h := g.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = "none"
		if class, ok := spillway.ClassFrom(r.Context()); ok {
			seen = class
		}
	}))
	for class, want := range map[string]spillway.Class{"": "none", "root": "none", "critical": spillway.Critical, "bulk": spillway.Bulk} {
		require.Equal(t, 200, take(h, header("X-Class", class)).Code)
		require.Equal(t, want, seen)
	}
	require.EqualValues(t, 3, lanes.Lane("front").Stats().Admitted)
	require.EqualValues(t, 1, lanes.Lane("back").Stats().Admitted)
}

// R143, X10: 429 if the caller's own lane is full, while the others are served.
func TestGuardLaneIsTheCallersOwn(t *testing.T) {
	lanes := newLanes(t)
	busy, err := lanes.Lane("back").Admit(t.Context())
	require.NoError(t, err)
	defer busy.Release()
	g := newGuard(t, lanes, func(c *nethttp.GuardConfig) {
		c.Lane = func(r *http.Request) string { return r.Header.Get("X-Lane") }
	})
	h := g.Wrap(http.HandlerFunc(ok))
	requireAnswer(t, take(h, header("X-Lane", "back")), 429, "1")
	require.Equal(t, 200, take(h, header("X-Lane", "front")).Code)
	require.Equal(t, 200, take(h).Code)
	requireAnswer(t, take(h, header("X-Lane", "nowhere")), 500, "")
}

// One lane for everybody may say what the whole says.
func TestGuardStatusIsTheUsers(t *testing.T) {
	l, err := lane.New[any](lane.Config{Name: "all", Limit: 1})
	require.NoError(t, err)
	busy, err := l.Admit(t.Context())
	require.NoError(t, err)
	defer busy.Release()
	g := newGuard(t, l, func(c *nethttp.GuardConfig) {
		c.Status = func(err error) spillway.Status {
			st := spillway.StatusOf(err)
			st.HTTP = http.StatusServiceUnavailable
			return st
		}
	})
	requireAnswer(t, take(g.Wrap(http.HandlerFunc(ok))), 503, "1")
}

// A20: the weight is taken, and given back.
func TestGuardWeight(t *testing.T) {
	l := newLimiter(t, 5)
	g := newGuard(t, l, func(c *nethttp.GuardConfig) {
		c.Weight = func(r *http.Request) int { return len(r.Header.Get("X-Weight")) }
	})
	h := g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { require.Equal(t, 4, l.Stats().InUse) }))
	require.Equal(t, 200, take(h, header("X-Weight", "1234")).Code)
	requireWhole(t, l)
	requireAnswer(t, take(h), 500, "")
	requireAnswer(t, take(h, header("X-Weight", "123456")), 500, "")
}

// The deadline reaches the handler; a caller can shorten it, and no more.
func TestGuardTimeoutReachesTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := time.Duration(-1)
		h := newGuard(t, newLimiter(t, 1), func(c *nethttp.GuardConfig) {
			c.Timeout, c.TimeoutHeader = 2*time.Second, "x-timeout-millis"
		}).Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			at, bounded := r.Context().Deadline()
			require.True(t, bounded)
			left = time.Until(at)
		}))
		for text, want := range map[string]time.Duration{
			"": 2 * time.Second, "250": 250 * time.Millisecond, " 250 ": 250 * time.Millisecond, "2000": 2 * time.Second,
			"2001": 2 * time.Second, "9223372036854775807": 2 * time.Second, "99999999999999999999": 2 * time.Second,
			"0": 2 * time.Second, "-5": 2 * time.Second, "1.5": 2 * time.Second, "1s": 2 * time.Second, "NaN": 2 * time.Second,
		} {
			require.Equal(t, 200, take(h, header("X-Timeout-Millis", text)).Code)
			require.Equal(t, want, left, text)
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		h.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
		require.Equal(t, time.Second, left, "the request's own is earlier")
	})
}

// The server's request gets back what it would have had without us.
func TestGuardHandsBackPatternAndForm(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /upload/{id}", func(w http.ResponseWriter, r *http.Request) {
		require.NoError(t, r.ParseMultipartForm(1))
		require.Equal(t, "7", r.PathValue("id"))
		ok(w, r)
	})
	g := newGuard(t, newLimiter(t, 1), func(c *nethttp.GuardConfig) { c.Timeout = time.Minute })
	body := "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n" + strings.Repeat("a", 1<<20) + "\r\n--x--\r\n"
	r := httptest.NewRequest(http.MethodPost, "/upload/7", strings.NewReader(body))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	w := httptest.NewRecorder()
	g.Wrap(mux).ServeHTTP(w, r)
	require.Equal(t, "ok", w.Body.String())
	require.Equal(t, "POST /upload/{id}", r.Pattern)
	require.NotNil(t, r.MultipartForm, "the server removes its files")
	require.NoError(t, r.MultipartForm.RemoveAll())
}

// A big upload that is refused gets its answer, and is not read.
func TestGuardRefusesUploadsUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := serve(t, newGuard(t, refusing(spillway.ErrBackpressure)).Wrap(http.HandlerFunc(ok)))
		rt.ExpectContinueTimeout = time.Hour
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site, io.LimitReader(endless{}, 1<<40))
		require.NoError(t, err)
		r.Header.Set("Expect", "100-continue")
		resp, err := rt.RoundTrip(r)
		require.NoError(t, err)
		require.Equal(t, 503, resp.StatusCode)
		require.NoError(t, resp.Body.Close())
	})
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
