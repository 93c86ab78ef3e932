package monitoring_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/monitoring"
	"github.com/spillway-go/spillway/observe"
)

var update = flag.Bool("update", false, "write the files anew")

func TestFilesAreInStep(t *testing.T) {
	w := monitoring.DefaultWindows()
	for file, make := range map[string]func() ([]byte, error){
		"prometheus/spillway.rules.yml": w.Rules,
		"grafana/spillway.json":         w.Dashboard,
	} {
		want, err := make()
		require.NoError(t, err)
		if *update {
			require.NoError(t, os.WriteFile(file, want, 0o644))
		}
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%s is not what the package makes: go test ./monitoring -update", file)
	}
}

// foreign are the names that don't come from the table: the database conventions of OpenTelemetry, and its SDK's mark.
var foreign = []string{
	"db_client_operation_duration_seconds", "db_operation_name", "db_system_name", "otel_metric_overflow", "error_type",
}

// known are all names that a query may have, without the suffixes of histograms.
func known() map[string]bool {
	names := map[string]bool{}
	for _, m := range observe.Table() {
		names[m.PrometheusName()] = true
		for _, a := range m.Attributes {
			names[observe.PrometheusLabel(a)] = true
		}
	}
	for _, n := range foreign {
		names[n] = true
	}
	return names
}

var (
	strs  = regexp.MustCompile(`"[^"]*"`)
	words = regexp.MustCompile(`\b(spillway|db|otel|error)_[a-z_]+`)
)

func checkNames(t *testing.T, query string) {
	t.Helper()
	names := known()
	found := words.FindAllString(strs.ReplaceAllString(query, ""), -1)
	for _, name := range found {
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base, ok := strings.CutSuffix(name, suffix); ok && names[base] {
				name = base
			}
		}
		require.Contains(t, names, name, query)
	}
}

func TestQueriesNameWhatThereIs(t *testing.T) {
	w := monitoring.DefaultWindows()
	alerts, err := w.Alerts()
	require.NoError(t, err)
	for _, a := range alerts {
		checkNames(t, a.Query)
		checkNames(t, strings.ReplaceAll(a.Summary, "$labels.", ""))
	}
	panels, err := w.Panels()
	require.NoError(t, err)
	for _, p := range panels {
		require.NotEmpty(t, p.Help, p.Title)
		for _, q := range p.Queries {
			require.NotContains(t, q.Query, "$", p.Title)
			checkNames(t, q.Query)
			checkNames(t, q.Legend)
		}
	}
}

func TestEveryAlertHasItsPage(t *testing.T) {
	alerts, err := monitoring.DefaultWindows().Alerts()
	require.NoError(t, err)
	pages := map[string]bool{}
	files, err := filepath.Glob("../docs/runbooks/*.md")
	require.NoError(t, err)
	for _, f := range files {
		pages[strings.TrimSuffix(filepath.Base(f), ".md")] = false
	}
	names := map[string]bool{}
	for _, a := range alerts {
		require.False(t, names[a.Name], "%s twice", a.Name)
		names[a.Name] = true
		require.Contains(t, []string{monitoring.Page, monitoring.Warn}, a.Severity, a.Name)
		require.NotEmpty(t, a.Summary, a.Name)
		require.Contains(t, pages, a.Runbook, "no page for %s", a.Name)
		page, err := os.ReadFile("../docs/runbooks/" + a.Runbook + ".md")
		require.NoError(t, err)
		require.Contains(t, string(page), a.Name, "the page doesn't name its alert")
		pages[a.Runbook] = true
	}
	for page, used := range pages {
		require.True(t, used || page == "README", "a page without an alert: %s", page)
	}
}

// A page that sends somebody to a panel calls it what it is called.
func TestRunbooksNamePanelsThatThereAre(t *testing.T) {
	panels, err := monitoring.DefaultWindows().Panels()
	require.NoError(t, err)
	titles := map[string]bool{}
	for _, p := range panels {
		titles[p.Title] = true
	}
	files, err := filepath.Glob("../docs/runbooks/*.md")
	require.NoError(t, err)
	emphasized, named := regexp.MustCompile(`\*([^*\n]+)\*`), 0
	for _, f := range files {
		page, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range emphasized.FindAllStringSubmatch(string(page), -1) {
			if !strings.HasPrefix(m[1], "Alert: ") {
				require.True(t, titles[m[1]], "%s: there is no panel %q", filepath.Base(f), m[1])
				named++
			}
		}
	}
	require.Greater(t, named, 20)
}

// The cases themselves are in spillway.test.yml, for promtool.
func TestTightIsNotSlow(t *testing.T) {
	alerts, err := monitoring.DefaultWindows().Alerts()
	require.NoError(t, err)
	queries := map[string]string{}
	for _, a := range alerts {
		queries[a.Name] = a.Query
	}
	slow := queries["SpillwayBackendSlow"]
	require.NotEmpty(t, slow)
	require.Regexp(t, `unless on \(.*\) \(`+regexp.QuoteMeta(slow)+`\)$`, queries["SpillwayLimitTight"])
}

func TestEveryAlertIsTested(t *testing.T) {
	alerts, err := monitoring.DefaultWindows().Alerts()
	require.NoError(t, err)
	tests, err := os.ReadFile("prometheus/spillway.test.yml")
	require.NoError(t, err)
	for _, a := range alerts {
		require.Contains(t, string(tests), "alertname: "+a.Name+"\n", "promtool's tests never see it")
	}
}

func TestDashboardIsOneGrafanaReads(t *testing.T) {
	raw, err := monitoring.DefaultWindows().Dashboard()
	require.NoError(t, err)
	var d struct {
		UID    string
		Panels []struct {
			ID      int
			Type    string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr, RefID string }
		}
	}
	require.NoError(t, json.Unmarshal(raw, &d))
	taken, ids := map[[2]int]bool{}, map[int]bool{}
	graphs := 0
	for _, p := range d.Panels {
		require.False(t, ids[p.ID])
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			require.Less(t, x, 24)
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				require.False(t, taken[[2]int{x, y}], "panel %d covers another", p.ID)
				taken[[2]int{x, y}] = true
			}
		}
		if p.Type != "row" {
			graphs++
			require.NotEmpty(t, p.Targets)
		}
	}
	panels, err := monitoring.DefaultWindows().Panels()
	require.NoError(t, err)
	require.Len(t, panels, graphs)
}

func TestFaultyWindows(t *testing.T) {
	_, err := monitoring.Windows{Rate: time.Minute}.Rules()
	var faults *spillway.ConfigError
	require.ErrorAs(t, err, &faults)
	require.Len(t, faults.Faults, 4)
	require.ErrorContains(t, err, "Baseline is 0s: must be at least 1ms")
	_, err = monitoring.Windows{}.Dashboard()
	require.Error(t, err)
}

// By the windows' own word there are four scrapes in Rate, so two are in half of it, and a
// rate needs two.
func TestNoQueryLooksAtLessThanTwoScrapes(t *testing.T) {
	for _, rate := range []time.Duration{monitoring.DefaultWindows().Rate, 20 * time.Minute, 40 * time.Minute} {
		w := monitoring.DefaultWindows()
		w.Rate = rate
		rules, err := w.Rules()
		require.NoError(t, err)
		dashboard, err := w.Dashboard()
		require.NoError(t, err)
		for _, span := range regexp.MustCompile(`\[([0-9]+[a-z]+)\]`).FindAllSubmatch(append(rules, dashboard...), -1) {
			d, err := time.ParseDuration(string(span[1]))
			require.NoError(t, err)
			require.GreaterOrEqual(t, d, rate/2)
		}
	}
}
