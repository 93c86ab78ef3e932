//go:build go1.25

package debugz_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/observe"
)

// observer is an Observable that is a function.
type observer func(yield func(observe.Snapshot) bool)

func (o observer) Observe(yield func(observe.Snapshot) bool) { o(yield) }

// G-DBZ-10: a hundred viewers, in whatever form, cost one look.
func TestManyViewersCostOneLookConcurrentSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		page := debugz.Handler(observer(func(yield func(observe.Snapshot) bool) {
			looks.Add(1)
			time.Sleep(50 * ms) // so that all come while one looks
			yield(observe.Snapshot{Component: "lane", Name: "db", Laned: laneOf(1, 0, 1, ms)})
		}))
		require.Zero(t, looks.Load(), "nobody has asked")
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { get(t, page, []string{"", "html", "json", "metrics"}[i%4]) })
		}
		all.Wait()
		require.Equal(t, int64(1), looks.Load())
		time.Sleep(149 * ms)
		get(t, page, "text")
		require.Equal(t, int64(1), looks.Load(), "not yet")
		time.Sleep(ms)
		get(t, page, "text")
		require.Equal(t, int64(2), looks.Load())
	})
}

// G-DBZ-11: a component that panics is broken and on top, and harms nothing.
func TestPageSurvivesItsComponents(t *testing.T) {
	secret := "user 4711"
	page := func(texts bool) http.Handler {
		return newPage(t, func(c *debugz.Config) { c.ErrorTexts = texts },
			observer(func(func(observe.Snapshot) bool) { panic(secret) }),
			observer(func(yield func(observe.Snapshot) bool) {
				yield(observe.Snapshot{Component: "lane", Name: "half", Laned: laneOf(1, 0, 1, ms)})
				panic(errors.New(secret))
			}),
			observer(func(yield func(observe.Snapshot) bool) {
				s := observe.Snapshot{Name: "longer than the list"}
				yield(observe.Snapshot{Component: "lane", Name: "held", Laned: laneOf(1, 0, 1, ms), Holders: func() []spillway.Holder {
					return make([]spillway.Holder, 1)[len(s.Name):]
				}})
			}),
			observer(func(yield func(observe.Snapshot) bool) {
				for i := 0; yield(observe.Snapshot{Component: "stranger", Name: fmt.Sprint(i)}); i++ {
					if i == 3 {
						return
					}
				}
			}),
			snapshots(observe.Snapshot{Component: "lane", Name: "well", Laned: laneOf(1, 0, 1, ms)}),
		)
	}
	p := page(false)
	s := look(t, p)
	require.Equal(t, 3, s.Need)
	require.Contains(t, s.Entries[0].Reason+s.Entries[1].Reason+s.Entries[2].Reason, "slice bounds out of range")
	require.Equal(t, "broken", s.of(t, "lane", "held").Verdict)
	require.Equal(t, "broken", s.of(t, "component", "#1").Verdict)
	require.Contains(t, s.of(t, "component", "#1").Reason, "string")
	require.Contains(t, s.of(t, "component", "#2").Reason, "*errors.errorString")
	require.Equal(t, "idle", s.of(t, "lane", "half").Verdict, "what it said before is kept")
	require.Equal(t, "idle", s.of(t, "lane", "well").Verdict)
	require.Equal(t, "–", s.of(t, "stranger", "3").Verdict)
	for _, form := range []string{"html", "text", "json", "metrics"} {
		require.NotContains(t, get(t, p, form), secret)
	}
	require.Contains(t, readExposition(t, get(t, p, "metrics"), false).series, `spillway_limiter_permit_limit{spillway_limiter_name="well"}`)
	require.Contains(t, get(t, page(true), "text"), secret, "if that is allowed")
}

// A component that ends the goroutine of whoever asks takes that request along, and no other.
func TestPageSurvivesGoexit(t *testing.T) {
	exit := true
	page := debugz.Handler(observer(func(yield func(observe.Snapshot) bool) {
		if exit {
			runtime.Goexit()
		}
		yield(observe.Snapshot{Component: "lane", Name: "db", Laned: laneOf(1, 0, 1, ms)})
	}))
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		answer(page, request("/"))
	}()
	<-gone
	exit = false
	require.Len(t, look(t, page).Entries, 1)
}

// G-DBZ-12: a component that doesn't answer holds up one request; the others get what there is, and hear of it, but
// for metrics.
func TestPageThatIsHeldUpSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var block atomic.Bool
		gate := make(chan struct{})
		page := debugz.Handler(snapshots(observe.Snapshot{Component: "lane", Name: "db", Laned: laneOf(1, 0, 1, ms)}),
			observer(func(func(observe.Snapshot) bool) {
				if block.Load() {
					<-gate
				}
			}))
		look(t, page)
		block.Store(true)
		time.Sleep(time.Second)
		var held sync.WaitGroup
		held.Go(func() { get(t, page, "text") })
		synctest.Wait()
		time.Sleep(11 * time.Second)
		s := look(t, page)
		require.Contains(t, s.Stale, "component 2 of 2 (debugz_test.observer) has not answered for 12.0s")
		require.Len(t, s.Entries, 1)
		require.Contains(t, get(t, page, "html"), "has not answered")
		require.Contains(t, get(t, page, "text"), "!! component 2 of 2")
		for _, form := range []string{"/metrics", "/openmetrics"} {
			w := answer(page, request(form))
			require.Equal(t, http.StatusServiceUnavailable, w.Code, "a scraper would take counts that stand still for the truth")
			require.Contains(t, w.Body.String(), "has not answered")
		}

		ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
		defer cancel()
		w := answer(page, request("/json").WithContext(ctx))
		require.Equal(t, http.StatusServiceUnavailable, w.Code, "who doesn't want to wait needn't")
		close(gate)
		held.Wait()
		require.Empty(t, look(t, page).Stale)
	})
}

func TestPageThatHasNothingToShowSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		page := debugz.Handler(observer(func(func(observe.Snapshot) bool) { <-gate }))
		var held sync.WaitGroup
		held.Go(func() { get(t, page, "text") })
		synctest.Wait()
		w := answer(page, request("/"))
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Contains(t, w.Body.String(), "does not answer")
		close(gate)
		held.Wait()
	})
}

// G-DBZ-13: whatever there is to show, what is shown is bounded.
func TestPageIsBounded(t *testing.T) {
	long := strings.Repeat("long ", 200)
	holders := make([]spillway.Holder, 3000)
	for i := range holders {
		holders[i] = spillway.Holder{Site: fmt.Sprintf("main.f%d %s:1", i, long), Class: spillway.Class(long), Stack: long, Weight: 1}
	}
	page := newPage(t, nil, observer(func(yield func(observe.Snapshot) bool) {
		s := observe.Snapshot{Component: "lane", Name: long, Laned: laneOf(1, 0, 1, ms), Holders: func() []spillway.Holder { return holders }}
		for i := 0; yield(s) && i < 1_000_000; i++ {
			s = observe.Snapshot{Component: "lane", Name: fmt.Sprint(i, long), Laned: laneOf(1, 0, 1, ms)}
		}
	}))
	s := look(t, page)
	require.Len(t, s.Entries, 2000)
	require.Contains(t, s.Faults, "there are more than 2,000 components: the rest is left out")
	require.Len(t, s.Entries[0].Guard.Holders, 20)
	require.Equal(t, 2980, s.Entries[0].Guard.More)
	require.Len(t, s.Entries[0].Guard.Sites, 20)
	for _, form := range []string{"html", "text", "json"} {
		require.Less(t, len(get(t, page, form)), 32<<20, form)
	}
}

// G-DBZ-13: components that come and go are forgotten.
func TestPageForgetsWhatHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		round := 0
		page := newPage(t, nil, observer(func(yield func(observe.Snapshot) bool) {
			for i := range 10 {
				yield(observe.Snapshot{Component: "lane", Name: fmt.Sprint(round, ".", i), Laned: laneOf(1, 0, 1, ms)})
			}
		}))
		for ; round < 60; round++ {
			time.Sleep(time.Minute)
			get(t, page, "text")
		}
		looks, subjects := debugz.Remembered(page)
		require.LessOrEqual(t, looks, 2)
		require.Equal(t, 110, subjects, "those of the last ten minutes")
	})
}

// G-DBZ-13: as soon as there are too many of them.
func TestPageForgetsAtOnceWhatIsTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		round := 0
		page := newPage(t, nil, observer(func(yield func(observe.Snapshot) bool) {
			for i := range 2000 {
				yield(observe.Snapshot{Component: "lane", Name: fmt.Sprint(round, ".", i), Laned: laneOf(1, 0, 1, ms)})
			}
		}))
		for ; round < 3; round++ {
			time.Sleep(time.Second)
			get(t, page, "text")
			_, subjects := debugz.Remembered(page)
			require.LessOrEqual(t, subjects, 4000)
		}
	})
}

// A page that is looked at every second remembers the last seconds well, and the last minute a little.
func TestPageForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := newPage(t, nil, play(shop))
		for range 300 {
			time.Sleep(time.Second)
			get(t, page, "text")
			looks, subjects := debugz.Remembered(page)
			require.LessOrEqual(t, looks, 20)
			require.Equal(t, 13, subjects)
		}
	})
}

// G-DBZ-14: names are data, whatever is in them.
func TestNamesAreEscaped(t *testing.T) {
	nasty := "<script>alert(1)</script>\"'\x1b[31m\u202e"
	page := debugz.Handler(snapshots(
		observe.Snapshot{Component: "lane", Name: nasty, Lane: nasty, Laned: laneOf(1, 0, 1, ms), Holders: func() []spillway.Holder {
			return []spillway.Holder{{Site: nasty + " " + nasty, Class: spillway.Class(nasty), Stack: nasty, Weight: 1}}
		}},
		observe.Snapshot{Component: nasty, Name: nasty},
	))
	html := get(t, page, "html")
	require.Equal(t, 1, strings.Count(html, "<script>"), "only the page's own")
	for _, form := range []string{"html", "text", "json"} {
		body := get(t, page, form)
		require.NotContains(t, body, "\x1b", form)
		require.NotContains(t, body, "\u202e", form)
	}
}
