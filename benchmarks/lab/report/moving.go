package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/spillway-go/spillway/benchmarks/lab"
)

// mostWorse is by how much a limit that moves may be worse than the one that it started from.
const mostWorse = .02

// moving writes what the limits that move reach, beside those that they started from.
func moving(s *strings.Builder, b *lab.Board) {
	ran := map[string]bool{}
	for _, p := range b.All() {
		ran[p.Name] = true
	}
	for _, p := range b.All() {
		if p.Static == "" || !ran[p.Static] {
			continue
		}
		var rows strings.Builder
		worse, all := 0, 0
		for _, w := range b.Workloads() {
			m := w.Headline()
			static, moves := b.Median(w, p.Static, m), b.Median(w, p.Name, m)
			if math.IsNaN(static) || math.IsNaN(moves) {
				continue
			}
			all++
			says := ""
			switch {
			case moves < static-mostWorse:
				worse++
				says = "**worse**"
			case moves > static+mostWorse:
				says = "better"
			default:
				continue // the same
			}
			fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s |\n", w.Name(), m.Name(), m.Format(static), m.Format(moves), says)
		}
		fmt.Fprintf(s, "## `%s` beside `%s`, which it starts from\n\nWorse by more than %.0f %% of what was possible in %d of %d workloads (medians); those that differ:\n\n| workload | figure | %s | %s | |\n|---|---|---:|---:|---|\n%s\n",
			p.Name, p.Static, 100*mostWorse, worse, all, p.Static, p.Name, rows.String())
	}
}
