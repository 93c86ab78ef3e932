//go:build prometheus

package monitoring_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/monitoring"
)

// windows are those of the rules, for two scrapes a second: hours become seconds.
var windows = monitoring.Windows{
	Rate: 5 * time.Second, Baseline: 10 * time.Second, Lag: 3 * time.Second, Hold: time.Second, Long: 5 * time.Second,
}

// patience is how long something may take to show. It is generous: a machine may be busy.
const patience = 90 * time.Second

// start runs a program of the examples and returns the address that it prints behind a
// word. It ends with the test.
func start(t *testing.T, program, word string, args ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), program)
	build, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../"+program).CombinedOutput()
	require.NoError(t, err, string(build))
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	found := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		address := regexp.MustCompile(word + `(127\.0\.0\.1:[0-9]+)`)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if m := address.FindStringSubmatch(lines.Text()); m != nil {
				select {
				case found <- m[1]:
				default:
				}
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		_ = cmd.Wait()
	})
	select {
	case a := <-found:
		return a
	case <-ended:
		require.Fail(t, program+" ended before it said where it is")
	case <-time.After(patience):
		require.Fail(t, program+" doesn't say where it is")
	}
	return ""
}

// prometheus runs Prometheus with our rules, scraping the targets by name.
func prometheus(t *testing.T, targets map[string]string) (base string) {
	t.Helper()
	dir := t.TempDir()
	rules, err := windows.Rules()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yml"), rules, 0o644))
	config := "global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}\nrule_files: [rules.yml]\nscrape_configs:\n"
	for job, address := range targets {
		config += fmt.Sprintf("  - {job_name: %s, static_configs: [{targets: ['%s']}]}\n", job, address)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o644))
	l, err := net.Listen("tcp", "127.0.0.1:0") // a free port; Prometheus takes none by itself
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	cmd := exec.CommandContext(t.Context(), "prometheus", "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address, "--log.level=warn")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() })
	base = "http://" + address
	await(t, "Prometheus is ready", func() bool {
		res, err := http.Get(base + "/-/ready")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return base
}

// await asks again and again until something is so. Other processes are awaited here: they have no gates.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if is() {
			return
		}
	}
	require.Fail(t, "not within "+patience.String()+": "+what)
}

// query returns how many series a query has now, and their labels.
func query(t *testing.T, base, promql string) []map[string]string {
	t.Helper()
	res, err := http.Get(base + "/api/v1/query?query=" + url.QueryEscape(promql))
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct{ Metric map[string]string }
		}
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&answer))
	require.Equal(t, "success", answer.Status, "%s: %s", promql, answer.Error)
	var all []map[string]string
	for _, r := range answer.Data.Result {
		all = append(all, r.Metric)
	}
	return all
}

func TestEveryQueryHasData(t *testing.T) {
	otel := start(t, "observability", "metrics at http://", "-addr", "127.0.0.1:0")
	text := start(t, "httpservice", "operators=", "-addr", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-load", "tight", "-after", "1s")
	base := prometheus(t, map[string]string{"observability": otel, "httpservice": text})

	panels, err := windows.Panels()
	require.NoError(t, err)
	for _, p := range panels {
		for _, q := range p.Queries {
			promql := strings.NewReplacer("[[job]]", ".*", "[[instance]]", ".*").Replace(q.Query)
			await(t, p.Title+": "+promql, func() bool { return len(query(t, base, promql)) > 0 })
		}
	}
	alerts, err := windows.Alerts()
	require.NoError(t, err)
	series := regexp.MustCompile(`\bspillway[:_][a-z_:]+`)
	labels := regexp.MustCompile(`\{[^}]*\}|\([^()]*spillway_[a-z_]+_name[^()]*\)`)
	for _, a := range alerts {
		for _, name := range series.FindAllString(labels.ReplaceAllString(a.Query, ""), -1) {
			await(t, a.Name+": "+name, func() bool { return len(query(t, base, name)) > 0 })
		}
	}
	for _, job := range []string{"observability", "httpservice"} {
		require.Empty(t, query(t, base, `up{job="`+job+`"} == 0`))
	}
}

// ofReads reports whether an alert is about the database's lane of reads.
func ofReads(labels map[string]string) bool { return labels["spillway_lane_name"] == "read" }

// Each of the two fires in its own case and not in the other's, and none when all is quiet.
func TestAlerts(t *testing.T) {
	const tight, slow = "SpillwayLimitTight", "SpillwayBackendSlow"
	for _, tc := range []struct{ load, want, not string }{
		{"quiet", "", tight + "|" + slow},
		{"tight", tight, slow},
		{"slow", slow, tight},
	} {
		t.Run(tc.load, func(t *testing.T) {
			admin := start(t, "httpservice", "operators=", "-addr", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-load", tc.load, "-after", "20s")
			base := prometheus(t, map[string]string{"httpservice": admin})
			fired := func(name string) []map[string]string {
				return query(t, base, fmt.Sprintf(`count_over_time(ALERTS{alertname=~"%s",alertstate="firing"}[5m])`, name))
			}
			if tc.want == "" {
				await(t, "a baseline, and a while with it", func() bool {
					return len(query(t, base, `count_over_time(spillway:permit_hold_seconds:usual{spillway_lane_name="read"}[5m]) > 30`)) > 0
				})
			} else {
				await(t, tc.want, func() bool { return slices.ContainsFunc(fired(tc.want), ofReads) })
			}
			require.Empty(t, fired(tc.not))
			require.Empty(t, fired("SpillwayStuck|SpillwayNotConnected|SpillwayPanics|SpillwayPermitHeldLong"))
		})
	}
}
