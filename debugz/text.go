package debugz

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// writeText writes a report for a terminal.
func writeText(w io.Writer, r *report) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s on %s, pid %d, %d goroutines, %s\n", r.Title, printable(r.Host), r.PID, r.Goroutines, r.At.Format("15:04:05.000 MST"))
	if r.Recent() {
		fmt.Fprintf(&b, "rates are over the last %s\n", r.Window)
	} else {
		fmt.Fprintln(&b, "nobody has looked for a minute: ask again in a second for rates")
	}
	for _, s := range append([]string{r.Stale}, r.Faults...) {
		if s != "" {
			fmt.Fprintf(&b, "!! %s\n", s)
		}
	}
	fmt.Fprintln(&b)
	if r.Need == 0 {
		fmt.Fprintf(&b, "Nothing needs anybody.\n\n")
	}
	for _, e := range r.Urgent() {
		textCard(&b, e)
	}
	textGuards(&b, r.Guards())
	textHolders(&b, r)
	for _, t := range r.Tables() {
		textTable(&b, t)
	}
	textLog(&b, r)
	_, err := w.Write(b.Bytes())
	return err
}

func textCard(b *bytes.Buffer, e *entry) {
	worst := e.Worst()
	fmt.Fprintf(b, "%s: %s %s\n    %s\n", strings.ToUpper(worst.Verdict), worst.Kind, worst.Title(), worst.Reason)
	for _, p := range e.OthersInNeed() {
		fmt.Fprintf(b, "    also: %s is %s\n", p.Title(), p.Verdict)
	}
	if worst.Guard != nil {
		for _, s := range worst.Oldest() {
			fmt.Fprintf(b, "    held for %s: %s\n", s.Oldest, s.text())
		}
	}
	fmt.Fprintln(b)
}

// text says who holds, in a line.
func (s site) text() string {
	line := s.Place.String()
	if s.Class != "" {
		line += ", class " + s.Class
	}
	if s.Holders > 1 {
		line += fmt.Sprintf(", %d of them, the youngest for %s", s.Holders, s.Youngest)
	}
	if s.Permits > s.Holders {
		line += fmt.Sprintf(", %d permits", s.Permits)
	}
	if s.Before > 0 {
		line += fmt.Sprintf(", %d since before it was full", s.Before)
	}
	return line
}

// columns writes lines of columns, separated by tabs, under a title.
func columns(b *bytes.Buffer, title, head string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(b, strings.ToUpper(title))
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, head) // into a buffer
	for _, l := range lines {
		_, _ = fmt.Fprintln(t, l)
	}
	_ = t.Flush()
	fmt.Fprintln(b)
}

func textGuards(b *bytes.Buffer, all []*entry) {
	var lines []string
	for _, e := range all {
		lines = append(lines, textGuard(e, ""))
		for _, p := range e.Parts {
			lines = append(lines, textGuard(p, "  "))
		}
	}
	columns(b, "guards", "verdict\tguard\tin use\twaiting\tfor\theld for\tadmitted\trefused\thold p50\tusual\tp99\twait p50\tp99", lines)
}

func textGuard(e *entry, indent string) string {
	g := e.Guard
	if g == nil {
		return e.Verdict + "\t" + indent + e.Kind + " " + e.Title()
	}
	name := indent + e.Kind + " " + e.Title()
	if m := e.Mode(); m != "" {
		name += " (" + m + ")"
	}
	waits := []string{"–", "–"}
	if g.Wait != nil {
		waits = []string{g.Wait.Median.String(), g.Wait.High.String()}
	}
	return strings.Join(append([]string{
		e.Verdict, name, e.Use.Text(), fmt.Sprintf("%d/%d", g.Waiting, g.MaxWaiting), g.OldestWait.String(), g.OldestHeld.String(),
		g.Admitted.String(), g.Refused.String(), g.Hold.Median.String(), g.Usual.String(), g.Hold.High.String(),
	}, waits...), "\t")
}

func textHolders(b *bytes.Buffer, r *report) {
	all := r.Held()
	if all == nil {
		return
	}
	var lines []string
	for _, h := range all.Sites {
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s", h.Oldest, h.Guard, h.text()))
	}
	if all.More > 0 {
		lines = append(lines, fmt.Sprintf("and at %d more places", all.More))
	}
	columns(b, "who holds what, oldest first", "held for\tguard\twhere", lines)
}

func textTable(b *bytes.Buffer, t *table) {
	var lines []string
	for _, e := range t.Entries {
		cells := []string{e.Verdict, e.Title()}
		if t.Use != "" {
			cells = append(cells, e.Use.Text())
		}
		for _, f := range e.Figures {
			cells = append(cells, f.Text())
		}
		if len(e.Figures) == 0 {
			for _, f := range e.Facts {
				cells = append(cells, f.Name+"="+f.Text())
			}
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	head := "verdict\tname"
	if t.Use != "" {
		head += "\t" + strings.ToLower(t.Use)
	}
	columns(b, t.Title, strings.TrimRight(head+"\t"+strings.Join(t.Columns, "\t"), "\t"), lines)
}

func textLog(b *bytes.Buffer, r *report) {
	var lines []string
	for _, c := range r.Counted {
		lines = append(lines, fmt.Sprintf("%s ago\t%s %s\t%s\t%s\t%s times", c.Last, c.Component, c.Name, c.What, c.Class, thousands(c.Count)))
	}
	columns(b, "refused, retried, given up", "last\tcomponent\twhat\tclass\tcount", lines)
	lines = nil
	for _, e := range r.Events {
		lines = append(lines, fmt.Sprintf("%s ago\t%s %s\t%s\t%s", e.Ago, e.Component, e.Name, e.What, e.Error))
	}
	columns(b, "what happened last", "when\tcomponent\twhat\terror", lines)
}
