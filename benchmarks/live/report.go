package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// report prints the table, and writes it and the pictures where they are wanted.
func report(rows []row, o options) error {
	text := table(rows)
	fmt.Print(text)
	if o.out == "" {
		return nil
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	pictures := draw(rows)
	var page strings.Builder
	fmt.Fprintf(&page, "# The live lab\n\n%s\n%s\n\n%s", method, stamp(o), text)
	for _, p := range pictures {
		fmt.Fprintf(&page, "\n![%s](%s)\n", p.title, p.file)
		if err := os.WriteFile(filepath.Join(o.out, p.file), []byte(p.svg), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(o.out, "README.md"), []byte(page.String()), 0o644)
}

const method = `Real processes, real sockets and the real driver, on one machine: the cluster (aerospiketest) in a process of its own, the load from one or more others. The command writes this page:

` + "```\nmake live\n```" + `

Latencies count from the moment at which a call should have been sent, are of answers alone, not of refusals and errors, and are written as the upper bound of a bucket, up to a quarter more
than they were. *Share* is goodput against what could be had: the rate that was asked for, or what the cluster was seen to do at
the beginning by twice as many callers as it has slots, whichever is less. A call that
ends after its deadline is late and no success, and so is one that should have been sent and wasn't by the end, because all 512 callers waited. *Recovery* is the time from the end of the trouble to the first 100 ms from which on 99 % of the calls succeed for a second. The first scenario's cluster is bounded
by the CPU, that of the others by its nodes: 8 commands at once of 4 ms, 2,000 a second each. Because a shared machine has good and bad minutes, the sides of the first take turns, three each (seven with 4096 callers), of which the one with
the median goodput is shown. Goroutines and memory are those of the client in the middle of the load. Only compare rows of one scenario.
`

func stamp(o options) string {
	text := fmt.Sprintf("Measured %s, Go %s, %s/%s, %d CPUs.", time.Now().Format(time.DateOnly), strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if o.only != "" {
		text += fmt.Sprintf(" Only the scenarios with %q in their names.", o.only)
	}
	if len(o.hosts) > 0 {
		text += " On a cluster of its own, and not on the one described above."
	}
	return text
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| scenario | side | goodput/s | share | refused | late | errors | p50 ms | p99 ms | recovery | more |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		share := ""
		if r.capacity > 0 {
			share = fmt.Sprintf("%.1f %%", 100*r.share())
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f | %s | %d | %d | %d | %.1f | %.1f | %s | %s |\n",
			r.title(), r.label(), r.goodput(), share,
			r.sum(func(x result) int { return x.Refused }), r.sum(func(x result) int { return x.Late }),
			r.sum(func(x result) int { return x.Errors }), milliseconds(r.quantile(0.5)), milliseconds(r.quantile(0.99)), r.recoveryText(), r.more())
	}
	return b.String()
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

func (r row) recoveryText() string {
	if len(r.events) == 0 {
		return ""
	}
	d, ok := r.recovery()
	if !ok {
		return "never"
	}
	return d.String()
}

// more is what only this scenario has.
func (r row) more() string {
	var parts []string
	if r.processes > 1 {
		parts = append(parts, fmt.Sprintf("Jain %.3f", r.jain()))
	}
	if r.load.Writes {
		parts = append(parts, fmt.Sprintf("%d acknowledged writes lost", r.sum(func(x result) int { return x.Unread })))
	}
	if r.load.Bulk > 0 {
		ok, lost := r.sum(func(x result) int { return x.OK }), r.sum(func(x result) int { return x.Late + x.Refused + x.Errors })
		parts = append(parts, fmt.Sprintf("%.2f %% of the critical calls in time, bulk %.0f/s", 100*float64(ok)/float64(max(ok+lost, 1)), float64(r.results[0].Bulk)/r.results[0].Seconds))
	}
	if r.name == "callers" {
		parts = append(parts, fmt.Sprintf("%d goroutines, %.0f MB", r.results[0].Goroutines, r.results[0].HeapMB))
	}
	return strings.Join(parts, ", ")
}
