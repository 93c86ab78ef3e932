package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func sideName(guarded bool) string {
	if guarded {
		return "Spillway"
	}
	return "driver"
}

// report prints the table and what it means.
func report(out io.Writer, results []result) error {
	w := new(strings.Builder) // whose writes never fail
	rows := new(strings.Builder)
	fmt.Fprintln(rows, "callers\tside\tok/s\terrors/s\trefused/s\tp50\tp99\tgoroutines\theap MB\t")
	for _, r := range results {
		fmt.Fprintf(rows, "%d\t%s\t%.0f\t%.0f\t%.0f\t%v\t%v\t%d\t%.0f\t\n", r.Callers, sideName(r.Guarded), r.Goodput,
			float64(r.errorCount())/r.Seconds, float64(r.Refused)/r.Seconds, round(r.P50), round(r.P99), r.Goroutines, r.HeapMB)
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if _, err := io.WriteString(table, rows.String()); err != nil {
		return err
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if len(results) >= 2 {
		explain(w, results[len(results)-2], results[len(results)-1])
	}
	_, err := io.WriteString(out, w.String())
	return err
}

// explain says in three lines what the last pair of rows means.
func explain(w *strings.Builder, raw, ours result) {
	fmt.Fprintf(w, "With %d callers the driver alone served %.0f reads/s at a p99 of %v, and failed %.0f/s (%s).\n",
		raw.Callers, raw.Goodput, round(raw.P99), float64(raw.errorCount())/raw.Seconds, kinds(raw))
	ratio := "from none to"
	if raw.Goodput > 0 {
		ratio = fmt.Sprintf("%.1f times as many:", ours.Goodput/raw.Goodput)
	}
	fmt.Fprintf(w, "Through Spillway it was %s %.0f reads/s at a p99 of %v: only as many calls are let in as the server can serve at full speed.\n",
		ratio, ours.Goodput, round(ours.P99))
	switch n := ours.errorCount(); n {
	case 0:
		fmt.Fprintf(w, "All others, %.0f/s, were refused at once with one clear error, spillway.ErrBackpressure; there was no other error.\n",
			float64(ours.Refused)/ours.Seconds)
	default:
		fmt.Fprintf(w, "%.0f/s were refused at once with spillway.ErrBackpressure; besides that, %d calls failed (%s).\n",
			float64(ours.Refused)/ours.Seconds, n, kinds(ours))
	}
}

// kinds lists the kinds of errors, the most frequent first.
func kinds(r result) string {
	if len(r.Errors) == 0 {
		return "no errors"
	}
	names := slices.SortedFunc(maps.Keys(r.Errors), func(a, b string) int { return cmp.Compare(r.Errors[b], r.Errors[a]) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", r.Errors[name], name)
	}
	return strings.Join(names, ", ")
}

func round(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Microsecond)
}
