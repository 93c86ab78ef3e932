//go:build browser

package debugz_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/observe"
)

var picture = flag.String("picture", "", "write a screenshot of the page to this file")

// serve mounts a page as a program would, and returns its address.
func serve(t *testing.T, cfg debugz.Config, components ...observe.Observable) string {
	t.Helper()
	page, err := debugz.New(cfg, components...)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/debug/spillway/", page)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/debug/spillway/"
}

func TestPageShowsTheShop(t *testing.T) {
	cfg := debugz.DefaultConfig()
	cfg.Title = "shop"
	b := newBrowser(t)
	b.open(serve(t, cfg, play(shop)))
	b.until(`document.querySelectorAll(".card").length === 3`)
	if *picture != "" {
		require.NoError(t, os.WriteFile(*picture, b.screenshot(1280, 1250, "light"), 0o600))
		require.NoError(t, os.WriteFile(*picture+".dark.png", b.screenshot(1280, 2600, "dark"), 0o600))
		require.NoError(t, os.WriteFile(*picture+".narrow.png", b.screenshot(480, 1250, "light"), 0o600))
	}
}
