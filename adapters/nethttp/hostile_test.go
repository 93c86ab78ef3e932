//go:build go1.25

package nethttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

// nilError panics whenever it is asked anything: it is what becomes of a nil pointer that is
// returned as an error.
type nilError struct{ inner error }

func (e *nilError) Error() string { return "failed: " + e.inner.Error() }
func (e *nilError) Unwrap() error { return e.inner }

func errNil() error {
	var e *nilError
	return e
}

// G-HTTP-16: a cause that panics when it is asked ends neither the process nor the permit: the
// goroutine that looks at it is ours.
func TestTransportSurvivesACauseThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		rt := newTransport(t, serve(t, http.HandlerFunc(drip)), l)
		resp, err := rt.RoundTrip(request(t, http.MethodGet, nil).WithContext(ctx))
		require.NoError(t, err)
		cancel(errNil())
		synctest.Wait()
		require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeLocal), "its caller has gone")
		requireWhole(t, l)
		_, err = io.Copy(io.Discard, resp.Body)
		require.True(t, err != nil) // NotNil would take it for none
		require.NoError(t, resp.Body.Close())
		require.Zero(t, rt.Stats().Open)
	})
}

// G-HTTP-4: a caller who goes for a reason of his own says nothing of the server: neither before the
// answer nor while its body comes is that the network's fault.
func TestTransportTakesACallersOwnReasonForNoFaultOfTheServer(t *testing.T) {
	reason := errors.New("the user has closed the page")
	for _, body := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(t, 1)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			req := request(t, http.MethodGet, nil).WithContext(ctx)
			if body {
				rt := newTransport(t, serve(t, http.HandlerFunc(drip)), l)
				resp, err := rt.RoundTrip(req)
				require.NoError(t, err)
				cancel(reason)
				_, err = io.Copy(io.Discard, resp.Body)
				require.Error(t, err)
				require.NoError(t, resp.Body.Close())
			} else {
				rt := newTransport(t, roundTrip(func(r *http.Request) (*http.Response, error) { return hangs(0, r) }), l)
				time.AfterFunc(time.Second, func() { cancel(reason) })
				_, err := rt.RoundTrip(req)
				require.ErrorIs(t, err, reason)
			}
			synctest.Wait()
			require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeLocal))
			requireWhole(t, l)
		})
	}
}

// G-HTTP-4: however an attempt fails, and whatever its error does when it is asked, the permit
// is back.
func TestTransportSurvivesErrorsThatPanic(t *testing.T) {
	for name, c := range map[string]struct {
		base  func(*http.Request) (*http.Response, error)
		cause error
	}{
		"of the base":            {func(*http.Request) (*http.Response, error) { return nil, errNil() }, nil},
		"the cause of the end":   {func(r *http.Request) (*http.Response, error) { return hangs(0, r) }, errNil()},
		"the cause of a timeout": {func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, io.ErrUnexpectedEOF }, errNil()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, 1)
				ctx, cancel := context.WithCancelCause(t.Context())
				if c.cause != nil {
					time.AfterFunc(time.Second, func() { cancel(c.cause) })
				}
				defer cancel(nil)
				rt := newTransport(t, roundTrip(c.base), l)
				func() {
					defer func() { _ = recover() }() // its caller's goroutine may be told
					_, _ = rt.RoundTrip(request(t, http.MethodGet, nil).WithContext(ctx))
				}()
				requireWhole(t, l)
				require.Zero(t, rt.Stats().Open)
			})
		})
	}
}

// stuck is a body that gives nothing until it is closed, which panics.
type stuck struct{ closed chan struct{} }

func (s stuck) Read([]byte) (int, error) { <-s.closed; return 0, io.EOF }

func (s stuck) Close() error {
	select {
	case <-s.closed:
		return nil
	default:
		close(s.closed)
		panic(errSecret)
	}
}

// G-HTTP-4: neither does a body whose Close panics on the goroutine that drains it.
func TestTransportDrainsBodiesThatPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n := newLimiter(t, 1), 0
		rt := newTransport(t, roundTrip(func(*http.Request) (*http.Response, error) {
			if n++; n > 1 {
				return answer(200, "body"), nil
			}
			resp := answer(503, "")
			resp.Body = stuck{make(chan struct{})}
			return resp, nil
		}), l)
		resp, err := rt.RoundTrip(request(t, http.MethodGet, nil))
		require.NoError(t, err)
		require.Equal(t, "body", finish(t, resp))
		requireWhole(t, l)
	})
}
