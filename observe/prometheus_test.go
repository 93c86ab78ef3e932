package observe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/observe"
)

// The names on the right are those of github.com/prometheus/otlptranslator v1.0.0, which OpenTelemetry's exporter v0.69 goes by.
func TestPrometheusNames(t *testing.T) {
	for _, c := range []struct {
		name string
		kind observe.Kind
		unit string
		want string
		word string
	}{
		{"spillway.limiter.permit.limit", observe.UpDownCounter, "{permit}", "spillway_limiter_permit_limit", ""},
		{"spillway.limiter.permit.oldest.age", observe.Gauge, "s", "spillway_limiter_permit_oldest_age_seconds", "seconds"},
		{"spillway.limiter.acquisitions", observe.Counter, "{acquisition}", "spillway_limiter_acquisitions_total", ""},
		{"spillway.limiter.hold.time", observe.Counter, "s", "spillway_limiter_hold_time_seconds_total", "seconds"},
		{"spillway.limiter.hold.duration", observe.Histogram, "s", "spillway_limiter_hold_duration_seconds", "seconds"},
		{"spillway.lifecycle.status", observe.UpDownCounter, "1", "spillway_lifecycle_status", ""},
		{"x.share", observe.Gauge, "1", "x_share_ratio", ""},
		{"x.ratio.used", observe.Gauge, "1", "x_used_ratio", ""},
		{"x.total.things", observe.Counter, "{thing}", "x_things_total", ""},
		{"x.wait.seconds", observe.Gauge, "s", "x_wait_seconds", "seconds"},
		{"x.rate", observe.Gauge, "By/s", "x_rate_bytes_per_second", "bytes_per_second"},
		{"x.size", observe.Gauge, "MBy", "x_size_megabytes", "megabytes"},
		{"x.power", observe.Gauge, "W", "x_power_watts", "watts"},
		{"x.visits", observe.Gauge, "{visit}/mo", "x_visits_per_month", "per_month"},
		{"x.speed", observe.Gauge, "{thing}/s", "x_speed_per_second", "per_second"},
		{"x.pages", observe.Gauge, "{page}/{row}", "x_pages", ""},
		{"x..two--words__here", observe.Gauge, "", "x_two_words_here", ""},
		{"2fast", observe.Gauge, "ms", "_2fast_milliseconds", "milliseconds"},
		{"x", observe.Gauge, "foo.bar", "x_foo_bar", "foo_bar"},
		{"naïve", observe.Gauge, "", "na_ve", ""},
		{"…", observe.Gauge, "", "", ""},
	} {
		m := observe.Metric{Name: c.name, Kind: c.kind, Unit: c.unit}
		require.Equal(t, c.want, m.PrometheusName(), c.name)
		require.Equal(t, c.word, m.PrometheusUnit(), c.name)
	}
}

func TestPrometheusLabels(t *testing.T) {
	for in, want := range map[string]string{
		"spillway.limiter.name": "spillway_limiter_name", "error.type": "error_type",
		"a..b": "a_b", "1st": "key_1st", "_x": "_x", "": "", "..": "", "ä": "",
	} {
		require.Equal(t, want, observe.PrometheusLabel(in), in)
	}
}

// Two metrics that became one in Prometheus would break the scrape as a whole.
func TestNamesOfTheTableDifferInPrometheus(t *testing.T) {
	seen := map[string]string{}
	for _, m := range observe.Table() {
		name := m.PrometheusName()
		require.Regexp(t, `^spillway(_[a-z]+)+$`, name)
		require.NotContains(t, seen, name, "%s and %s", m.Name, seen[name])
		seen[name] = m.Name
		for _, a := range m.Attributes {
			require.NotEmpty(t, observe.PrometheusLabel(a))
		}
	}
}
