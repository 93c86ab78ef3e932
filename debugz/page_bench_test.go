package debugz_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
)

// A look at a hundred limiters, and what it costs to show them, in each form.
func BenchmarkPage(b *testing.B) {
	var all []observe.Observable
	for i := range 100 {
		l, err := limiter.New[int](limiter.Config{Name: fmt.Sprint("l", i), Limit: 8})
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, observe.Limiter(l))
	}
	for _, form := range []string{"html", "text", "json", "metrics", "openmetrics"} {
		for name, interval := range map[string]time.Duration{"looks": 1, "cached": time.Hour} {
			page := newPage(b, func(c *debugz.Config) { c.Interval = interval }, all...)
			b.Run("form="+form+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if w := answer(page, request("/"+form)); w.Code != http.StatusOK {
						b.Fatal(w.Code)
					}
				}
			})
		}
	}
}

// What a hook of a log costs a refused call.
func BenchmarkLogRejected(b *testing.B) {
	hooks := debugz.NewLog(100).Limiter("db")
	r := &spillway.Rejection{Reason: spillway.ReasonLimit}
	b.ReportAllocs()
	for b.Loop() {
		hooks.Rejected(b.Context(), r)
	}
}
