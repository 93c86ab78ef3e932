package debugz_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/debugz"
)

const (
	ofBrowsers   = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
	ofPrometheus = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6," +
		"application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)

// G-DBZ-8: each asks in his own way.
func TestFormsAreNegotiated(t *testing.T) {
	page := debugz.Handler(play(shop))
	for _, c := range []struct{ path, accept, want string }{
		{"", "*/*", "text/plain; charset=utf-8"}, // curl
		{"", "", "text/plain; charset=utf-8"},
		{"", ofBrowsers, "text/html; charset=utf-8"},
		{"", "application/json", "application/json; charset=utf-8"},
		{"", "application/*", "application/json; charset=utf-8"},
		{"", ofPrometheus, "application/openmetrics-text; version=1.0.0; charset=utf-8"},
		{"", "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "text/plain; version=0.0.4; charset=utf-8"},
		{"", "text/plain", "text/plain; charset=utf-8"},
		{"", "image/png", "text/plain; charset=utf-8"},
		{"", "text/html;q=0, text/*", "text/plain; charset=utf-8"},
		{"", "text/html;q=nonsense", "text/html; charset=utf-8"},
		{"", ";;;,,", "text/plain; charset=utf-8"},
		{"metrics", "*/*", "text/plain; version=0.0.4; charset=utf-8"},
		{"metrics", ofBrowsers, "text/plain; version=0.0.4; charset=utf-8"},
		{"metrics", ofPrometheus, "application/openmetrics-text; version=1.0.0; charset=utf-8"},
		{"metrics", "application/openmetrics-text;version=2.0.0,text/plain;q=0.1", "text/plain; version=0.0.4; charset=utf-8"},
		{"openmetrics", "*/*", "application/openmetrics-text; version=1.0.0; charset=utf-8"},
		{"html", "application/json", "text/html; charset=utf-8"},
		{"text", ofBrowsers, "text/plain; charset=utf-8"},
		{"json", ofBrowsers, "application/json; charset=utf-8"},
	} {
		r := request("/debug/spillway/" + c.path)
		r.Header.Set("Accept", c.accept)
		w := answer(page, r)
		require.Equal(t, c.want, w.Header().Get("Content-Type"), "%s, %s", c.path, c.accept)
		require.Equal(t, "Accept", w.Header().Get("Vary"))
		require.NotEmpty(t, w.Body.String())
	}
}

// What an engineer with nothing but a terminal sees.
func TestTextForm(t *testing.T) {
	text := get(t, debugz.Handler(play(shop)), "text")
	for _, want := range []string{
		"STUCK: lane profiles\n", "    held for 3m34s: profiles.(*Cache).refresh cache.go:118, class bulk, 3 of them",
		"lane cluster/read at 10.0.0.2:3000", "lane db/bulk (shadow)", "RETRY BUDGETS", "71 / 100", "1d2h",
		"nobody has looked for a minute",
	} {
		require.Contains(t, text, want)
	}
	require.Less(t, strings.Index(text, "STUCK"), strings.Index(text, "GUARDS"), "what needs somebody is on top")
	require.Regexp(t, `3m34s +lane profiles .*\n39\.0s +lane profiles`, text, "the oldest is on top")
}
