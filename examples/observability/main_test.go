package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// collector takes what is sent to it, and says when it has something of each kind.
type collector struct {
	mu   sync.Mutex
	got  map[string]string // by path, all bodies
	both chan struct{}     // closed when there are metrics and traces
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got[r.URL.Path] += string(body)
	if len(c.got) == 2 {
		select {
		case <-c.both:
		default:
			close(c.both)
		}
	}
}

// Metrics and spans of the calls reach a collector by the variables that every program with OpenTelemetry knows.
func TestSendsToACollector(t *testing.T) {
	c := &collector{got: map[string]string{}, both: make(chan struct{})}
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "100")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, "otlp", "") }()
	select {
	case <-c.both:
	case err := <-ended:
		require.NoError(t, err)
		require.Fail(t, "it ended by itself")
	}
	cancel()
	require.NoError(t, <-ended)
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, want := range map[string][]string{
		"/v1/metrics": {"spillway.limiter.permit.limit", "db.client.operation.duration", "spillway.executor.queue.size"},
		"/v1/traces":  {"GET users", "db.system.name", "aerospike"},
	} {
		for _, w := range want {
			require.True(t, strings.Contains(c.got[path], w), "%s has no %s", path, w)
		}
	}
}

// A collector that never answers doesn't keep the program from ending.
func TestEndsWithoutItsCollector(t *testing.T) {
	asked, ended := make(chan struct{}, 1000), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-ended
	}))
	defer server.Close()
	defer close(ended)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "100")
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- run(ctx, "otlp", "") }()
	<-asked
	cancel()
	select {
	case err := <-over:
		require.ErrorIs(t, err, context.DeadlineExceeded)
	case <-time.After(30 * time.Second):
		require.Fail(t, "it waits for its collector")
	}
}

func TestUnknownExporter(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), "carrier pigeon", ""), `-exporter is "carrier pigeon"`)
}
