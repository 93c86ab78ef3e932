package monitoring

import (
	"bytes"
	"fmt"
	"strconv"
)

// runbooks is where the pages are.
const runbooks = "https://github.com/spillway-go/spillway/blob/main/docs/runbooks/"

// Rules returns the rules for Prometheus, in YAML. Faulty windows give a
// *spillway.ConfigError.
func (w Windows) Rules() ([]byte, error) {
	alerts, err := w.Alerts()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("# Made by package monitoring from the table of metrics; a test keeps it in step. Don't edit.\ngroups:\n")
	b.WriteString("  - name: spillway-series\n    rules:\n")
	for _, r := range w.recordings() {
		fmt.Fprintf(&b, "      - record: %s\n        expr: %s\n", r.name, quote(r.query))
	}
	b.WriteString("  - name: spillway-alerts\n    rules:\n")
	for _, a := range alerts {
		fmt.Fprintf(&b, "      - alert: %s\n        expr: %s\n", a.Name, quote(a.Query))
		if a.For > 0 {
			fmt.Fprintf(&b, "        for: %s\n", promDuration(a.For))
		}
		fmt.Fprintf(&b, "        labels:\n          severity: %s\n", a.Severity)
		fmt.Fprintf(&b, "        annotations:\n          summary: %s\n          runbook_url: %s%s.md\n", quote(a.Summary), runbooks, a.Runbook)
	}
	return b.Bytes(), nil
}

// quote makes a text a string of YAML; a string of JSON is one.
func quote(s string) string { return strconv.Quote(s) }
