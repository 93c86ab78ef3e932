//go:build go1.25

package nethttp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/lane"
)

const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"

// echo switches protocols and sends each line back, until the connection ends.
func echo(ended chan<- struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, switching)
		for {
			line, err := rw.ReadString('\n')
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, line)
		}
	})
}

// upgrade asks for another protocol.
func upgrade(ctx context.Context, t *testing.T, rt http.RoundTripper) (io.ReadWriteCloser, func(string) (string, error)) {
	t.Helper()
	r := request(t, http.MethodGet, nil).WithContext(ctx)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	resp, err := rt.RoundTrip(r)
	require.NoError(t, err)
	require.Equal(t, 101, resp.StatusCode)
	conn, ok := resp.Body.(io.ReadWriteCloser)
	require.True(t, ok)
	lines := bufio.NewReader(conn)
	return conn, func(line string) (string, error) {
		if _, err := io.WriteString(conn, line); err != nil {
			return "", err
		}
		return lines.ReadString('\n')
	}
}

// G-HTTP-16: a connection that switched protocols can be written to, isn't an answer that
// takes too long, and has its permit until it is closed.
func TestTransportConnectionHoldsItsPermitUntilItIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, ended := newLimiter(t, 1), make(chan struct{})
		rt := newTransport(t, serve(t, echo(ended)), l, func(c *nethttp.TransportConfig) { c.BodyTimeout = 10 * time.Second })
		conn, say := upgrade(t.Context(), t, rt)
		for range 3 {
			time.Sleep(time.Minute)
			answer, err := say("hello\n")
			require.NoError(t, err)
			require.Equal(t, "hello\n", answer)
			require.Equal(t, 1, l.Stats().InUse)
			require.Equal(t, 1, rt.Stats().Open)
		}
		require.NoError(t, conn.Close())
		requireWhole(t, l)
		<-ended
	})
}

// G-HTTP-16: when the request's context ends the connection does, and then its permit is back:
// net/http itself has let go of it.
func TestTransportConnectionEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, ended := newLimiter(t, 1), make(chan struct{})
		rt := newTransport(t, serve(t, echo(ended)), l)
		ctx, cancel := context.WithCancel(t.Context())
		_, say := upgrade(ctx, t, rt)
		_, err := say("hello\n")
		require.NoError(t, err)
		cancel()
		<-ended
		_, err = say("are you there?\n")
		require.Error(t, err)
		synctest.Wait()
		require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeLocal))
		requireWhole(t, l)
		require.Zero(t, rt.Stats().Open)
	})
}

// connection is the body of an answer that has switched protocols.
type connection struct {
	io.Reader
	io.Writer
	close func() error
}

func (c connection) Close() error { return c.close() }

// G-HTTP-16: that one side has finished doesn't end a connection, so its permit stays out; a
// Close of somebody else's that panics, on a goroutine of ours too, costs none.
func TestTransportConnectionsOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		close  func() error
		panics bool
	}{
		"closes": {func() error { return nil }, false},
		"panics": {func() error { panic(errSecret) }, true},
		"exits":  {func() error { runtime.Goexit(); return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, 1)
				rt := newTransport(t, roundTrip(func(*http.Request) (*http.Response, error) {
					resp := answer(101, "")
					resp.Body = connection{strings.NewReader("bye"), io.Discard, c.close}
					return resp, nil
				}), l)
				ctx, cancel := context.WithCancel(t.Context())
				resp, err := rt.RoundTrip(request(t, http.MethodGet, nil).WithContext(ctx))
				require.NoError(t, err)
				text, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.Equal(t, "bye", string(text))
				synctest.Wait()
				require.Equal(t, 1, l.Stats().InUse)
				cancel()
				synctest.Wait()
				requireWhole(t, l)
				if c.panics {
					require.PanicsWithError(t, errSecret.Error(), func() { _ = resp.Body.Close() })
				}
			})
		})
	}
}

// answerAtTheEnd reads what comes until the other side has finished, and then says how much that was.
func answerAtTheEnd(w http.ResponseWriter, _ *http.Request) {
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, switching)
	all, _ := io.ReadAll(rw)
	_, _ = fmt.Fprintf(conn, "got %d bytes", len(all))
}

// G-HTTP-7, G-HTTP-16: one side of a connection can be finished alone, through a proxy between a
// guard and a transport as without them, and both permits are out until it is over.
func TestHalfClosedConnections(t *testing.T) {
	for name, guarded := range map[string]bool{"plain": false, "guard and transport": true} {
		t.Run(name, func(t *testing.T) {
			back := httptest.NewServer(http.HandlerFunc(answerAtTheEnd))
			defer back.Close()
			target, err := url.Parse(back.URL)
			require.NoError(t, err)
			base := &http.Transport{}
			defer base.CloseIdleConnections()
			in := newLimiter(t, 1)
			out, err := lane.New[any](lane.Config{Name: "out", Limit: 1, MaxWaiting: 1, MaxWait: time.Minute})
			require.NoError(t, err)
			proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: base}
			var h http.Handler = proxy
			if guarded {
				proxy.Transport = newTransport(t, base, out)
				h = newGuard(t, in, func(c *nethttp.GuardConfig) { c.HoldHijacked = true }).Wrap(proxy)
			}
			served := make(chan struct{})
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(served)
				h.ServeHTTP(w, r)
			}))
			defer front.Close()

			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", front.Listener.Addr().String())
			require.NoError(t, err)
			defer func() { _ = conn.Close() }()
			_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: site\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			require.NoError(t, err)
			r := bufio.NewReader(conn)
			for line := " "; strings.TrimSpace(line) != "" || line == " "; {
				line, err = r.ReadString('\n')
				require.NoError(t, err)
			}
			if guarded {
				require.Equal(t, [2]int{1, 1}, [2]int{in.Stats().InUse, out.Stats().InUse})
			}
			_, err = io.WriteString(conn, "hello")
			require.NoError(t, err)
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
			text, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, "got 5 bytes", string(text))
			<-served
			requireWhole(t, in)
			p, err := out.Admit(t.Context()) // the proxy closes that side on a goroutine of its own
			require.NoError(t, err)
			p.Release()
		})
	}
}

// A connection that can't finish one side alone doesn't say that it can.
func TestConnectionsThatCannotBeHalfClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conns := make(chan net.Conn, 1)
		g := newGuard(t, newLimiter(t, 1), func(c *nethttp.GuardConfig) { c.HoldHijacked = true })
		client := hijack(t, serve(t, g.Wrap(takeOver(t, hijackers["Hijacker"], conns))))
		conn := <-conns
		_, halves := conn.(interface{ CloseWrite() error })
		require.False(t, halves, "a pipe can't")
		require.NoError(t, conn.Close())
		require.NoError(t, client.Close())
	})
}
