//go:build go1.25

package nethttp_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
)

// The writers of others, with every combination of what a handler may look for.
type (
	bare         struct{ http.ResponseWriter }
	flushing     struct{ bare }
	hijacking    struct{ bare }
	both         struct{ bare }
	wrapping     struct{ bare }
	wrappingBoth struct{ wrapping }
)

func (flushing) Flush()                                        {}
func (both) Flush()                                            {}
func (wrappingBoth) Flush()                                    {}
func (hijacking) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, errSecret }
func (both) Hijack() (net.Conn, *bufio.ReadWriter, error)      { return nil, nil, errSecret }
func (w wrapping) Unwrap() http.ResponseWriter                 { return both(w) }

// G-HTTP-7: the handler finds a Flusher if there was one, a Hijacker if there was one
// anywhere, and everything else by http.ResponseController.
func TestGuardKeepsWhatTheWriterCan(t *testing.T) {
	plain := bare{httptest.NewRecorder()}
	for name, c := range map[string]struct {
		w                http.ResponseWriter
		flushes, hijacks bool
	}{
		"nothing":                    {plain, false, false},
		"flusher":                    {flushing{plain}, true, false},
		"hijacker":                   {hijacking{plain}, false, true},
		"both":                       {both{plain}, true, true},
		"wrapped, both further down": {wrapping{plain}, false, true},
		"wrapped flusher":            {wrappingBoth{wrapping{plain}}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			seen := false
			newGuard(t, newLimiter(t, 1)).Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				seen = true
				_, flushes := w.(http.Flusher)
				require.Equal(t, c.flushes, flushes)
				h, hijacks := w.(http.Hijacker)
				require.Equal(t, c.hijacks, hijacks)
				if hijacks {
					_, _, err := h.Hijack()
					require.ErrorIs(t, err, errSecret)
				}
				p, pushes := w.(http.Pusher)
				require.True(t, pushes)
				require.ErrorIs(t, p.Push("/x", nil), http.ErrNotSupported)
				n, err := io.Copy(w, strings.NewReader("abc"))
				require.NoError(t, err)
				require.EqualValues(t, 3, n)
				n2, err := io.WriteString(w, "de")
				require.NoError(t, err)
				require.Equal(t, 2, n2)
				require.Equal(t, c.w, w.(interface{ Unwrap() http.ResponseWriter }).Unwrap())
			})).ServeHTTP(c.w, httptest.NewRequest(http.MethodGet, "/", nil))
			require.True(t, seen)
		})
	}
}

// G-HTTP-7: each piece of a stream arrives when it is flushed, and the permit is held
// until the stream's end.
func TestGuardStreams(t *testing.T) {
	for name, flush := range map[string]func(http.ResponseWriter) error{
		"Flusher":            func(w http.ResponseWriter) error { w.(http.Flusher).Flush(); return nil },
		"ResponseController": func(w http.ResponseWriter) error { return http.NewResponseController(w).Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, 1)
				rt := serve(t, newGuard(t, l).Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					for i := range 3 {
						_, _ = fmt.Fprintf(w, "%d\n", i)
						require.NoError(t, flush(w))
						time.Sleep(time.Second)
					}
				})))
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site, nil)
				require.NoError(t, err)
				resp, err := rt.RoundTrip(r)
				require.NoError(t, err)
				lines, start := bufio.NewScanner(resp.Body), time.Now()
				for i := range 3 {
					require.True(t, lines.Scan())
					require.Equal(t, fmt.Sprint(i), lines.Text())
					require.Equal(t, time.Duration(i)*time.Second, time.Since(start))
					require.Equal(t, 1, l.Stats().InUse)
				}
				require.False(t, lines.Scan())
				require.NoError(t, resp.Body.Close())
				synctest.Wait()
				requireWhole(t, l)
			})
		})
	}
}

// Over real connections, HTTP/1 and HTTP/2: files, streams, deadlines and full duplex as
// without a guard.
func TestGuardOnRealServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("0123456789", 100_000)), 0o600))
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2=%v", h2), func(t *testing.T) {
			l := newLimiter(t, 4)
			mux := http.NewServeMux()
			mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
			mux.HandleFunc("/push", func(w http.ResponseWriter, _ *http.Request) {
				err := w.(http.Pusher).Push("/file", nil)
				require.ErrorIs(t, err, http.ErrNotSupported) // HTTP/1 has none, and Go's client switches it off
			})
			mux.HandleFunc("/control", func(w http.ResponseWriter, _ *http.Request) {
				c := http.NewResponseController(w)
				require.NoError(t, c.SetWriteDeadline(time.Now().Add(time.Minute)))
				require.NoError(t, c.EnableFullDuplex())
				_, hijacks := w.(http.Hijacker)
				require.Equal(t, !h2, hijacks)
			})
			srv := httptest.NewUnstartedServer(newGuard(t, l).Wrap(mux))
			srv.EnableHTTP2 = h2
			srv.StartTLS()
			defer srv.Close()
			for path, length := range map[string]int64{"/file": 1_000_000, "/push": 0, "/control": 0} {
				resp, err := srv.Client().Get(srv.URL + path)
				require.NoError(t, err)
				require.Equal(t, h2, resp.ProtoMajor == 2)
				n, err := io.Copy(io.Discard, resp.Body)
				require.NoError(t, err)
				require.Equal(t, length, n, path)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, 200, resp.StatusCode)
			}
			srv.Close() // which waits for the handlers
			requireWhole(t, l)
		})
	}
}

// hijack sends a request whose handler takes the connection over, and returns the
// client's end.
func hijack(t *testing.T, rt *http.Transport) net.Conn {
	conn, err := rt.DialContext(t.Context(), "pipe", "site")
	require.NoError(t, err)
	_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: site\r\n\r\n"))
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "mine now\n", line)
	synctest.Wait()
	return conn
}

// takeOver hijacks the connection, greets, and hands it on.
func takeOver(t *testing.T, get func(http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error), to chan<- net.Conn) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := get(w)
		require.NoError(t, err)
		_, err = io.WriteString(conn, "mine now\n")
		require.NoError(t, err)
		to <- conn
	})
}

var hijackers = map[string]func(http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error){
	"Hijacker": func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) { return w.(http.Hijacker).Hijack() },
	"ResponseController": func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) {
		return http.NewResponseController(w).Hijack()
	},
}

// G-HTTP-8: a hijacked connection gives its permit back when the handler returns, or,
// with HoldHijacked, when it is closed; once, however often that is.
func TestGuardHijackedConnections(t *testing.T) {
	for name, get := range hijackers {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,held=%v", name, held), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLimiter(t, 2)
					g := newGuard(t, l, func(c *nethttp.GuardConfig) { c.HoldHijacked = held })
					conns := make(chan net.Conn, 1)
					rt := serve(t, g.Wrap(takeOver(t, get, conns)))
					client := hijack(t, rt)
					conn := <-conns
					want := 0
					if held {
						want = 1
						require.NotNil(t, conn.(interface{ NetConn() net.Conn }).NetConn())
					}
					require.Equal(t, want, l.Stats().InUse)
					require.Equal(t, want, g.Stats().Held)
					require.Zero(t, g.Stats().Serving)
					require.NoError(t, conn.Close())
					require.NoError(t, conn.Close())
					require.Zero(t, g.Stats().Held)
					require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeOK))
					requireWhole(t, l)
					require.NoError(t, client.Close())
				})
			})
		}
	}
}

// A handler that hijacks, and then panics or closes the connection itself, leaves no permit out.
func TestGuardHijackAndPanic(t *testing.T) {
	for name, end := range map[string]func(net.Conn){
		"panic":           func(net.Conn) { panic(http.ErrAbortHandler) },
		"close":           func(c net.Conn) { _ = c.Close() },
		"close and panic": func(c net.Conn) { _ = c.Close(); panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, 1)
				g := newGuard(t, l, func(c *nethttp.GuardConfig) { c.HoldHijacked = true })
				var conn net.Conn
				rt := serve(t, g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					var err error
					conn, _, err = w.(http.Hijacker).Hijack()
					require.NoError(t, err)
					_, err = io.WriteString(conn, "mine now\n")
					require.NoError(t, err)
					end(conn)
				})))
				client := hijack(t, rt)
				requireWhole(t, l)
				require.Zero(t, g.Stats().Held, "those that hold a permit")
				_ = conn.Close()
				require.Zero(t, g.Stats().Held)
				require.NoError(t, client.Close())
			})
		})
	}
}

// G-HTTP-6: a flush is an answer of 200 also if only a writer further down can do it, which is what
// a middleware before the guard leaves that has but an Unwrap.
func TestGuardFlushIsAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		w    http.ResponseWriter
		want spillway.Outcome
	}{
		"flusher":          {flushing{bare{httptest.NewRecorder()}}, spillway.OutcomeOK},
		"further down":     {wrapping{bare{httptest.NewRecorder()}}, spillway.OutcomeOK},
		"can't be flushed": {bare{httptest.NewRecorder()}, spillway.OutcomeOverload},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(t, 1)
			newGuard(t, l).Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				err := http.NewResponseController(w).Flush()
				require.Equal(t, c.want == spillway.OutcomeOverload, errors.Is(err, http.ErrNotSupported))
				w.WriteHeader(503) // too late, if that was one
			})).ServeHTTP(c.w, httptest.NewRequest(http.MethodGet, "/", nil))
			require.EqualValues(t, 1, l.Stats().Ended.Of(c.want), "%+v", l.Stats().Ended)
		})
	}
}

// A body's limit belongs before the guard: http.MaxBytesReader has the server answer at once and
// close the connection, if it finds the server's own writer.
func TestGuardBehindABodyLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		rt := serve(t, http.MaxBytesHandler(newGuard(t, l).Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			}
		})), 10))
		rest, feed := io.Pipe()
		defer func() { _ = feed.Close() }()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site, io.MultiReader(strings.NewReader(strings.Repeat("x", 100)), rest))
		require.NoError(t, err)
		resp, err := rt.RoundTrip(r) // while the rest of the body is still to come
		require.NoError(t, err)
		require.Equal(t, 413, resp.StatusCode)
		require.True(t, resp.Close)
		_ = finish(t, resp)
		requireWhole(t, l)
		time.Sleep(time.Second) // in which the server closes
	})
}

// G-HTTP-1: http.TimeoutHandler answers while its handler goes on. Before a guard the permit stays
// with the handler.
func TestGuardBehindATimeoutHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, over := newLimiter(t, 1), make(chan struct{})
		code, _ := get(t, serve(t, http.TimeoutHandler(newGuard(t, l).Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			<-over
		})), time.Second, "late")))
		require.Equal(t, 503, code)
		require.Equal(t, 1, l.Stats().InUse)
		close(over)
		synctest.Wait()
		require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeLate))
		requireWhole(t, l)
	})
}
