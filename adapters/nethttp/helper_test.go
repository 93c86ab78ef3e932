//go:build go1.25

package nethttp_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/limiter"
)

// pipes is a network in memory, which synctest bubbles can wait for: a listener, and the
// dialer of its clients.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

func (p *pipes) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// transport returns a transport over the pipes, whose connections end with the test.
func (p *pipes) transport(t testing.TB) *http.Transport {
	base := &http.Transport{DialContext: p.DialContext}
	t.Cleanup(base.CloseIdleConnections)
	return base
}

// site is where servers over pipes are.
const site = "http://site/"

// serve serves h over pipes until the test ends, and returns how to call it.
func serve(t testing.TB, h http.Handler) *http.Transport {
	t.Helper()
	p := newPipes()
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(p) }()
	t.Cleanup(func() {
		_ = srv.Close()
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
	})
	return p.transport(t)
}

// get calls a site and returns the status and the body.
func get(t testing.TB, rt http.RoundTripper) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site, nil)
	require.NoError(t, err)
	resp, err := rt.RoundTrip(r)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, string(body)
}

func newLimiter(t testing.TB, limit int) *limiter.Limiter[any] {
	t.Helper()
	l, err := limiter.New[any](limiter.Config{Name: "test", Limit: limit})
	require.NoError(t, err)
	return l
}

// newGuard returns a guard with the default settings, changed.
func newGuard(t testing.TB, a nethttp.Admission, change ...func(*nethttp.GuardConfig)) *nethttp.Guard {
	t.Helper()
	cfg := nethttp.DefaultGuardConfig("test", a)
	for _, f := range change {
		f(&cfg)
	}
	g, err := nethttp.NewGuard(cfg)
	require.NoError(t, err)
	return g
}

// admissionFunc is an admission of one's own.
type admissionFunc func(context.Context) (spillway.Permit, error)

func (f admissionFunc) Admit(ctx context.Context) (spillway.Permit, error) { return f(ctx) }

// refusing is an admission that refuses with one error.
func refusing(err error) nethttp.Admission {
	return admissionFunc(func(context.Context) (spillway.Permit, error) { return spillway.Permit{}, err })
}

// requireWhole fails unless every permit is back and every call accounted for.
func requireWhole(t testing.TB, l *limiter.Limiter[any]) {
	t.Helper()
	s := l.Stats()
	require.Zero(t, s.InUse)
	require.Equal(t, s.Admitted, s.Ended.Total()+s.Aborted, "%+v", s)
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }

// testCertificate returns a server's TLS configuration, and a client that trusts it.
func testCertificate(t testing.TB) (*tls.Config, *http.Client) {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	return srv.TLS.Clone(), srv.Client()
}
