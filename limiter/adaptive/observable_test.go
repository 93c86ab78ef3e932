package adaptive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
	"github.com/spillway-go/spillway/observe"
)

func TestControllerIsObserved(t *testing.T) {
	l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 16})
	require.NoError(t, err)
	cfg := adaptive.DefaultConfig(32)
	cfg.Classes = []adaptive.Class{{Name: "batch", Target: 1750}}
	ctl, err := adaptive.Drive(l, cfg)
	require.NoError(t, err)
	require.NoError(t, ctl.SetTrusted(true))
	named := map[string]bool{}
	for _, m := range ctl.Metrics() {
		named[m.Name] = true
	}
	points := map[string]float64{}
	for s := range observe.All(ctl, &adaptive.Controller{}) {
		require.Equal(t, "adaptive db", s.Component+" "+s.Name)
		for _, p := range s.Own {
			require.True(t, named[p.Metric.Name], p.Metric.Name)
			name := p.Metric.Name
			for _, a := range p.Attributes[1:] {
				require.Contains(t, p.Metric.Attributes, a.Key)
				name += " " + a.Value
			}
			points[name] = p.Value
		}
	}
	require.InDelta(t, 8, points["spillway.adaptive.limit"], 0)
	require.InDelta(t, 1e-6, points["spillway.adaptive.reference batch"], 1e-12)
	require.InDelta(t, 1, points["spillway.adaptive.changes operator"], 0)
	require.Contains(t, points, "spillway.adaptive.changes silence")
	require.NotContains(t, points, "spillway.adaptive.changes steady")

	require.NoError(t, ctl.SetStatic(20))
	require.Equal(t, 20, ctl.Stats().Static)
	require.ErrorContains(t, ctl.SetStatic(33), "Limit is 33: must be from Min to Max, 0.1 to 32")
	require.NoError(t, ctl.Stop())
	require.Equal(t, 20, l.Limit(), "the static limit is what the operator has said last")
	require.Equal(t, uint64(1), l.Stats().Raised)
	require.Equal(t, uint64(1), l.Stats().Lowered)
}
