//go:build go1.25

package nethttp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/internal/invariant"
)

// writer is a ResponseWriter that keeps nothing, with what the one of HTTP/1 has.
type writer struct {
	bare
	h http.Header
}

func newWriter() *writer { return &writer{h: http.Header{}} }

func (w *writer) Header() http.Header         { return w.h }
func (w *writer) Write(p []byte) (int, error) { return len(p), nil }
func (w *writer) WriteHeader(int)             {}
func (w *writer) Flush()                      {}

// G-HTTP-9: what an admitted request costs beside its handler. The figures are those of
// the package comment.
func TestGuardAllocates(t *testing.T) {
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for name, c := range map[string]struct {
		change func(*nethttp.GuardConfig)
		most   float64
	}{
		"without Outcome": {func(c *nethttp.GuardConfig) { c.Outcome = nil }, 1},
		"exempt":          {func(c *nethttp.GuardConfig) { c.Exempt = func(*http.Request) bool { return true } }, 0},
		"default":         {func(*nethttp.GuardConfig) {}, 2},
		"class": {func(c *nethttp.GuardConfig) {
			c.Outcome, c.Class = nil, func(*http.Request) spillway.Class { return spillway.Bulk }
		}, 4},
		"timeout":               {func(c *nethttp.GuardConfig) { c.Outcome, c.Timeout = nil, 2*time.Second }, 6},
		"timeout below MaxWait": {func(c *nethttp.GuardConfig) { c.Outcome, c.Timeout = nil, 500*time.Millisecond }, 5},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(t, 1)
			h := newGuard(t, l, c.change).Wrap(nothing)
			w, r := newWriter(), httptest.NewRequest(http.MethodGet, "/", nil)
			allocs := testing.AllocsPerRun(1000, func() { h.ServeHTTP(w, r) })
			t.Log(allocs)
			if !invariant.Enabled {
				require.LessOrEqual(t, allocs, c.most)
			}
			requireWhole(t, l)
		})
	}
}
