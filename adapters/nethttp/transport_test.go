//go:build go1.25

package nethttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/retry"
)

// backend is a RoundTripper without a network: it notes the requests that it gets, and
// answers by do, which gets their number from 1.
type backend struct {
	do     func(n int, r *http.Request) (*http.Response, error)
	mu     sync.Mutex
	got    []*http.Request
	bodies []string
	open   atomic.Int32 // answers whose bodies are not closed
	idle   atomic.Int32 // calls of CloseIdleConnections
}

func (b *backend) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := "no body"
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = r.Body.Close()
		}
		if err != nil {
			return nil, err
		}
		sent = string(text)
	}
	b.mu.Lock()
	b.got = append(b.got, r)
	b.bodies = append(b.bodies, sent)
	n := len(b.got)
	b.mu.Unlock()
	resp, err := b.do(n, r)
	if resp != nil && resp.Body != http.NoBody {
		b.open.Add(1)
		resp.Body = &countedBody{ReadCloser: resp.Body, open: &b.open}
	}
	return resp, err
}

func (b *backend) CloseIdleConnections() { b.idle.Add(1) }

// calls returns how many requests came.
func (b *backend) calls() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.got)
}

type countedBody struct {
	io.ReadCloser
	open *atomic.Int32
	once sync.Once
}

func (c *countedBody) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.ReadCloser.Close()
}

// answer returns an answer with a body.
func answer(code int, body string, pairs ...string) *http.Response {
	return &http.Response{
		StatusCode: code, Header: headers(pairs...), Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// always answers every request alike.
func always(code int, pairs ...string) func(int, *http.Request) (*http.Response, error) {
	return func(int, *http.Request) (*http.Response, error) { return answer(code, "body", pairs...), nil }
}

// first answers the first request so, and the others with 200.
func first(code int, pairs ...string) func(int, *http.Request) (*http.Response, error) {
	return func(n int, _ *http.Request) (*http.Response, error) {
		if n == 1 {
			return answer(code, "refused", pairs...), nil
		}
		return answer(200, "body"), nil
	}
}

// newTransport returns a transport with the default settings, whose back-offs are exact,
// changed.
func newTransport(t testing.TB, base http.RoundTripper, a nethttp.Admission, change ...func(*nethttp.TransportConfig)) *nethttp.Transport {
	t.Helper()
	cfg := nethttp.DefaultTransportConfig("test", a)
	cfg.Base, cfg.Retry.Jitter = base, retry.NoJitter
	for _, f := range change {
		f(&cfg)
	}
	rt, err := nethttp.NewTransport(cfg)
	require.NoError(t, err)
	return rt
}

func request(t testing.TB, method string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, site, body)
	require.NoError(t, err)
	return r
}

// finish reads an answer to its end.
func finish(t testing.TB, resp *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return string(text)
}

func TestNewTransportNamesItsFaults(t *testing.T) {
	_, err := nethttp.NewTransport(nethttp.TransportConfig{
		Base: (*http.Transport)(nil), Admission: (*limiter.Limiter[any])(nil), Timeout: -1, AttemptTimeout: -1, BodyTimeout: -1,
		Least: -1, TimeoutMargin: -1,
	})
	for _, text := range []string{
		"http transport: invalid configuration", `Name is ""`, "Base is <nil>", "Admission is <nil>", "Retry.MaxAttempts is 0", "Retry.Base is 0s",
		"Timeout is -1ns", "AttemptTimeout is -1ns", "BodyTimeout is -1ns", "Least is -1ns", "TimeoutMargin is -1ns",
	} {
		require.ErrorContains(t, err, text)
	}
	cfg := nethttp.DefaultTransportConfig("x", nil)
	cfg.Least, cfg.TimeoutMargin = 3*time.Second, time.Second
	_, err = nethttp.NewTransport(cfg)
	require.ErrorContains(t, err, "Least is 3s: must be less than AttemptTimeout, 3s")
	require.ErrorContains(t, err, "TimeoutMargin is 1s: needs TimeoutHeader")
}

func TestTransportZeroRefuses(t *testing.T) {
	var rt nethttp.Transport
	sent := &closing{Reader: strings.NewReader("x")}
	_, err := rt.RoundTrip(request(t, http.MethodPost, sent))
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.EqualValues(t, 1, sent.closed.Load())
	rt.CloseIdleConnections()
	require.Zero(t, rt.Stats())
}

// closing counts how often a body is closed.
type closing struct {
	io.Reader
	closed atomic.Int32
}

func (c *closing) Close() error { c.closed.Add(1); return nil }

// G-HTTP-10: each attempt has its permit, and no more than the limit are under way.
func TestTransportRefusesOverTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 2)
		b := &backend{do: func(int, *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return answer(200, "body"), nil
		}}
		rt := newTransport(t, b, l, func(c *nethttp.TransportConfig) { c.Retry = retry.WritePolicy() })
		errs := make(chan error, 5)
		for range 5 {
			go func() {
				resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
				if err == nil {
					err = resp.Body.Close()
				}
				errs <- err
			}()
		}
		synctest.Wait()
		require.Equal(t, 2, b.calls())
		require.Equal(t, 2, rt.Stats().Open)
		refused := 0
		for range 5 {
			if err := <-errs; err != nil {
				require.ErrorIs(t, err, spillway.ErrBackpressure)
				refused++
			}
		}
		require.Equal(t, 3, refused)
		requireWhole(t, l)
		require.Zero(t, rt.Stats().Open)
	})
}

// Each host by itself: one that hangs doesn't take the permits of the others.
func TestTransportAdmissionFor(t *testing.T) {
	a, b := newLimiter(t, 1), newLimiter(t, 1)
	hosts := map[string]nethttp.Admission{"a": a, "b": b}
	rt := newTransport(t, &backend{do: always(200)}, refusing(errSecret), func(c *nethttp.TransportConfig) {
		c.AdmissionFor = func(r *http.Request) nethttp.Admission { return hosts[r.URL.Host] }
		c.Retry = retry.WritePolicy()
	})
	call := func(host string) error {
		r := request(t, http.MethodGet, nil)
		r.URL.Host = host
		resp, err := rt.RoundTrip(r)
		if err == nil {
			_ = finish(t, resp)
		}
		return err
	}
	busy, err := a.Admit(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, call("a"), spillway.ErrBackpressure)
	require.NoError(t, call("b"))
	require.NoError(t, call("elsewhere"), "a host without an admission needs no permit")
	busy.Release()
	require.NoError(t, call("a"))
	require.EqualValues(t, 1, a.Stats().Admitted-1)
	requireWhole(t, a)
	requireWhole(t, b)
}

// G-HTTP-11; C29: RoundTrip leaves the request as it is, with its headers, and what it
// adds goes to the server.
func TestTransportLeavesTheRequestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{do: first(503)}
		rt := newTransport(t, b, nil, func(c *nethttp.TransportConfig) {
			c.TimeoutHeader, c.ClassHeader, c.TimeoutMargin = "x-timeout-millis", "x-class", 100*time.Millisecond
		})
		ctx := spillway.WithClass(t.Context(), spillway.Bulk)
		r := request(t, http.MethodPut, strings.NewReader("payload")).WithContext(ctx)
		r.Header.Set("X-Own", "1")
		before, header, body := *r, r.Header.Clone(), r.Body
		resp, err := rt.RoundTrip(r)
		require.NoError(t, err)
		require.Equal(t, "body", finish(t, resp))
		require.Equal(t, header, r.Header)
		require.Equal(t, body, r.Body)
		require.Equal(t, before.URL, r.URL)
		require.Equal(t, []string{"payload", "payload"}, b.bodies)
		for _, got := range b.got {
			require.Equal(t, "2900", got.Header.Get("X-Timeout-Millis"))
			require.Equal(t, "bulk", got.Header.Get("X-Class"))
			require.Equal(t, "1", got.Header.Get("X-Own"))
		}
		// Without a bound and a class there is nothing to say; a request may have no header.
		rt = newTransport(t, b, nil, func(c *nethttp.TransportConfig) {
			c.TimeoutHeader, c.ClassHeader, c.Timeout, c.AttemptTimeout = "x-timeout-millis", "x-class", 0, 0
		})
		r = request(t, http.MethodGet, nil)
		r.Header = nil
		resp, err = rt.RoundTrip(r)
		require.NoError(t, err)
		_ = finish(t, resp)
		require.Empty(t, b.got[2].Header)
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		resp, err = rt.RoundTrip(r.WithContext(ctx))
		require.NoError(t, err)
		_ = finish(t, resp)
		require.Equal(t, headers("X-Timeout-Millis", "50", "X-Class", "bulk"), b.got[3].Header)
	})
}

// A server that is guarded reads what a transport writes.
func TestTransportAndGuardShareTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := time.Duration(0)
		g := newGuard(t, newLimiter(t, 1), func(c *nethttp.GuardConfig) {
			c.Timeout, c.TimeoutHeader = time.Minute, "x-timeout-millis"
		})
		base := serve(t, g.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			at, _ := r.Context().Deadline()
			left = time.Until(at)
		})))
		rt := newTransport(t, base, nil, func(c *nethttp.TransportConfig) { c.TimeoutHeader = "X-Timeout-Millis" })
		code, _ := get(t, rt)
		require.Equal(t, 200, code)
		require.Equal(t, 3*time.Second, left, "the attempt's")
		client := &http.Client{Transport: rt, Timeout: 700 * time.Millisecond}
		resp, err := client.Get(site)
		require.NoError(t, err)
		_ = finish(t, resp)
		require.Equal(t, 700*time.Millisecond, left, "the client's")
	})
}

func TestTransportClosesIdleConnections(t *testing.T) {
	b := &backend{do: always(200)}
	client := &http.Client{Transport: newTransport(t, b, nil)}
	client.CloseIdleConnections()
	require.EqualValues(t, 1, b.idle.Load())
	newTransport(t, roundTrip(b.RoundTrip), nil).CloseIdleConnections() // has none to close
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// G-HTTP-4: a panic of the base goes through, and nothing stays behind.
func TestTransportSurvivesItsBase(t *testing.T) {
	l := newLimiter(t, 1)
	rt := newTransport(t, roundTrip(func(*http.Request) (*http.Response, error) { panic(errSecret) }), l)
	for range 3 {
		require.PanicsWithError(t, errSecret.Error(), func() {
			resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
			t.Error(resp.Body.Close(), err)
		})
	}
	requireWhole(t, l)
	require.Zero(t, rt.Stats().Open)
	rt = newTransport(t, roundTrip(func(*http.Request) (*http.Response, error) { return nil, nil }), l,
		func(c *nethttp.TransportConfig) { c.Retry = retry.WritePolicy() })
	_, err := rt.RoundTrip(request(t, http.MethodGet, nil))
	require.EqualError(t, err, `http "test": the base transport returned neither an answer nor an error`)
	requireWhole(t, l)
}

// Many callers, every kind of answer: in the end every permit is back, and every body closed.
func TestTransportConcurrentSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 5)
		var under, over atomic.Int32
		b := &backend{do: func(n int, r *http.Request) (*http.Response, error) {
			if under.Add(1) > 5 {
				over.Add(1)
			}
			defer under.Add(-1)
			select {
			case <-time.After(time.Duration(n%7) * 10 * time.Millisecond):
			case <-r.Context().Done():
				return nil, context.Cause(r.Context())
			}
			switch n % 5 {
			case 0:
				return nil, errSecret
			case 1:
				return answer(503, "busy", "Retry-After", "1"), nil
			case 2:
				return answer(500, ""), nil
			}
			return answer(200, "body"), nil
		}}
		rt := newTransport(t, b, l, func(c *nethttp.TransportConfig) {
			c.AttemptTimeout, c.BodyTimeout, c.Retry.Jitter = 40*time.Millisecond, time.Second, retry.FullJitter
		})
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				for j := range 20 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(50+i*j)*time.Millisecond)
					r := request(t, [...]string{http.MethodGet, http.MethodPost, http.MethodPut}[j%3], strings.NewReader("x")).WithContext(ctx)
					resp, err := rt.RoundTrip(r)
					if err == nil && j%4 != 0 {
						_, _ = io.Copy(io.Discard, resp.Body)
						_ = resp.Body.Close()
					} else if err == nil {
						defer func() { _ = resp.Body.Close() }() // too late: its context ends before
					}
					cancel()
				}
			})
		}
		wg.Wait()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Zero(t, over.Load())
		require.Zero(t, b.open.Load())
		require.Zero(t, rt.Stats().Open)
		requireWhole(t, l)
	})
}

var errBroken = errors.New("connection broken")
