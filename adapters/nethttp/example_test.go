package nethttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter"
)

// A whole service: a page behind a limit, probes beside it, and an end in order.
func Example() {
	requests, err := limiter.New[any](limiter.Config{Name: "requests", Limit: 64})
	if err != nil {
		fmt.Println(err)
		return
	}
	guard, err := nethttp.NewGuard(nethttp.DefaultGuardConfig("pages", requests))
	if err != nil {
		fmt.Println(err)
		return
	}
	var connected atomic.Bool
	readiness, err := nethttp.NewReadiness(nethttp.DefaultReadinessConfig(nethttp.Check{Name: "db", Healthy: connected.Load}))
	if err != nil {
		fmt.Println(err)
		return
	}
	page := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

	mux := http.NewServeMux()
	mux.Handle("/", guard.Wrap(http.HandlerFunc(page)))
	mux.Handle("/livez", nethttp.Liveness())
	mux.Handle("/readyz", readiness)

	cfg := nethttp.DefaultServeConfig(&http.Server{Addr: "127.0.0.1:0", Handler: mux, ReadHeaderTimeout: 5 * time.Second})
	cfg.Readiness = readiness
	cfg.Shutdown.LameDuck = 0 // nobody balances load in an example
	cfg.Shutdown.Drain = []lifecycle.Step{lifecycle.CloseStep("requests", requests)}

	ctx, cancel := context.WithCancel(context.Background())
	cancel() // as SIGTERM would, which Serve listens to as well
	report, err := nethttp.Serve(ctx, cfg)
	for _, step := range report.Steps {
		fmt.Println(step.Phase+":", step.Name)
	}
	fmt.Println(err)
	// Output:
	// unready: readiness
	// stop intake: server
	// drain: requests
	// <nil>
}

// A guard in front of a handler: who finds no permit is told when to come back.
func ExampleNewGuard() {
	requests, err := limiter.New[any](limiter.Config{Name: "requests", Limit: 1, RetryAfter: 2 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	guard, err := nethttp.NewGuard(nethttp.DefaultGuardConfig("pages", requests))
	if err != nil {
		fmt.Println(err)
		return
	}
	page := guard.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))

	get := func() {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		fmt.Printf("%q, Retry-After %q\n", strings.TrimSpace(w.Body.String()), w.Header().Get("Retry-After"))
	}
	get()
	busy, _ := requests.Admit(context.Background())
	get()
	busy.Release()
	// Output:
	// "hello", Retry-After ""
	// "503 Service Unavailable", Retry-After "2"
}

// Lanes by class: reports never take what buyers need, and who sends too many of them is
// told so by a 429.
func ExampleNewGuard_lanes() {
	lanes, err := lane.NewSet[any](lane.SetConfig{
		Name: "requests", Default: "buyers",
		Lanes:   []lane.Config{{Name: "buyers", Limit: 60}, {Name: "reports", Limit: 4}},
		Classes: map[spillway.Class]string{spillway.Bulk: "reports"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := nethttp.DefaultGuardConfig("shop", lanes)
	cfg.Class = nethttp.ClassFromHeader("X-Class", spillway.Critical, spillway.Normal, spillway.Bulk)
	cfg.Timeout = 2 * time.Second          // of each request, as its handler's context says
	cfg.TimeoutHeader = "X-Timeout-Millis" // or less, if the caller doesn't wait as long
	guard, err := nethttp.NewGuard(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	shop := guard.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		class, _ := spillway.ClassFrom(r.Context())
		_, _ = fmt.Fprintf(w, "served as %q", class)
	}))
	busy, _ := lanes.Lane("reports").AdmitN(context.Background(), 4)
	defer busy.Release()
	for _, class := range []string{"", "critical", "bulk", "anything"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Class", class)
		w := httptest.NewRecorder()
		shop.ServeHTTP(w, r)
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 served as ""
	// 200 served as "critical"
	// 429 429 Too Many Requests
	// 200 served as ""
}

// A handler whose backend refused hands the refusal on.
func ExampleWriteError() {
	reads, err := limiter.New[string](limiter.Config{Name: "db", Limit: 1, RetryAfter: 1500 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		row, err := reads.Do(r.Context(), func(context.Context) (string, error) { return "row", nil })
		if err != nil {
			nethttp.WriteError(w, r, err)
			return
		}
		_, _ = io.WriteString(w, row)
	}
	busy, _ := reads.Admit(context.Background())
	defer busy.Release()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Accept", "application/json")
	w := httptest.NewRecorder()
	handler(w, r)
	fmt.Println(w.Code, w.Header().Get("Retry-After"), w.Body)
	// Output:
	// 503 2 {"title":"Service Unavailable","status":503}
}

// A client that keeps at most eight calls going, and comes back when it was asked to.
func ExampleNewTransport() {
	var calls atomic.Int32
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "answer")
	}))
	defer backend.Close()

	limit, err := limiter.New[any](limiter.Config{Name: "billing", Limit: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	transport, err := nethttp.NewTransport(nethttp.DefaultTransportConfig("billing", limit))
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()

	resp, err := client.Get(backend.URL)
	if errors.Is(err, spillway.ErrBackpressure) {
		fmt.Println("eight are under way already")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }() // until here, or its end, the permit is held
	body, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(body), err, "after", calls.Load(), "calls")
	// Output:
	// 200 answer <nil> after 2 calls
}
