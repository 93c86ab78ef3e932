package debugz_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/observe"
)

// both reads the metrics in either format, strictly.
func both(t *testing.T, components ...observe.Observable) (text, open exposition) {
	t.Helper()
	page := debugz.Handler(components...)
	return readExposition(t, get(t, page, "metrics"), false), readExposition(t, get(t, page, "openmetrics"), true)
}

// snapshots is an Observable that says what it was told to.
func snapshots(all ...observe.Snapshot) observe.Observable {
	return play(func(time.Duration) []observe.Snapshot { return all })
}

// G-DBZ-9: every point of every component is there, under the name that OpenTelemetry's exporter would give it.
func TestMetricsAreTheTable(t *testing.T) {
	all := []observe.Snapshot{}
	components := play(shop)
	for s := range observe.All(components) {
		all = append(all, s)
	}
	text, open := both(t, snapshots(all...))
	points := 0
	for _, s := range all {
		for p := range s.Points() {
			points++
			name := p.Metric.PrometheusName()
			var labels []string
			for _, a := range p.Attributes {
				labels = append(labels, observe.PrometheusLabel(a.Key)+`="`+a.Value+`"`)
			}
			require.Equal(t, p.Metric.Description, text.helps[name])
			family := name
			if p.Metric.Kind == observe.Counter {
				family = strings.TrimSuffix(name, "_total")
			}
			require.Equal(t, p.Metric.Description, open.helps[family])
			require.Equal(t, p.Metric.PrometheusUnit(), open.units[family])
			if p.Metric.Kind == observe.Histogram {
				require.Equal(t, "histogram", text.kinds[name])
				continue
			}
			found := 0
			for id, v := range text.series {
				if strings.HasPrefix(id, name+"{") && strings.Count(id, `="`) == len(labels) && containsAll(id, labels) {
					require.InDelta(t, p.Value, v, 1e-9, id)
					require.Equal(t, v, open.series[id])
					found++
				}
			}
			require.Equal(t, 1, found, "%s %v", name, labels)
		}
	}
	require.Greater(t, points, 100)
	require.Equal(t, "counter", text.kinds["spillway_limiter_acquisitions_total"])
	require.Equal(t, "counter", open.kinds["spillway_limiter_acquisitions"])
	require.Equal(t, "gauge", text.kinds["spillway_limiter_permit_usage"])
	require.Equal(t, 16.0, text.series[`spillway_limiter_permit_usage{spillway_limiter_name="profiles"}`])
	require.Equal(t, 0.0, text.series[`spillway_lifecycle_status{spillway_component_name="cluster",spillway_lifecycle_state="closing"}`])
	require.NotContains(t, strings.Join(keys(text.series), " "), "10.0.0.", "nodes come and go, and series stay")
}

func containsAll(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

func keys[V any](m map[string]V) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

// G-DBZ-9: the bounds of the buckets are bounds that durations are counted by, so the counts are exact.
func TestHistogramsAreExact(t *testing.T) {
	var d spillway.Distribution
	times := []time.Duration{
		0, time.Microsecond, 1 << 16, 1<<16 + 1, 2 * ms, time.Second, 1 << 30, 1<<30 + 1, 1 << 36, 1<<36 + 1, time.Hour, math.MaxInt64,
	}
	for _, x := range times {
		d = took(d, 1, x)
	}
	d.Sum = 42 * time.Second
	m := observe.Metric{Name: "own.wait", Kind: observe.Histogram, Unit: "s", Description: "x"}
	text, open := both(t, snapshots(observe.Snapshot{Component: "own", Own: []observe.Point{{Metric: m, Distribution: &d}}}))
	require.Len(t, text.series, 21+1+2)
	for id, n := range text.series {
		bound, ok := strings.CutPrefix(id, `own_wait_seconds_bucket{le="`)
		if !ok || strings.HasPrefix(bound, "+Inf") {
			continue
		}
		limit, err := time.ParseDuration(strings.TrimSuffix(bound, `"}`) + "s")
		if err != nil { // as in 6.5536e-05
			limit = 65536
		}
		exact := 0.0
		for _, x := range times {
			if x <= limit {
				exact++
			}
		}
		require.Equal(t, exact, n, id)
	}
	require.Equal(t, 12.0, text.series["own_wait_seconds_count"])
	require.Equal(t, 12.0, text.series[`own_wait_seconds_bucket{le="+Inf"}`])
	require.Equal(t, 42.0, open.series["own_wait_seconds_sum"])
}

// G-DBZ-9: whatever names and values there are, the text can be read.
func TestMetricsSurviveAnything(t *testing.T) {
	const nasty = "a\"b\\c\nd é \xff {}="
	gauge := func(name string, v float64, attributes ...observe.Attribute) observe.Point {
		return observe.Point{Metric: observe.Metric{Name: name, Kind: observe.Gauge, Description: nasty}, Value: v, Attributes: attributes}
	}
	counter := func(name string, v float64) observe.Point {
		return observe.Point{Metric: observe.Metric{Name: name, Kind: observe.Counter}, Value: v}
	}
	limited := laneOf(1, 0, 5, ms)
	text, open := both(t, snapshots(
		observe.Snapshot{Component: "lane", Name: nasty, Laned: limited},
		observe.Snapshot{Component: "own", Own: []observe.Point{
			gauge("own.inf", math.Inf(1)), gauge("own.minus", math.Inf(-1)), gauge("own.nan", math.NaN()),
			gauge("own.label", 1, observe.Attribute{Key: "x.y", Value: nasty}, observe.Attribute{Key: "x-y", Value: "2"}),
			gauge("own.reserved", 1, observe.Attribute{Key: "le", Value: "1"}), gauge("own.reserved", 1, observe.Attribute{Key: "__a", Value: "1"}),
			gauge("own.nameless", 1, observe.Attribute{Key: "é", Value: "1"}),
			gauge("own.twice", 1), gauge("own.twice", 2),
			gauge("own.folded", 1), gauge("own-folded", 2),
			counter("own.count", 3), gauge("own.count.total", 4), gauge("own.count", 5),
			counter("own.negative", -1), counter("own.negative", math.NaN()),
			gauge("", 1), gauge("…", 1), gauge("1st", 1),
			{Metric: observe.Metric{Name: "own.empty", Kind: observe.Histogram, Unit: "s"}},
			{Metric: observe.Metric{Name: "own.flat", Kind: observe.Gauge}, Distribution: &spillway.Distribution{}},
			{Metric: observe.Metric{Name: "own.h", Kind: observe.Histogram, Unit: "{thing}"}, Distribution: &spillway.Distribution{}},
			gauge("own.h.sum", 1),
		}},
	))
	want := `{spillway_limiter_name="a\"b\\c\nd é ` + "\uFFFD" + ` {}="}`
	require.Contains(t, text.series, "spillway_limiter_permit_limit"+want)
	require.Contains(t, text.series, `own_label{x_y="a\"b\\c\nd é `+"\uFFFD"+` {}=;2"}`)
	require.True(t, math.IsInf(text.series["own_inf"], 1) && math.IsInf(text.series["own_minus"], -1) && math.IsNaN(text.series["own_nan"]))
	require.Equal(t, 1.0, text.series["own_twice"], "the first one counts")
	require.Equal(t, 1.0, text.series["own_folded"])
	require.Equal(t, 3.0, text.series["own_count_total"])
	require.Contains(t, text.series, "_1st")
	for _, not := range []string{"own_reserved", "own_nameless", "own_negative_total", "own_flat", "own_h_sum", "own_count"} {
		if not == "own_h_sum" {
			require.Equal(t, 0.0, text.series[not], "that of the histogram")
			continue
		}
		require.NotContains(t, text.series, not)
	}
	require.Equal(t, len(text.series), len(open.series))
}

// Two components of one name would be one series with two values: the scrape would fail as a whole.
func TestComponentsOfOneNameDontMix(t *testing.T) {
	one, two := laneOf(1, 1, 5, ms), laneOf(2, 2, 7, ms)
	page := debugz.Handler(snapshots(observe.Snapshot{Component: "lane", Name: "db", Laned: one}), snapshots(observe.Snapshot{Component: "lane", Name: "db", Laned: two}))
	text := readExposition(t, get(t, page, "metrics"), false)
	require.Equal(t, 1.0, text.series[`spillway_limiter_permit_limit{spillway_limiter_name="db"}`])
	s := look(t, page)
	require.Len(t, s.Entries, 2, "the page shows both")
	require.Len(t, s.Faults, 1)
	require.Contains(t, s.Faults[0], "lane db")
}

func TestNoComponentsAreNoMetrics(t *testing.T) {
	page := debugz.Handler(nil)
	require.Empty(t, get(t, page, "metrics"))
	require.Equal(t, "# EOF\n", get(t, page, "openmetrics"))
	require.Contains(t, get(t, page, "html"), "0 components")
	require.Contains(t, get(t, page, "text"), "Nothing needs anybody")
}
