package nethttp_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/internal/cause/causetest"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/retry"
)

// admission is an Admission that is a function.
type admission func(context.Context) (spillway.Permit, error)

func (f admission) Admit(ctx context.Context) (spillway.Permit, error) { return f(ctx) }

// F10: with Go 1.24, too, no handler runs for a request whose context is a stranger's and done, not
// even behind an admission that doesn't look.
func TestGuardStrangersContextThatIsDoneIsNotAdmitted(t *testing.T) {
	g, err := nethttp.NewGuard(nethttp.GuardConfig{
		Name: "api", MaxWait: time.Minute,
		Admission: admission(func(context.Context) (spillway.Permit, error) { return spillway.Permit{}, nil }),
	})
	require.NoError(t, err)
	h := g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler ran") }))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	h.ServeHTTP(httptest.NewRecorder(), r.WithContext(causetest.Ended(t.Context())))
	require.EqualValues(t, 1, g.Stats().Canceled)
	require.Zero(t, g.Stats().Admitted)
}

// base is a RoundTripper that is a function.
type base func(*http.Request) (*http.Response, error)

func (f base) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Nor is a request sent whose context has ended in the wait for its permit.
func TestTransportStrangersContextThatIsDoneSendsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	rt, err := nethttp.NewTransport(nethttp.TransportConfig{
		Name: "api", Retry: retry.WritePolicy(),
		Base: base(func(*http.Request) (*http.Response, error) {
			t.Error("it was sent")
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}),
		Admission: admission(func(context.Context) (spillway.Permit, error) {
			cancel()
			return spillway.Permit{}, nil
		}),
	})
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodGet, "http://site/", nil)
	resp, err := rt.RoundTrip(r.WithContext(causetest.Merged{Context: ctx, Values: t.Context()}))
	if resp != nil {
		_ = resp.Body.Close()
	}
	require.ErrorIs(t, err, context.Canceled)
}

// The log says why a server ends.
func TestServeStrangersContextThatIsDoneIsTheReason(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var log bytes.Buffer
	_, err = nethttp.Serve(causetest.Ended(t.Context()), nethttp.ServeConfig{
		Server: &http.Server{ReadHeaderTimeout: time.Minute}, Listener: l,
		Shutdown: lifecycle.ShutdownConfig{Timeout: time.Minute}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, err)
	require.Contains(t, log.String(), `msg="nethttp: ending" why="context canceled"`)
}
