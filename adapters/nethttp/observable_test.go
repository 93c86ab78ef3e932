//go:build go1.25

package nethttp_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
)

// lines are the points of components, a line each; what they have from others' tables is
// left out. Each own point's metric is one that its component names in advance.
func lines(t *testing.T, all ...observe.Observable) (points, components []string) {
	t.Helper()
	named := observe.Metrics(all...)
	for s := range observe.All(all...) {
		components = append(components, s.Component+" "+s.Name)
		for _, p := range s.Own {
			require.True(t, slices.ContainsFunc(named, func(m observe.Metric) bool { return m.Name == p.Metric.Name }), p.Metric.Name)
			var values []string
			for _, a := range p.Attributes {
				require.Contains(t, p.Metric.Attributes, a.Key)
				values = append(values, a.Value)
			}
			if p.Value != 0 {
				points = append(points, p.Metric.Name+" "+strings.Join(values, " "))
			}
		}
	}
	return points, components
}

func TestGuardIsObserved(t *testing.T) {
	l, err := limiter.New[any](limiter.Config{Name: "front", Limit: 1})
	require.NoError(t, err)
	g, err := nethttp.NewGuard(nethttp.DefaultGuardConfig("web", l))
	require.NoError(t, err)
	var inside []string
	h := g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside, _ = lines(t, g) }))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	require.Contains(t, inside, "spillway.http.server.serving web")
	points, components := lines(t, g)
	require.Equal(t, []string{"http guard web"}, components)
	require.Equal(t, []string{"spillway.http.server.requests web admitted"}, points)
}

func TestTransportIsObserved(t *testing.T) {
	b := &backend{do: func(int, *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}}
	cfg := nethttp.DefaultTransportConfig("billing", nil)
	cfg.Base = b
	tr, err := nethttp.NewTransport(cfg)
	require.NoError(t, err)
	points, components := lines(t, tr)
	require.Equal(t, []string{"http transport billing", "retry billing", "retry billing.once", "budget billing"}, components)
	require.Empty(t, points)
	_, components = lines(t, &nethttp.Transport{})
	require.Equal(t, []string{"http transport "}, components)
}
