//go:build go1.25

package nethttp_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/retry"
)

// fails fails the first request so, and answers the others with 200.
func fails(err error) func(int, *http.Request) (*http.Response, error) {
	return func(n int, _ *http.Request) (*http.Response, error) {
		if n == 1 {
			return nil, err
		}
		return answer(200, "body"), nil
	}
}

// G-HTTP-12; RFC 9110: what is repeated, by method and by what the first attempt came to.
func TestTransportRepeatsWhatIsWorthIt(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: errBroken}
	for name, c := range map[string]struct {
		do          func(int, *http.Request) (*http.Response, error)
		idem, other bool // whether requests that are idempotent are repeated, and others
	}{
		"200":                 {first(200), false, false},
		"404":                 {first(404), false, false},
		"408":                 {first(408), false, false},
		"429":                 {first(429), true, false},
		"500":                 {first(500), false, false},
		"501":                 {first(501), false, false},
		"502":                 {first(502), true, false},
		"503":                 {first(503), true, false},
		"504":                 {first(504), true, false},
		"broken":              {fails(errBroken), true, false},
		"EOF":                 {fails(io.ErrUnexpectedEOF), true, false},
		"timed out":           {fails(context.DeadlineExceeded), true, false},
		"cancelled":           {fails(context.Canceled), false, false},
		"not dialled":         {fails(dial), true, true},
		"no such host":        {fails(&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}), false, false},
		"name server is down": {fails(&net.OpError{Op: "dial", Err: &net.DNSError{IsTemporary: true}}), true, true},
		"written and broken":  {fails(&net.OpError{Op: "write", Err: errBroken}), true, false},
		"certificate":         {fails(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), false, false},
		"refused below":       {fails(&spillway.Rejection{Component: "limiter"}), true, true},
		"closed below":        {fails(&spillway.ClosedError{}), false, false},
		"not connected below": {fails(&lifecycle.StateError{Op: "lease"}), false, false},
	} {
		for method, idem := range map[string]bool{
			"": true, "GET": true, "HEAD": true, "OPTIONS": true, "TRACE": true, "PUT": true, "DELETE": true,
			"POST": false, "PATCH": false, "CONNECT": false, "get": false, "PURGE": false,
		} {
			t.Run(name+" "+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLimiter(t, 1)
					b := &backend{do: c.do}
					rt := newTransport(t, b, l)
					r := request(t, http.MethodGet, nil)
					r.Method = method
					resp, err := rt.RoundTrip(r)
					if err == nil {
						_ = finish(t, resp)
					}
					want := 1
					if c.idem && idem || c.other && !idem {
						want = 2
						require.NoError(t, err)
						require.Equal(t, 200, resp.StatusCode)
					}
					require.Equal(t, want, b.calls())
					require.Zero(t, b.open.Load())
					requireWhole(t, l)
				})
			})
		}
	}
}

// What says otherwise: a key that the server knows a repetition by, or the policy.
func TestTransportRepeatsWhatIsDeclaredIdempotent(t *testing.T) {
	for name, c := range map[string]struct {
		key    string
		change func(*nethttp.TransportConfig)
		want   int
	}{
		"nothing":           {"", func(*nethttp.TransportConfig) {}, 1},
		"Idempotency-Key":   {"Idempotency-Key", func(*nethttp.TransportConfig) {}, 2},
		"X-Idempotency-Key": {"X-Idempotency-Key", func(*nethttp.TransportConfig) {}, 2},
		"policy":            {"", func(c *nethttp.TransportConfig) { c.Retry.Idempotent = true }, 2},
		"classifier": {"", func(c *nethttp.TransportConfig) {
			c.Retry.Classify = func(error) retry.Verdict { return retry.Transient }
		}, 2},
		"one attempt": {"Idempotency-Key", func(c *nethttp.TransportConfig) { c.Retry = retry.WritePolicy() }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &backend{do: first(503)}
				rt := newTransport(t, b, nil, c.change)
				r := request(t, http.MethodPost, strings.NewReader("x"))
				if c.key != "" {
					r.Header.Set(c.key, "42")
				}
				resp, err := rt.RoundTrip(r)
				require.NoError(t, err)
				require.NotEmpty(t, finish(t, resp))
				require.Equal(t, c.want, b.calls())
			})
		})
	}
}

// G-HTTP-13; C29: a body is sent again in full, or not at all.
func TestTransportReplaysBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			body io.Reader
			want []string
		}{
			"none":            {nil, []string{"no body", "no body", "no body"}},
			"NoBody":          {http.NoBody, []string{"", "", ""}},
			"strings.Reader":  {strings.NewReader("abc"), []string{"abc", "abc", "abc"}},
			"bytes.Buffer":    {bytes.NewBufferString("abc"), []string{"abc", "abc", "abc"}},
			"stream":          {io.LimitReader(strings.NewReader("abcdef"), 3), []string{"abc"}},
			"stream, closing": {&closing{Reader: strings.NewReader("abc")}, []string{"abc"}},
		} {
			b := &backend{do: always(503)}
			rt := newTransport(t, b, nil)
			resp, err := rt.RoundTrip(request(t, http.MethodPut, c.body))
			require.NoError(t, err, name)
			require.Equal(t, 503, resp.StatusCode, "the last answer is the caller's")
			require.Equal(t, "body", finish(t, resp))
			require.Equal(t, c.want, b.bodies, name)
			require.Zero(t, b.open.Load())
		}
	})
}

// A body that was never touched can be sent although it can't be sent again.
func TestTransportWaitsWithAnUntouchedBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		busy, err := l.Admit(t.Context())
		require.NoError(t, err)
		time.AfterFunc(30*time.Millisecond, busy.Release)
		b := &backend{do: always(200)}
		sent := &closing{Reader: strings.NewReader("abc")}
		resp, err := newTransport(t, b, l).RoundTrip(request(t, http.MethodPost, sent))
		require.NoError(t, err)
		_ = finish(t, resp)
		require.Equal(t, []string{"abc"}, b.bodies)
		require.EqualValues(t, 1, l.Stats().Refused.Total())
		require.EqualValues(t, 1, sent.closed.Load())
	})
}

// The request's body is closed whatever happens, and no body is had in vain.
func TestTransportClosesRequestBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		errBody := errors.New("no second body")
		for name, c := range map[string]struct {
			admission nethttp.Admission
			ctx       context.Context
			getBody   func() (io.ReadCloser, error)
			want      error
		}{
			"refused":        {refusing(spillway.ErrBackpressure), t.Context(), nil, spillway.ErrBackpressure},
			"cancelled":      {nil, canceled, nil, context.Canceled},
			"broken":         {nil, t.Context(), nil, errBroken},
			"no second body": {nil, t.Context(), func() (io.ReadCloser, error) { return nil, errBody }, errBody},
		} {
			sent := &closing{Reader: strings.NewReader("abc")}
			r := request(t, http.MethodPut, sent).WithContext(c.ctx)
			r.GetBody = c.getBody
			rt := newTransport(t, &backend{do: func(int, *http.Request) (*http.Response, error) { return nil, errBroken }}, c.admission)
			resp, err := rt.RoundTrip(r)
			require.ErrorIs(t, err, c.want, name)
			require.Nil(t, resp)
			require.EqualValues(t, 1, sent.closed.Load(), name)
			require.Zero(t, rt.Stats().Open)
		}
	})
}

// G-HTTP-14, T-01: no attempt before what Retry-After asks for, in either form; one that
// asks for too much goes to the caller at once, with its body.
func TestTransportHonoursRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := func(d time.Duration) func() string {
			return func() string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		}
		says := func(text string) func() string { return func() string { return text } }
		for name, c := range map[string]struct {
			after func() string
			waits time.Duration
			calls int
		}{
			"none":       {says(""), 50 * time.Millisecond, 2},
			"0":          {says("0"), 50 * time.Millisecond, 2},
			"2 seconds":  {says("2"), 2 * time.Second, 2},
			"date":       {in(4 * time.Second), 4 * time.Second, 2},
			"past":       {in(-4 * time.Second), 50 * time.Millisecond, 2},
			"nonsense":   {says("soon"), 50 * time.Millisecond, 2},
			"too long":   {says("11"), 0, 1},
			"for ever":   {says("99999999999999999999"), 0, 1},
			"the budget": {says("10"), 0, 1}, // 10 s is all that the request has
		} {
			b := &backend{do: first(503, "Retry-After", c.after(), "Date", in(0)())}
			rt := newTransport(t, b, nil)
			start := time.Now()
			resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
			require.NoError(t, err, name)
			require.Equal(t, c.waits, time.Since(start), name)
			require.Equal(t, c.calls, b.calls(), name)
			require.Equal(t, map[int]string{1: "refused", 2: "body"}[c.calls], finish(t, resp))
		}
	})
}

// G-HTTP-10, X7: nothing is held in a back-off: no permit, no answer, no connection.
func TestTransportHoldsNothingInABackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		b := &backend{do: first(503, "Retry-After", "5")}
		rt := newTransport(t, b, l)
		done := make(chan error)
		go func() {
			resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
			if err == nil {
				err = resp.Body.Close()
			}
			done <- err
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		require.Zero(t, l.Stats().InUse)
		require.Zero(t, b.open.Load())
		require.Zero(t, rt.Stats().Open)
		require.EqualValues(t, 1, rt.Stats().Idempotent.BackingOff)
		require.NoError(t, <-done)
		require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeOverload))
		require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeOK))
	})
}

// Connections are used again after a retry, unless the answer is too long to be read for that.
func TestTransportDrainsWithinABound(t *testing.T) {
	for name, c := range map[string]struct {
		body  func(w http.ResponseWriter)
		conns int
		waits time.Duration
	}{
		"short":            {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "busy") }, 1, 50 * time.Millisecond},
		"chunked":          {func(w http.ResponseWriter) { w.(http.Flusher).Flush(); _, _ = io.WriteString(w, "busy") }, 1, 50 * time.Millisecond},
		"64 KiB":           {func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, 64<<10)) }, 1, 50 * time.Millisecond},
		"long":             {func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, 1<<20)) }, 2, 50 * time.Millisecond},
		"long and unknown": {func(w http.ResponseWriter) { w.(http.Flusher).Flush(); _, _ = w.Write(make([]byte, 1<<20)) }, 2, 50 * time.Millisecond},
		"slow": {func(w http.ResponseWriter) {
			for range 100 {
				if _, err := fmt.Fprint(w, "b"); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				time.Sleep(30 * time.Millisecond)
			}
		}, 2, 150 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls, conns := 0, map[string]bool{}
				base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if calls++; calls == 1 {
						w.WriteHeader(503)
						c.body(w)
						return
					}
					ok(w, r)
				}))
				dial := base.DialContext
				base.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
					conns[fmt.Sprint(len(conns))] = true
					return dial(ctx, network, addr)
				}
				l := newLimiter(t, 1)
				start := time.Now()
				code, text := get(t, newTransport(t, base, l))
				require.Equal(t, 200, code)
				require.Equal(t, "ok", text)
				require.Len(t, conns, c.conns)
				require.Equal(t, c.waits, time.Since(start))
				requireWhole(t, l)
			})
		})
	}
}

// The caller sees the last answer, or a typed error that says all.
func TestTransportGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{do: always(502)}
		rt := newTransport(t, b, nil)
		resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
		require.NoError(t, err)
		require.Equal(t, 502, resp.StatusCode)
		require.Equal(t, "body", finish(t, resp))
		require.Equal(t, 3, b.calls())
		require.EqualValues(t, 1, rt.Stats().Idempotent.Ended.Of(retry.StopAttempts))

		broken := &backend{do: func(int, *http.Request) (*http.Response, error) { return nil, errBroken }}
		client := &http.Client{Transport: newTransport(t, broken, nil)}
		_, err = client.Get(site)
		var gaveUp *retry.ExhaustedError
		require.ErrorAs(t, err, &gaveUp)
		require.Equal(t, 3, gaveUp.Attempts)
		require.ErrorIs(t, err, errBroken)
		require.Equal(t, spillway.OutcomeNetwork, spillway.OutcomeOf(err))
		require.Equal(t, 503, spillway.StatusOf(err).HTTP)
		require.EqualError(t, err, `Get "http://site/": retry "test": gave up after 3 of 3 attempts, no more are allowed: http "test": connection broken`)

		l := newLimiter(t, 1)
		_, err = l.Admit(t.Context())
		require.NoError(t, err)
		client = &http.Client{Transport: newTransport(t, b, l)}
		_, err = client.Get(site)
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		require.Equal(t, 3, int(l.Stats().Refused.Total()))
	})
}

// A caller who goes in a back-off is let go, and nothing stays.
func TestTransportCallerGoneInABackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{do: always(503, "Retry-After", "5")}
		rt := newTransport(t, b, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		resp, err := rt.RoundTrip(request(t, http.MethodGet, nil).WithContext(ctx))
		require.Nil(t, resp)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, time.Second, time.Since(start))
		require.Zero(t, b.open.Load())
		require.Equal(t, 499, spillway.StatusOf(err).HTTP)
	})
}

// Retries are paid for from one budget, which answers fill.
func TestTransportBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{do: always(503)}
		rt := newTransport(t, b, nil)
		for range 100 {
			resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
			require.NoError(t, err)
			_ = finish(t, resp)
		}
		require.Less(t, b.calls(), 100+25, "ten of the burst, one a second, and no more")
		s := rt.Stats()
		require.Equal(t, "test", s.Idempotent.Name)
		require.Equal(t, "test.once", s.Once.Name)
		require.NotZero(t, s.Idempotent.Ended.Of(retry.StopBudget))
	})
}

// The user's hooks are told of answers as of errors.
func TestTransportHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []retry.Event
		rt := newTransport(t, &backend{do: first(503, "Retry-After", "2")}, nil, func(c *nethttp.TransportConfig) {
			c.Retry.Hooks = []retry.Hooks{{OnRetry: func(_ context.Context, e retry.Event) { events = append(events, e) }}}
		})
		code, _ := get(t, rt)
		require.Equal(t, 200, code)
		require.Len(t, events, 1)
		require.EqualError(t, events[0].Err, "nethttp: answered with 503 Service Unavailable, to come back after 2s")
		require.True(t, events[0].Pushback)
		require.Equal(t, 2*time.Second, events[0].Delay)
	})
}
