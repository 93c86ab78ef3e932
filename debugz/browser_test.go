//go:build browser && go1.25

package debugz_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/observe"
)

var picture = flag.String("picture", "", "write screenshots of the page to files that begin so")

// site is a page as a program mounts it.
type site struct {
	url    string
	asked  atomic.Int64 // how often the page was asked for
	server *httptest.Server
}

func serve(t *testing.T, change func(*debugz.Config), components ...observe.Observable) *site {
	t.Helper()
	page := newPage(t, func(c *debugz.Config) {
		c.Title, c.Refresh, c.Interval = "shop", 200*ms, 20*ms
		if change != nil {
			change(c)
		}
	}, components...)
	mux := http.NewServeMux()
	mux.Handle("/debug/spillway/", page)
	s := &site{}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.server.Close)
	s.url = s.server.URL + "/debug/spillway/"
	return s
}

// TestBrowser is the page as a person sees it. It needs Chromium, and so a build tag: make test-browser.
func TestBrowser(t *testing.T) {
	b := newBrowser(t)
	for _, c := range []struct {
		name string
		test func(*testing.T, *tab)
	}{
		{"StuckHolderIsOnTop", stuckHolderIsOnTop},
		{"TightAndSlowAreToldApart", tightAndSlowAreToldApart},
		{"UpdatesItself", updatesItself},
		{"Sorts", sorts},
		{"Unfolds", unfolds},
		{"Pauses", pauses},
		{"SaysThatTheProcessIsGone", saysThatTheProcessIsGone},
		{"WorksWithoutJavaScript", worksWithoutJavaScript},
		{"IsDarkAndLight", isDarkAndLight},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.newTab(t)
			defer p.close()
			c.test(t, p)
		})
	}
}

// stall takes a permit, says so, and keeps it until the test is over.
func stall(ctx context.Context, l *lane.Lane[int], taken chan<- struct{}) {
	_, _ = l.Do(spillway.WithClass(ctx, spillway.Bulk), func(ctx context.Context) (int, error) {
		taken <- struct{}{}
		<-ctx.Done()
		return 0, ctx.Err()
	})
}

// G-DBZ-4: the first update after it began shows it, so with an update a second it is there within a second.
func stuckHolderIsOnTop(t *testing.T, p *tab) {
	l, err := lane.New[int](lane.Config{Name: "profiles", Limit: 1, MaxWaiting: 4, MaxWait: time.Hour, Track: spillway.TrackSite})
	require.NoError(t, err)
	s := serve(t, func(c *debugz.Config) { c.Thresholds.StuckAfter = ms }, play(rest), observe.Lane(l))
	p.open(s.url)
	p.until(`document.querySelector("#need").innerText.includes("Nothing needs anybody")`)

	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	taken := make(chan struct{})
	all.Go(func() { stall(ctx, l, taken) })
	<-taken
	waits := make(chan struct{})
	all.Go(func() {
		close(waits)
		_, _ = l.Do(ctx, func(context.Context) (int, error) { return 1, nil })
	})
	<-waits
	began, before := time.Now(), s.asked.Load()
	p.until(`document.querySelector(".card .badge")?.innerText === "stuck"`)
	updates := s.asked.Load() - before
	t.Logf("on top after %v, with update %d", time.Since(began), updates)
	require.LessOrEqual(t, updates, int64(4), "one on its way, one that is due, and two for a slow machine")

	card := p.text(".card")[0]
	require.Contains(t, card, "lane profiles")
	require.Regexp(t, `debugz_test\.stall(\.func1)? browser_test\.go:\d+`, card)
	require.Contains(t, card, "bulk")
	require.Equal(t, "profiles", p.text("#guards-table tbody b")[0], "in the table too")
	require.Regexp(t, `stall`, p.text("#holders-table tbody")[0])
	require.Contains(t, p.eval(`document.title`), "(1) shop")
}

// G-DBZ-5.
func tightAndSlowAreToldApart(t *testing.T, p *tab) {
	p.open(serve(t, nil, play(shop)).url)
	p.until(`document.querySelectorAll(".card").length === 3 && document.querySelectorAll(".card .since").length === 3`)
	require.Equal(t, []string{"stuck", "backend slow", "limit tight"}, p.text(".card .badge"))
	cards := p.text(".card")
	require.Contains(t, cards[1], "cluster/read at 10.0.0.2:3000")
	require.Contains(t, cards[1], "a higher limit would load it more")
	require.Contains(t, cards[2], "search")
	require.Contains(t, cards[2], "the backend would bear more")
	require.Contains(t, strings.ReplaceAll(cards[0], "\t", " "), "▲ profiles.(*Cache).refresh cache.go:118")
	if *picture == "" {
		return
	}
	for name, shot := range map[string][]byte{
		"light": p.screenshot(1200, 800, "light"), "dark": p.screenshot(1280, 1600, "dark"), "narrow": p.screenshot(480, 900, "light"),
	} {
		require.NoError(t, os.WriteFile(*picture+"-"+name+".png", shot, 0o600))
	}
}

func updatesItself(t *testing.T, p *tab) {
	s := serve(t, nil, play(shop))
	p.open(s.url)
	p.eval(`window.here = true`)
	first := p.text("#live > .note")[0]
	p.until(`document.querySelector("#live > .note").innerText !== ` + quoted(first))
	p.until(`document.querySelector("#live > .note").innerText.includes("rates are over the last")`)
	require.Equal(t, true, p.eval(`window.here`), "without loading it anew")
	require.Equal(t, []string{"live"}, p.text("#status"))
	require.Positive(t, s.asked.Load())
	require.Equal(t, 1.0, p.eval(`document.querySelectorAll("#live").length`))
}

// names are what the first column of names says, in the order in which it is shown.
func names(p *tab) []string {
	return p.text("#guards-table > tbody > tr:first-child td.name b:first-of-type")
}

func sorts(t *testing.T, p *tab) {
	p.open(serve(t, nil, play(shop)).url)
	p.until(`document.querySelectorAll(".card").length === 3`)
	p.until(`document.querySelector("#live > .note").innerText.includes("rates are over")`)
	p.until(`[...document.querySelectorAll(".card .badge")].map(b => b.innerText).join() === "stuck,backend slow,limit tight"`)
	unsorted := names(p)
	require.Equal(t, "profiles", unsorted[0])
	click := func(column string) {
		p.eval(`[...document.querySelectorAll("#guards-table th button")].find(b => b.innerText.trim() === ` + quoted(column) + `).click()`)
	}
	sorted := func() any {
		return p.eval(`[...document.querySelectorAll("#guards-table th[aria-sort]")].map(h => h.innerText.trim() + " " + h.getAttribute("aria-sort")).join()`)
	}
	click("Admitted")
	require.Equal(t, "Admitted descending", sorted())
	require.Equal(t, []string{"cluster/read", "search", "db/interactive"}, names(p)[:3], "numbers by number, the biggest first")
	was := p.text("#live > .note")[0]
	p.until(`document.querySelector("#live > .note").innerText !== ` + quoted(was))
	require.Equal(t, []string{"cluster/read", "search", "db/interactive"}, names(p)[:3], "after an update, too")
	require.Equal(t, []string{"10.0.0.2:3000", "10.0.0.1:3000", "10.0.0.3:3000"}, p.text("#guards-table > tbody:first-of-type tr.part td.name b"), "parts stay with their sum")
	click("Admitted")
	require.Equal(t, "Admitted ascending", sorted())
	require.Equal(t, "profiles", names(p)[0])
	require.Equal(t, "cluster/read", names(p)[len(unsorted)-1])
	click("Guard")
	require.Equal(t, "Guard ascending", sorted())
	require.Equal(t, "thumbnails", names(p)[0], "words by word: an executor before lanes")
	click("Guard")
	click("Guard")
	require.Equal(t, "", sorted())
	require.Equal(t, unsorted, names(p), "as the page orders it: what needs somebody first")
}

// What the reader has opened stays open, wherever it moves to.
func unfolds(t *testing.T, p *tab) {
	p.open(serve(t, nil, play(shop)).url)
	p.until(`document.querySelectorAll(".card").length === 3`)
	shown := `document.querySelector("tr.part").offsetParent !== null`
	require.Equal(t, true, p.eval(shown), "one of the parts needs somebody")
	p.click(".unfold")
	require.Equal(t, false, p.eval(shown))
	p.eval(`document.querySelector('details[data-key="facts lane db/bulk"]').open = true`)
	p.eval(`document.querySelector("#guards-table th button").focus()`)
	p.eval(`[...document.querySelectorAll("#guards-table th button")].find(b => b.innerText.trim() === "Admitted").click()`)
	was := p.text("#live > .note")[0]
	p.until(`document.querySelector("#live > .note").innerText !== ` + quoted(was))
	require.Equal(t, []any{"facts lane db/bulk"}, p.eval(`[...document.querySelectorAll("details[open]")].map(d => d.dataset.key)`))
	require.Equal(t, false, p.eval(shown))
	require.Equal(t, "BUTTON", p.eval(`document.activeElement.tagName`), "and the focus stays where it was")
	p.click(".unfold")
	require.Equal(t, true, p.eval(shown))
}

func pauses(t *testing.T, p *tab) {
	s := serve(t, nil, play(shop))
	p.open(s.url)
	p.until(`document.querySelector("#live > .note").innerText.includes("rates are over")`)
	p.click("#pause")
	require.Equal(t, []string{"paused"}, p.text("#status"))
	was := p.text("#live > .note")[0]
	asked := s.asked.Load()
	p.eval(`new Promise(done => setTimeout(done, 1000))`) // five updates
	require.LessOrEqual(t, s.asked.Load(), asked+1, "one may have been on its way")
	require.Equal(t, was, p.text("#live > .note")[0])
	p.click("#pause")
	p.until(`document.querySelector("#live > .note").innerText !== ` + quoted(was))

	p.eval(`getSelection().selectAllChildren(document.querySelector(".card .reason"))`)
	p.until(`document.querySelector("#status").innerText.includes("while text is selected")`)
	p.eval(`getSelection().removeAllRanges()`)
	p.until(`document.querySelector("#status").innerText === "live"`)
}

func saysThatTheProcessIsGone(t *testing.T, p *tab) {
	s := serve(t, nil, play(shop))
	p.open(s.url)
	p.until(`document.querySelectorAll(".card").length === 3`)
	s.server.CloseClientConnections()
	s.server.Close()
	p.until(`document.body.classList.contains("lost") && document.querySelector("#status").innerText.includes("no answer for")`)
	require.Len(t, p.text(".card"), 3, "the last figures stay")
	require.NotEmpty(t, p.troubles(), "the browser tells of requests that failed")
}

func worksWithoutJavaScript(t *testing.T, p *tab) {
	p.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true})
	p.open(serve(t, nil, play(shop)).url)
	// All at once: the page loads itself anew every few seconds.
	require.Equal(t, map[string]any{
		"ran": false, "first": "stuck", "parts": true, "unfold": false, "pause": false, "status": "updates every 5 seconds", "refresh": 1.0,
	}, p.eval(`(() => {
		const shown = (e) => e.offsetParent !== null, one = (s) => document.querySelector(s);
		return {
			ran: document.body.classList.contains("js"), first: one(".card .badge").innerText, parts: shown(one("tr.part")),
			unfold: shown(one(".unfold")), pause: shown(one("#pause")), status: one("#status").innerText,
			refresh: document.querySelectorAll("meta[http-equiv=refresh]").length,
		};
	})()`), "nothing is folded away that couldn't be unfolded")
}

func isDarkAndLight(t *testing.T, p *tab) {
	p.open(serve(t, nil, play(shop)).url)
	colours := map[any]bool{}
	for _, scheme := range []string{"light", "dark"} {
		p.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
		colours[p.eval(`getComputedStyle(document.body).backgroundColor`)] = true
	}
	require.Len(t, colours, 2)
	require.Equal(t, true, p.eval(`document.documentElement.scrollWidth <= innerWidth`), "wide tables scroll, the page doesn't")
}
