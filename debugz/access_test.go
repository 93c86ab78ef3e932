package debugz_test

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/debugz"
)

// G-DBZ-1: this machine alone, and only if the request was meant for it.
func TestPageIsForThisMachineAlone(t *testing.T) {
	page := debugz.Handler(play(shop))
	for _, c := range []struct {
		name, from, host, header string
		want                     int
	}{
		{"here", "127.0.0.1:4711", "localhost:8080", "", http.StatusOK},
		{"here, without a port", "127.8.8.8:4711", "LocalHost", "", http.StatusOK},
		{"here, by address", "[::1]:4711", "[::1]:8080", "", http.StatusOK},
		{"here, IPv4 in IPv6", "[::ffff:127.0.0.1]:4711", "127.0.0.1", "", http.StatusOK},
		{"IPv6 without a port", "[::1]:4711", "[::1]", "", http.StatusOK},
		{"elsewhere", "10.1.2.3:4711", "localhost:8080", "", http.StatusForbidden},
		{"elsewhere, IPv6", "[2001:db8::1]:4711", "localhost", "", http.StatusForbidden},
		{"nobody", "", "localhost", "", http.StatusForbidden},
		{"a socket in the file system", "@", "localhost", "", http.StatusForbidden},
		{"a name that resolves to us", "127.0.0.1:4711", "evil.example:8080", "", http.StatusForbidden},
		{"a name that looks like us", "127.0.0.1:4711", "localhost.evil.example", "", http.StatusForbidden},
		{"any address", "127.0.0.1:4711", "0.0.0.0:8080", "", http.StatusForbidden},
		{"no host", "127.0.0.1:4711", "", "", http.StatusForbidden},
		{"a proxy", "127.0.0.1:4711", "localhost", "X-Forwarded-For", http.StatusForbidden},
		{"a proxy by the standard", "127.0.0.1:4711", "localhost", "Forwarded", http.StatusForbidden},
		{"a proxy's own", "127.0.0.1:4711", "localhost", "Via", http.StatusForbidden},
		{"a proxy that tells no address", "127.0.0.1:4711", "localhost", "X-Forwarded-Proto", http.StatusForbidden},
		{"a mesh", "127.0.0.1:4711", "localhost", "X-Envoy-Expected-Rq-Timeout-Ms", http.StatusForbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := request("/debug/spillway/")
			r.RemoteAddr, r.Host = c.from, c.host
			if c.header != "" {
				r.Header.Set(c.header, "10.9.9.9")
			}
			w := answer(page, r)
			require.Equal(t, c.want, w.Code)
			require.Equal(t, c.want == http.StatusOK, debugz.Loopback(r))
			if c.want == http.StatusForbidden {
				require.Contains(t, w.Body.String(), "debugz.Config.Allow")
				require.NotContains(t, w.Body.String(), "profiles", "who isn't let in learns nothing")
			}
		})
	}
}

// G-DBZ-1: a proxy on this machine is told by what it leaves in a request. One that leaves nothing
// and asks for localhost can't be told from a caller, as the documentation says, so behind such a
// one there has to be an Allow.
func TestPageBehindAProxyOnThisMachine(t *testing.T) {
	for _, c := range []struct {
		name  string
		proxy func(target *url.URL) *httputil.ReverseProxy
		want  int
	}{
		{"that says for whom", httputil.NewSingleHostReverseProxy, http.StatusForbidden},
		{"that is told to say for whom", rewriting(func(r *httputil.ProxyRequest) { r.SetXForwarded() }), http.StatusForbidden},
		{"that leaves the host", rewriting(func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host }), http.StatusForbidden},
		{"that leaves no trace", rewriting(func(*httputil.ProxyRequest) {}), http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			through := func(page http.Handler, header string) (int, string) {
				app := httptest.NewServer(page)
				defer app.Close()
				target, err := url.Parse(app.URL)
				require.NoError(t, err)
				pass, base := c.proxy(target), &http.Transport{}
				pass.Transport = base
				defer base.CloseIdleConnections()
				proxy := httptest.NewServer(pass)
				defer proxy.Close()
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, proxy.URL+"/debug/spillway/text", nil)
				require.NoError(t, err)
				r.Host = "shop.example.com" // as from anywhere
				r.Header.Set("X-Token", header)
				resp, err := proxy.Client().Do(r)
				require.NoError(t, err)
				defer func() { _ = resp.Body.Close() }()
				text, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				return resp.StatusCode, string(text)
			}
			code, text := through(debugz.Handler(play(shop)), "")
			require.Equal(t, c.want, code)
			require.Equal(t, c.want == http.StatusOK, strings.Contains(text, "profiles"))
			closed := newPage(t, func(c *debugz.Config) {
				c.Allow = func(r *http.Request) bool { return r.Header.Get("X-Token") == "secret" }
			}, play(shop))
			code, _ = through(closed, "guess")
			require.Equal(t, http.StatusForbidden, code)
			code, _ = through(closed, "secret")
			require.Equal(t, http.StatusOK, code)
		})
	}
}

func rewriting(more func(*httputil.ProxyRequest)) func(*url.URL) *httputil.ReverseProxy {
	return func(target *url.URL) *httputil.ReverseProxy {
		return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); more(r) }}
	}
}

// G-DBZ-1: nginx asks in HTTP/1.0, and for the host that it passes to, unless it is told otherwise.
func TestPageBehindNginxAsItComes(t *testing.T) {
	r := request("/debug/spillway/")
	r.Proto, r.ProtoMinor = "HTTP/1.0", 0
	w := answer(debugz.Handler(play(shop)), r)
	require.Equal(t, http.StatusForbidden, w.Code)
	require.Contains(t, w.Body.String(), "HTTP/1.0")
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/2.0", 2, 0
	require.Equal(t, http.StatusOK, answer(debugz.Handler(play(shop)), r).Code)
}

func TestAllowReplacesTheRule(t *testing.T) {
	page := newPage(t, func(c *debugz.Config) {
		c.Allow = func(r *http.Request) bool { return r.Header.Get("X-Token") == "secret" }
	}, play(shop))
	r := request("/debug/spillway/")
	w := answer(page, r)
	require.Equal(t, http.StatusForbidden, w.Code)
	require.Contains(t, w.Body.String(), "Config.Allow says no")
	r.RemoteAddr = "10.1.2.3:4711"
	r.Header.Set("X-Token", "secret")
	require.Equal(t, http.StatusOK, answer(page, r).Code)
}

// G-DBZ-2: nothing can be changed.
func TestPageOnlyAnswersQuestions(t *testing.T) {
	page := debugz.Handler(play(shop))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, http.MethodConnect, "BREW"} {
		r := request("/debug/spillway/")
		r.Method = method
		w := answer(page, r)
		require.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
		require.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
	}
	r := request("/debug/spillway/json")
	r.Method = http.MethodHead
	w := answer(page, r)
	require.Equal(t, http.StatusOK, w.Code)
	require.NotEmpty(t, w.Header().Get("Content-Length"))
}

// G-DBZ-3: what is shown stays where it is, and the page runs nothing but its own script.
func TestPageIsProtected(t *testing.T) {
	page := debugz.Handler(play(shop))
	for _, path := range []string{"", "html", "text", "json", "metrics", "openmetrics", "nothing"} {
		h := answer(page, request("/debug/spillway/"+path)).Header()
		require.Equal(t, "no-store", h.Get("Cache-Control"), path)
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		require.Equal(t, "DENY", h.Get("X-Frame-Options"), path)
		require.Equal(t, "no-referrer", h.Get("Referrer-Policy"), path)
		require.Equal(t, "same-origin", h.Get("Cross-Origin-Resource-Policy"), path)
		require.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'", path)
		require.Contains(t, h.Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
		require.NotContains(t, h.Get("Content-Security-Policy"), "unsafe", path)
	}
	w := answer(page, request("/debug/spillway/html"))
	body, policy := w.Body.String(), w.Header().Get("Content-Security-Policy")
	for _, tag := range []string{"style", "script"} {
		parts := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(body, -1)
		require.Len(t, parts, 1, tag)
		sum := sha256.Sum256([]byte(parts[0][1]))
		require.Contains(t, policy, tag+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	for _, url := range regexp.MustCompile(`(?:https?:)?//[a-z0-9.]+`).FindAllString(body, -1) {
		require.Equal(t, "http://www.w3.org", url, "the page needs no network; that is the name of a kind of picture")
	}
	require.NotContains(t, body, " style=", "the policy would forbid it")
	require.NotRegexp(t, ` on[a-z]+=`, body)
}

func TestPathsThatAreNotThere(t *testing.T) {
	page := debugz.Handler(play(shop))
	for _, path := range []string{"/debug/spillway", "/debug/spillway/x", "/debug/spillway/json2"} {
		w := answer(page, request(path))
		require.Equal(t, http.StatusNotFound, w.Code, path)
		require.Contains(t, w.Body.String(), "ends in a slash")
	}
	for _, path := range []string{"/", "/debug/", "/a/b/c/"} {
		require.Equal(t, http.StatusOK, answer(page, request(path)).Code, path)
	}
}

func TestZeroPageShowsNothing(t *testing.T) {
	w := answer(new(debugz.Page), request("/"))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.True(t, strings.HasPrefix(w.Body.String(), "debugz: "))
}

// L-22: every fault of a configuration is named.
func TestConfigListsEveryFault(t *testing.T) {
	_, err := debugz.New(debugz.Config{Holders: -1})
	for _, field := range []string{"Interval", "Refresh", "Holders"} {
		require.ErrorContains(t, err, field)
	}
	cfg := debugz.DefaultConfig()
	cfg.Holders, cfg.Thresholds.TightShare = 1001, 2
	_, err = debugz.New(cfg)
	require.ErrorContains(t, err, "Holders")
	require.ErrorContains(t, err, "Thresholds.TightShare")
}
