//go:build go1.25

package nethttp_test

import (
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
)

// A proxy of the standard library between a guard and a transport: streams pass,
// refusals are handed on, and a caller who goes leaves nothing on either side.
func TestReverseProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		front, back := newLimiter(t, 2), newLimiter(t, 1)
		site, err := url.Parse(site)
		require.NoError(t, err)
		proxy := &httputil.ReverseProxy{
			Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(site) },
			Transport:     newTransport(t, serve(t, http.HandlerFunc(drip)), back),
			ErrorHandler:  nethttp.WriteError,
			FlushInterval: -1,
		}
		rt := serve(t, newGuard(t, front).Wrap(proxy))
		open := func() *http.Response {
			resp, err := rt.RoundTrip(request(t, http.MethodPost, io.LimitReader(strings.NewReader("stream"), 6)))
			require.NoError(t, err)
			return resp
		}
		first := open()
		require.Equal(t, 200, first.StatusCode)
		one := make([]byte, 1)
		start := time.Now()
		for range 3 {
			_, err = io.ReadFull(first.Body, one)
			require.NoError(t, err)
		}
		require.Equal(t, 2*time.Second, time.Since(start), "each byte as it comes")

		second := open()
		require.Equal(t, 503, second.StatusCode, "the proxy's own limit")
		require.NotEmpty(t, second.Header.Get("Retry-After"))
		require.Equal(t, "503 Service Unavailable\n", finish(t, second))

		require.NoError(t, first.Body.Close())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 1, front.Stats().Ended.Of(spillway.OutcomeLocal))
		requireWhole(t, front)
		requireWhole(t, back)
	})
}
