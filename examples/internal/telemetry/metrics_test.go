package telemetry_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/limiter/adaptive"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/otelx"
)

var update = flag.Bool("update", false, "write docs/metrics.md")

// M-07: after a reconnect to a second cluster no sample carries anything of the first one,
// and totals go on.
func TestReconnectToASecondCluster(t *testing.T) {
	blue := aerospiketest.NewServer(t, aerospiketest.Config{ClusterName: "blue", Nodes: 2})
	s := newStation(t)
	client := s.connect(t, blue, "main")
	fill(t, client, 20)
	first := s.collect(t)
	const attempts = "aerospike.client.connection.attempts"
	require.Positive(t, sum(first, attempts, "aerospike.cluster.name=blue"))
	require.NoError(t, client.Close(patient(t)))
	addr := blue.Addr()
	blue.Close()
	for id := range s.collect(t) {
		require.NotContains(t, id, "blue", "while there is no connection")
	}

	green := aerospiketest.NewServer(t, aerospiketest.Config{ClusterName: "green", Addr: addr})
	require.NoError(t, client.Connect(patient(t)))
	fill(t, client, 5)
	second := s.collect(t)
	for id := range second {
		require.NotContains(t, id, "blue")
	}
	require.Greater(t, sum(second, attempts, "aerospike.cluster.name=green"), sum(first, attempts))
	require.InDelta(t, 25, sum(second, "spillway.limiter.acquisitions", "spillway.lane.name=write"), 0)
	require.InDelta(t, 25, sum(second, "db.client.operation.duration", "db.operation.name=PUT"), 0)
	require.InDelta(t, 2, sum(second, "spillway.lifecycle.connect.duration"), 0)
	require.InDelta(t, 1, sum(second, "spillway.lifecycle.drain.duration"), 0)
	for _, m := range observe.Metrics(client) {
		if m.Kind == observe.Counter {
			require.GreaterOrEqual(t, sum(second, m.Name), sum(first, m.Name), m.Name)
		}
	}
	require.NoError(t, client.Close(patient(t)))
	green.Close()
}

// M-07: two clients of one program share nothing: no sample lacks the name of its client.
func TestTwoClientsNeverMix(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	s := newStation(t)
	a, b := s.connect(t, srv, "a"), s.connect(t, srv, "b")
	fill(t, a, 3)
	_, err := b.Exists(patient(t), nil, newKey(t, 1))
	require.NoError(t, err)
	points := s.collect(t)
	for id := range points {
		named := strings.HasSuffix(id, "=a") || strings.HasSuffix(id, "=b")
		for _, name := range []string{"=a ", "=b ", "=a/", "=b/"} {
			named = named || strings.Contains(id, name)
		}
		require.True(t, named, id)
	}
	require.InDelta(t, 3, sum(points, "db.client.operation.duration", "spillway.component.name=a"), 0)
	require.InDelta(t, 1, sum(points, "db.client.operation.duration", "spillway.component.name=b"), 0)
	cfg := aerospike.DefaultConfig(srv.Hosts()...)
	cfg.Name = "a"
	twin, err := aerospike.New(cfg)
	require.NoError(t, err)
	_, err = s.Register(twin)
	var duplicate *otelx.DuplicateError
	require.ErrorAs(t, err, &duplicate)
}

// G-OTEL-1; R154, R155: what the SDK's reader sees of a client under all kinds of calls is
// what the tables say, and the client's own metrics are all there.
func TestMetricsAreThoseOfTheTables(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{ClusterName: "blue"})
	s := newStation(t)
	client := s.connect(t, srv, "main")
	fill(t, client, 3)
	for _, op := range aerospike.Operations() {
		if op.Exempt == "" && op.Name != "TaskDone" {
			_ = call(t, client, op.Name)
		}
	}
	rows := map[string]observe.Metric{}
	for _, m := range slices.Concat(observe.Table(), otelx.Metrics(), client.Metrics()) {
		rows[m.Name] = m
	}
	seen := s.metrics(t)
	for name, m := range seen {
		row, ok := rows[name]
		require.True(t, ok, name)
		require.Equal(t, []string{row.Kind.String(), row.Unit, row.Description}, []string{kindOf(m), m.Unit, m.Description}, name)
		each(t, m, func(set attribute.Set, _ float64) {
			for _, a := range set.ToSlice() {
				require.Contains(t, row.Attributes, string(a.Key), name)
			}
		})
	}
	for _, m := range client.Metrics() {
		require.Contains(t, seen, m.Name)
	}
}

func kindOf(m metricdata.Metrics) string {
	monotonic := map[bool]string{true: "counter", false: "updowncounter"}
	switch d := m.Data.(type) {
	case metricdata.Sum[int64]:
		return monotonic[d.IsMonotonic]
	case metricdata.Sum[float64]:
		return monotonic[d.IsMonotonic]
	case metricdata.Gauge[float64]:
		return "gauge"
	case metricdata.Histogram[float64], metricdata.Histogram[int64]:
		return "histogram"
	}
	return fmt.Sprintf("%T", m.Data)
}

// R156: the page of metrics is in step with the tables.
func TestMetricsPage(t *testing.T) {
	const path = "../../../docs/metrics.md"
	want := page()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o600))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "go test ./examples/internal/telemetry -run TestMetricsPage -update")
}

// R156: and nobody who describes metrics of his own is missing from it.
func TestMetricsPageHasEveryDescriber(t *testing.T) {
	declared := regexp.MustCompile(`_ observe\.Describer\s+= \(\*(\w+)\)\(nil\)`)
	var found []string
	require.NoError(t, filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			found = append(found, filepath.Base(filepath.Dir(path))+"."+string(m[1]))
		}
		return err
	}))
	require.ElementsMatch(t, []string{"adaptive.Controller", "aerospike.Client", "nethttp.Guard", "nethttp.Transport"}, found, "put it into page")
}

const head = `# Metrics

Every metric of Spillway, by OpenTelemetry's name and by the one that Prometheus shows it under. This page is written by
` + "`go test ./examples/internal/telemetry -run TestMetricsPage -update`" + ` from the tables in the code, and a test holds the two together.
How to get them: [guides/telemetry.md](guides/telemetry.md). All of them may still change until v1.

A counter only grows; an updowncounter goes up and down, and may be added up; a gauge may not. An attribute that is in italics is not on
every sample. ` + "`error.type`" + ` is missing on success. In Prometheus dots become underscores, in attributes too.

`

// page is the whole of docs/metrics.md.
func page() string {
	var b strings.Builder
	b.WriteString(head)
	section := func(title, says string, rows []observe.Metric) {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n| name | kind | unit | attributes | what it says |\n|---|---|---|---|---|\n", title, says)
		for _, m := range rows {
			fmt.Fprintf(&b, "| `%s`<br>`%s` | %s | %s | %s | %s%s |\n",
				m.Name, prometheusName(m), m.Kind, strings.Trim(m.Unit, "{}"), attributeList(m), m.Description, note(m))
		}
		b.WriteString("\n")
	}
	section("Components", "Of each limiter, lane, executor, retrier, budget, machine and registry that is registered, under its name.", observe.Table())
	section("Adaptive limits", "Of each controller that is registered, under the name of its guard, which is a component of its own.", (*adaptive.Controller)(nil).Metrics())
	section("HTTP", "Of each guard and transport that is registered, beside those of its admission, retriers and budget.",
		slices.Concat((*nethttp.Guard)(nil).Metrics(), (*nethttp.Transport)(nil).Metrics()))
	section("Aerospike client", "Beside those of its lanes, retriers, budgets and machine.", (*aerospike.Client)(nil).Metrics())
	section("Calls and operations", "Of the observer, the middleware and the decorator of package otelx.", otelx.Metrics())
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// note says where a histogram is to be had.
func note(m observe.Metric) string {
	switch {
	case strings.HasPrefix(m.Name, "db.client.response"):
		return " (with `WithReturnedRows`)"
	case m.Kind != observe.Histogram || !strings.HasPrefix(m.Name, "spillway.") || slices.ContainsFunc(otelx.Metrics(), func(o observe.Metric) bool { return o.Name == m.Name }):
		return ""
	case slices.Contains(otelx.Recorded(), m.Name):
		return " (through OpenTelemetry: by the hooks of otelx)"
	}
	return " (not through OpenTelemetry)"
}

// attributeList shows those that not every sample has in italics.
func attributeList(m observe.Metric) string {
	always := map[string]bool{
		"spillway.limiter.name": true, "spillway.executor.name": true, "spillway.executor.worker.state": true, "spillway.retry.name": true,
		"spillway.retry.attempt.type": true, "spillway.retry.budget.name": true, "spillway.component.name": true, "spillway.lifecycle.state": true,
		"spillway.lifecycle.previous_state": true, "spillway.adaptive.class": true, "spillway.adaptive.cause": true, "spillway.http.result": true, "spillway.outcome": true, "db.system.name": true, "db.operation.name": true, "spillway.operation.name": true,
	}
	if strings.HasPrefix(m.Name, "db.client.") || m.Name == "spillway.backend.duration" {
		delete(always, "spillway.component.name") // of clients that have a name
	}
	var all []string
	for _, a := range m.Attributes {
		if always[a] {
			all = append(all, "`"+a+"`")
		} else {
			all = append(all, "*`"+a+"`*")
		}
	}
	return strings.Join(all, ", ")
}

// prometheusName is the name that the exporter for Prometheus makes, with its default of
// underscores and suffixes.
func prometheusName(m observe.Metric) string {
	name := strings.ReplaceAll(m.Name, ".", "_")
	if m.Unit == "s" {
		name += "_seconds"
	}
	switch m.Kind {
	case observe.Counter:
		return name + "_total"
	case observe.Histogram:
		return name + "_bucket"
	default:
		return name
	}
}
