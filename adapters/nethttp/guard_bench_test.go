//go:build go1.25

package nethttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/limiter"
)

// What a guard costs beside its handler, which does nothing.
func BenchmarkGuard(b *testing.B) {
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for name, handler := range map[string]func(l *limiter.Limiter[any]) http.Handler{
		"none": func(*limiter.Limiter[any]) http.Handler { return nothing },
		"outcome=false": func(l *limiter.Limiter[any]) http.Handler {
			return newGuard(b, l, func(c *nethttp.GuardConfig) { c.Outcome = nil }).Wrap(nothing)
		},
		"outcome=true": func(l *limiter.Limiter[any]) http.Handler { return newGuard(b, l).Wrap(nothing) },
		"refused": func(l *limiter.Limiter[any]) http.Handler {
			if _, err := l.AdmitN(context.Background(), 1000); err != nil {
				b.Fatal(err)
			}
			return newGuard(b, l).Wrap(nothing)
		},
	} {
		b.Run(name, func(b *testing.B) {
			h := handler(newLimiter(b, 1000))
			w, r := newWriter(), httptest.NewRequest(http.MethodGet, "/", nil)
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(w, r)
			}
		})
	}
}
