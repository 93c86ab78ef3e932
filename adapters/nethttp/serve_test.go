//go:build go1.25

package nethttp_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/lifecycle"
)

// service is a server under Serve, over pipes.
type service struct {
	pipes     *pipes
	signals   chan os.Signal
	readiness *nethttp.Readiness
	log       syncBuffer
	began     map[string]time.Duration // when the user's steps began, after the first signal
	report    lifecycle.ShutdownReport
	err       error
	ended     chan struct{}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newService serves h, with 20 s for the end, of which 5 s are the lame duck's.
func newService(ctx context.Context, t *testing.T, h http.Handler, change ...func(*nethttp.ServeConfig)) *service {
	t.Helper()
	s := &service{
		pipes: newPipes(), signals: make(chan os.Signal), ended: make(chan struct{}), began: map[string]time.Duration{},
		readiness: newReadiness(t, nethttp.DefaultReadinessConfig()),
	}
	start := time.Now()
	step := func(name string) []lifecycle.Step {
		return []lifecycle.Step{{Name: name, Run: func(context.Context) error { s.began[name] = time.Since(start); return nil }}}
	}
	cfg := nethttp.DefaultServeConfig(&http.Server{Handler: h, ReadHeaderTimeout: time.Minute})
	cfg.Listener, cfg.Readiness = s.pipes, s.readiness
	cfg.Logger = slog.New(slog.NewTextHandler(&s.log, nil))
	cfg.Shutdown = lifecycle.ShutdownConfig{
		Timeout: 20 * time.Second, LameDuck: 5 * time.Second,
		Unready: step("unready"), StopIntake: step("intake"), Drain: step("drain"), Flush: step("flush"), Close: step("close"),
	}
	for _, f := range change {
		f(&cfg)
	}
	go func() {
		defer close(s.ended)
		s.report, s.err = nethttp.ServeSignals(ctx, cfg, s.signals)
	}()
	return s
}

func (s *service) steps() (names []string) {
	for _, r := range s.report.Steps {
		names = append(names, r.Phase+"/"+r.Name)
	}
	return names
}

var allSteps = []string{
	"unready/readiness", "unready/unready", "lame duck/delay", "stop intake/server", "stop intake/intake", "drain/drain", "flush/flush", "close/close",
}

func TestServeNamesItsFaults(t *testing.T) {
	_, err := nethttp.Serve(t.Context(), nethttp.ServeConfig{Shutdown: lifecycle.ShutdownConfig{LameDuck: -1}})
	for _, text := range []string{"http serve: invalid configuration", "Server is <nil>", "Shutdown.Timeout is 0s", "Shutdown.LameDuck is -1ns"} {
		require.ErrorContains(t, err, text)
	}
	_, err = nethttp.Serve(t.Context(), nethttp.DefaultServeConfig(&http.Server{}))
	require.ErrorContains(t, err, "Server.ReadHeaderTimeout is 0s")
}

// G-HTTP-18; L-24: the order, with what callers see of it. What was admitted is served,
// also what came in the lame-duck time, and what was still under way when the intake stopped.
func TestServeEndsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t.Context(), t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(3 * time.Second)
			ok(w, r)
		}))
		rt := s.pipes.transport(t)
		synctest.Wait()
		require.True(t, s.readiness.Ready())

		s.signals <- syscall.SIGTERM
		synctest.Wait()
		require.False(t, s.readiness.Ready(), "at once")
		for at := range 5 { // one request a second, up to the end of the lame-duck time
			go func() {
				resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
				require.NoError(t, err, "at %d s", at)
				require.Equal(t, "ok", finish(t, resp))
				require.True(t, resp.Close, "answers ask for their connections to be closed")
			}()
			time.Sleep(time.Second)
		}
		<-s.ended
		require.NoError(t, s.err)
		require.Equal(t, allSteps, s.steps())
		// 5 s, and 2 s for the last request; the server looks every half second at least.
		require.InDelta(t, 7.5, (s.began["intake"] - s.began["unready"]).Seconds(), 0.6)
		require.Equal(t, s.began["intake"], s.began["close"])
		for _, text := range []string{`msg="nethttp: serving" addr=pipe`, `msg="nethttp: ending" why=terminated`, `phase="stop intake" step=server took=2`, `msg="nethttp: ended"`} {
			require.Contains(t, s.log.String(), text)
		}
		_, err := rt.RoundTrip(request(t, http.MethodGet, nil))
		require.ErrorIs(t, err, net.ErrClosed)
	})
}

// The end of the context is a signal, too.
func TestServeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := newService(ctx, t, http.HandlerFunc(ok))
		rt := s.pipes.transport(t)
		code, _ := get(t, rt)
		require.Equal(t, 200, code)
		start := time.Now()
		cancel(errSecret)
		<-s.ended
		require.NoError(t, s.err)
		require.Equal(t, 5*time.Second, time.Since(start))
		require.Equal(t, allSteps, s.steps())
		require.Contains(t, s.log.String(), errSecret.Error())
	})
}

// G-HTTP-18: one bound, whatever handlers do: their connections are cut when the time of
// the server's step is over, and the steps behind it have theirs.
func TestServeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := make(chan struct{})
		s := newService(t.Context(), t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			close(cut)
		}))
		rt := s.pipes.transport(t)
		go func() {
			_, err := rt.RoundTrip(request(t, http.MethodGet, nil))
			require.Error(t, err)
		}()
		synctest.Wait()
		start := time.Now()
		s.signals <- syscall.SIGTERM
		<-s.ended
		<-cut
		require.LessOrEqual(t, time.Since(start), 20*time.Second)
		require.Equal(t, allSteps, s.steps())
		require.ErrorIs(t, s.err, context.DeadlineExceeded)
		require.ErrorContains(t, s.err, `stop intake "server" was cut`)
		var e *lifecycle.ShutdownError
		require.ErrorAs(t, s.err, &e)
		require.Len(t, e.Steps, 1)
		require.Contains(t, s.log.String(), `level=ERROR msg="nethttp: step" phase="stop intake" step=server`)
	})
}

// G-HTTP-18: a second signal ends it at once, in the lame-duck time and later.
func TestServeSecondSignalHurries(t *testing.T) {
	for name, wait := range map[string]time.Duration{"lame duck": 2 * time.Second, "stop intake": 6 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(t.Context(), t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
				rt := s.pipes.transport(t)
				go func() {
					_, err := rt.RoundTrip(request(t, http.MethodGet, nil))
					require.Error(t, err)
				}()
				synctest.Wait()
				s.signals <- syscall.SIGTERM
				time.Sleep(wait)
				start := time.Now()
				s.signals <- os.Interrupt
				<-s.ended
				require.Less(t, time.Since(start), time.Second)
				require.Equal(t, allSteps, s.steps())
				require.ErrorContains(t, s.err, "server")
				require.Contains(t, s.log.String(), `level=WARN msg="nethttp: hurrying" why=interrupt`)
				synctest.Wait()
			})
		})
	}
}

// One order to stop is one, though it arrives twice, or as a signal and a context's end.
func TestServeOneSignalIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newService(ctx, t, http.HandlerFunc(ok))
		synctest.Wait()
		start := time.Now()
		cancel()
		synctest.Wait()
		s.signals <- syscall.SIGTERM
		time.Sleep(99 * time.Millisecond)
		s.signals <- os.Interrupt
		<-s.ended
		require.NoError(t, s.err)
		require.Equal(t, 5*time.Second, time.Since(start))
	})
}

// A server that ends by itself is an error, and the steps are taken, without a delay.
func TestServeServerFails(t *testing.T) {
	for name, c := range map[string]struct {
		fail func(s *service, srv *http.Server)
		want error
	}{
		"listener": {func(s *service, _ *http.Server) { _ = s.pipes.Close() }, net.ErrClosed},
		"closed":   {func(_ *service, srv *http.Server) { _ = srv.Close() }, http.ErrServerClosed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var srv *http.Server
				s := newService(t.Context(), t, http.HandlerFunc(ok), func(c *nethttp.ServeConfig) { srv = c.Server })
				synctest.Wait()
				start := time.Now()
				c.fail(s, srv)
				<-s.ended
				require.ErrorIs(t, s.err, c.want)
				require.Zero(t, time.Since(start))
				require.Equal(t, append(append([]string{}, allSteps[:2]...), allSteps[3:]...), s.steps())
				require.False(t, s.readiness.Ready())
			})
		})
	}
}

// An address that is taken: nothing is served, what was opened is closed.
func TestServeCannotListen(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	closed := false
	cfg := nethttp.DefaultServeConfig(&http.Server{Addr: l.Addr().String(), ReadHeaderTimeout: time.Second})
	cfg.Shutdown.Close = []lifecycle.Step{{Name: "db", Run: func(context.Context) error { closed = true; return nil }}}
	_, err = nethttp.Serve(t.Context(), cfg)
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	require.True(t, closed)
}

// deafListener goes on accepting when it is closed, and http.Server then waits for it
// without a bound.
type deafListener struct{ *pipes }

func (deafListener) Close() error { return nil }

func TestServeDeafListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		ctx, cancel := context.WithCancel(t.Context())
		s := newService(ctx, t, http.HandlerFunc(ok), func(c *nethttp.ServeConfig) { c.Listener = deafListener{p} })
		cancel()
		<-s.ended
		require.ErrorIs(t, s.err, lifecycle.ErrStepRunning)
		require.NoError(t, p.Close())
	})
}

// Over TLS, when the server has a certificate, and HTTP/2 with it; without a handler it is
// the default mux, as ever.
func TestServeSpeaksTLS(t *testing.T) {
	cert, client := testCertificate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv := &http.Server{ReadHeaderTimeout: time.Minute, TLSConfig: cert, Handler: http.HandlerFunc(ok)}
	cfg := nethttp.DefaultServeConfig(srv)
	cfg.Listener, cfg.Shutdown.LameDuck = l, 0
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := nethttp.Serve(ctx, cfg)
		done <- err
	}()
	resp, err := client.Get("https://" + l.Addr().String())
	require.NoError(t, err)
	require.Equal(t, 2, resp.ProtoMajor)
	require.Equal(t, "ok", finish(t, resp))
	cancel()
	require.NoError(t, <-done)
	client.CloseIdleConnections()
}

// Hijacked connections that hold a permit are waited for where their lane is drained.
func TestServeDrainsHijackedConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		g := newGuard(t, l, func(c *nethttp.GuardConfig) { c.HoldHijacked = true })
		conns := make(chan net.Conn, 1)
		s := newService(t.Context(), t, g.Wrap(takeOver(t, hijackers["Hijacker"], conns)), func(c *nethttp.ServeConfig) {
			c.Shutdown.Drain = []lifecycle.Step{lifecycle.CloseStep("requests", l)}
		})
		client := hijack(t, s.pipes.transport(t))
		conn := <-conns
		start := time.Now()
		s.signals <- syscall.SIGTERM
		time.AfterFunc(7*time.Second, func() { _ = conn.Close() })
		<-s.ended
		require.NoError(t, s.err)
		require.Equal(t, 7*time.Second, time.Since(start))
		require.NoError(t, client.Close())
	})
}

// Nil parts mean nothing: no logger, no readiness, no handler.
func TestServeWithoutParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newService(ctx, t, nil, func(c *nethttp.ServeConfig) { c.Readiness, c.Logger = nil, nil })
		code, body := get(t, s.pipes.transport(t))
		require.Equal(t, 404, code)
		require.True(t, strings.HasPrefix(body, "404"))
		cancel()
		<-s.ended
		require.NoError(t, s.err)
	})
}

// A step of the user's that fails is told.
func TestServeReportsSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		errFlush := errors.New("exporter is gone")
		s := newService(ctx, t, http.HandlerFunc(ok), func(c *nethttp.ServeConfig) {
			c.Shutdown.Flush = []lifecycle.Step{{Name: "telemetry", Run: func(context.Context) error { return errFlush }}}
		})
		<-s.ended
		require.ErrorIs(t, s.err, errFlush)
		require.Contains(t, s.log.String(), `step=telemetry`)
		require.Contains(t, s.log.String(), errFlush.Error())
	})
}

// brokenListener panics instead of accepting, once.
type brokenListener struct{ *pipes }

func (l brokenListener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, net.ErrClosed
	default:
		panic(errSecret)
	}
}

// talker is a logger's handler that panics.
type talker struct{ slog.Handler }

func (talker) Enabled(context.Context, slog.Level) bool  { return true }
func (talker) Handle(context.Context, slog.Record) error { panic(errNil()) }

// G-HTTP-18: a listener that panics is a server that failed, and a logger that panics keeps
// nothing from its end; neither ends the process.
func TestServeSurvivesListenersAndLoggers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t.Context(), t, http.HandlerFunc(ok), func(c *nethttp.ServeConfig) {
			c.Listener, c.Logger = brokenListener{newPipes()}, slog.New(talker{})
		})
		<-s.ended
		var panicked *spillway.PanicError
		require.ErrorAs(t, s.err, &panicked)
		require.ErrorIs(t, s.err, errSecret)
		require.Equal(t, append(append([]string{}, allSteps[:2]...), allSteps[3:]...), s.steps())
	})
	synctest.Test(t, func(t *testing.T) {
		s := newService(t.Context(), t, http.HandlerFunc(ok), func(c *nethttp.ServeConfig) { c.Logger = slog.New(talker{}) })
		s.signals <- syscall.SIGTERM
		time.Sleep(time.Second)
		s.signals <- syscall.SIGTERM // the goroutine that hears of it is ours
		<-s.ended
		require.Equal(t, allSteps, s.steps())
	})
}

// nowhere is a listener without an address.
type nowhere struct{ *pipes }

func (nowhere) Addr() net.Addr { return nil }

// A listener needs no address to be served, and none that isn't there is begun with.
func TestServeListenersWithoutAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newService(ctx, t, http.HandlerFunc(ok), func(c *nethttp.ServeConfig) { c.Listener = nowhere{newPipes()} })
		cancel()
		<-s.ended
		require.NoError(t, s.err)
		require.Equal(t, allSteps, s.steps())
	})
	cfg := nethttp.DefaultServeConfig(&http.Server{ReadHeaderTimeout: time.Second})
	cfg.Listener = (*net.TCPListener)(nil)
	_, err := nethttp.Serve(t.Context(), cfg)
	require.ErrorContains(t, err, "Listener is <nil>: must not be a nil pointer")
}
