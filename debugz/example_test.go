package debugz_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
)

// A page of one limiter, and what Prometheus would read of it.
func ExampleHandler() {
	db, err := limiter.New[string](limiter.Config{Name: "db", Limit: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/spillway/", debugz.Handler(observe.Limiter(db)))

	r := httptest.NewRequest(http.MethodGet, "http://localhost/debug/spillway/metrics", nil)
	r.RemoteAddr = "127.0.0.1:5000"
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	for line := range strings.SplitSeq(w.Body.String(), "\n") {
		if strings.HasPrefix(line, "spillway_limiter_permit") {
			fmt.Println(line)
		}
	}
	// Output:
	// spillway_limiter_permit_limit{spillway_limiter_name="db"} 8
	// spillway_limiter_permit_usage{spillway_limiter_name="db"} 0
}

// Who isn't on this machine is refused, unless you let him in.
func ExampleNew() {
	cfg := debugz.DefaultConfig()
	cfg.Title = "checkout"
	cfg.Allow = func(r *http.Request) bool {
		return debugz.Loopback(r) || strings.HasPrefix(r.RemoteAddr, "10.1.")
	}
	page, err := debugz.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, from := range []string{"127.0.0.1:5000", "10.1.2.3:5000", "10.9.9.9:5000"} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/debug/spillway/text", nil)
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		fmt.Println(from, w.Code)
	}
	// Output:
	// 127.0.0.1:5000 200
	// 10.1.2.3:5000 200
	// 10.9.9.9:5000 403
}

// What a limiter refuses, and who changed its limit, is kept for the page.
func ExampleLog() {
	log := debugz.NewLog(100)
	db, err := limiter.New[string](limiter.Config{Name: "db", Limit: 8, Hooks: []limiter.Hooks{log.Limiter("db")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := debugz.DefaultConfig()
	cfg.Log = log
	page, err := debugz.New(cfg, observe.Limiter(db))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(db.SetLimit(12))
	_, _ = db.Do(context.Background(), func(context.Context) (string, error) { return "row", nil })

	r := httptest.NewRequest(http.MethodGet, "http://localhost/debug/spillway/text", nil)
	r.RemoteAddr = "127.0.0.1:5000"
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	fmt.Println(strings.Contains(w.Body.String(), "limiter db  limit 8 → 12"))
	// Output:
	// <nil>
	// true
}
