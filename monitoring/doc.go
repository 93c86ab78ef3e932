// Package monitoring holds a dashboard for Grafana and rules for Prometheus, and makes
// both from the table of metrics in package observe, so that no name in them can be wrong.
//
// Most want the files: grafana/spillway.json and prometheus/spillway.rules.yml. A program
// needs this package only to make them with windows of its own: see [Windows].
//
// # Guarantees
//
//   - G-MON-1: every metric and label of a rule or a panel is one of the table, or of the
//     database conventions of OpenTelemetry.
//   - G-MON-2: the files are what this package makes.
//   - G-MON-3: every alert has a severity, a sentence, and a page in docs/runbooks.
//   - G-MON-4: a tight limit and a slow backend are different alerts, and neither fires in
//     the other's case.
//
// # When not to use it
//
// To look at one process, mount the page of package debugz.
package monitoring
