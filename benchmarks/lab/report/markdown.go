package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spillway-go/spillway/benchmarks/lab"
)

// Meta says how the figures came about.
type Meta struct {
	Date    string // of the run
	Command string // that repeats it
	Machine string // Go version, cores
	Seeds   []uint64
	Took    string // how long it took
}

// Write writes the scoreboard and the pictures into a directory, which it makes if need be. On
// failure some of the files may be written.
func Write(dir string, b *lab.Board, m Meta) error {
	if err := os.MkdirAll(filepath.Join(dir, "img"), 0o755); err != nil {
		return err
	}
	files := map[string]string{"scoreboard.md": scoreboard(b, m), "img/overview.svg": heat(b)}
	for _, w := range b.Workloads() {
		if w.Picture {
			files["img/"+file(w)] = course(b, w)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// file names a workload's picture.
func file(w lab.Workload) string {
	return strings.NewReplacer(" ", "-", ",", "", "κ", "k", "µ", "u").Replace(strings.ToLower(w.Name())) + ".svg"
}

func scoreboard(b *lab.Board, m Meta) string {
	var s strings.Builder
	fmt.Fprintf(&s, "# Scoreboard of the overload lab\n\nWritten by `%s` on %s (%s, %s). Don't edit: [README.md](README.md) says what it means.\n\n", m.Command, m.Date, m.Machine, m.Took)
	fmt.Fprintf(&s, "Seeds %v. Where there are two figures, they are the median of the seeds and, in brackets, the worst.\n\n![overview](img/overview.svg)\n\n", m.Seeds)
	targets(&s, b)
	moving(&s, b)
	s.WriteString("## Policies\n\n| policy | whose | what it does |\n|---|---|---|\n")
	for _, p := range b.All() {
		fmt.Fprintf(&s, "| %s | %s | %s |\n", p.Name, p.Family, p.About)
	}
	s.WriteString("\n## Workloads\n\nC is what the backend can serve, 8,000 calls/s unless said otherwise.\n")
	for _, w := range b.Workloads() {
		detail(&s, b, w)
	}
	return s.String()
}

// targets writes the verdicts on the judged policies.
func targets(s *strings.Builder, b *lab.Board) {
	s.WriteString("## Targets\n\nA target is met if it is with every seed. The best of the others, which are not ours, is by its worst seed, too.\n\n")
	names := judged(b)
	why := causes(b)
	for _, name := range names {
		met, all := 0, 0
		for _, w := range b.Workloads() {
			m, of := b.Met(w, name)
			met, all = met+m, all+of
		}
		fmt.Fprintf(s, "- `%s` meets %d of %d targets.\n", name, met, all)
	}
	s.WriteString("\n| workload | target |")
	for _, name := range names {
		fmt.Fprintf(s, " %s | |", name)
	}
	s.WriteString(" best of the others |\n|---|---|" + strings.Repeat("---|---|", len(names)) + "---|\n")
	missed := map[string]string{}
	for _, w := range b.Workloads() {
		for _, t := range w.Targets {
			fmt.Fprintf(s, "| %s | %s |", w.Name(), t.Text())
			for _, name := range names {
				v := b.Judge(w, t, name)
				switch {
				case !v.Known:
					s.WriteString(" – | |")
				case v.Met:
					fmt.Fprintf(s, " %s (%s) | met |", t.Format(v.Median), t.Format(v.Worst))
				default:
					fmt.Fprintf(s, " %s (%s) | **missed** |", t.Format(v.Median), t.Format(v.Worst))
					missed[name] += fmt.Sprintf("- %s, %s: %s. %s\n", w.Name(), t.Text(), t.Format(v.Worst), why[name](t))
				}
			}
			fmt.Fprintf(s, " %s |\n", best(b, w, t))
		}
	}
	for _, name := range names {
		if missed[name] != "" {
			fmt.Fprintf(s, "\nMissed by `%s`, with the worst seed, and why:\n\n%s", name, missed[name])
		}
	}
	s.WriteByte('\n')
}

// judged returns the policies that are held against the targets.
func judged(b *lab.Board) []string {
	var names []string
	for _, p := range b.All() {
		if p.Judged {
			names = append(names, p.Name)
		}
	}
	return names
}

// causes returns for each policy what says why it misses a target.
func causes(b *lab.Board) map[string]func(lab.Target) string {
	sentence := func(why string) string {
		if why == "" {
			return "No cause is known: this is a defect of the policy or of the target."
		}
		return strings.ToUpper(why[:1]) + why[1:] + "."
	}
	all := map[string]func(lab.Target) string{}
	for _, p := range b.All() {
		all[p.Name] = func(t lab.Target) string { return sentence(t.Cause) }
		if p.Static != "" {
			all[p.Name] = func(t lab.Target) string {
				if p.Aimed && t.Aimed != "" {
					return sentence(t.Aimed)
				}
				return sentence(t.Moving)
			}
		}
	}
	return all
}

// best names who else does best.
func best(b *lab.Board, w lab.Workload, t lab.Target) string {
	value, names := math.NaN(), []string{}
	for _, p := range b.Policies(w) {
		if p.Family == "spillway" {
			continue
		}
		v := b.Judge(w, t, p.Name)
		switch {
		case !v.Known:
		case v.Worst == value:
			names = append(names, p.Name)
		case math.IsNaN(value) || t.Metric.Reaches(v.Worst, value):
			value, names = v.Worst, []string{p.Name}
		}
	}
	if len(names) == 0 {
		return "–"
	}
	if len(names) > 2 {
		return fmt.Sprintf("%s (%s and %d more)", t.Format(value), names[0], len(names)-1)
	}
	return fmt.Sprintf("%s (%s)", t.Format(value), strings.Join(names, ", "))
}

// columns are the metrics of a workload's table: those that it has targets for, the usual ones, and
// of the others those that tell the policies apart.
func columns(b *lab.Board, w lab.Workload) []lab.Metric {
	always := []lab.Metric{lab.Goodput, lab.RefuseP50, lab.RefuseP99, lab.P50, lab.P99}
	special := []lab.Metric{lab.SendsPerGood, lab.SendRate, lab.Utilisation, lab.LimitSlope, lab.LimitRange, lab.LimitAfter, lab.IdleGrowth}
	return slices.DeleteFunc(lab.Metrics(), func(m lab.Metric) bool {
		targeted := slices.ContainsFunc(w.Targets, func(t lab.Target) bool { return t.Metric == m })
		return !targeted && !slices.Contains(always, m) && (slices.Contains(special, m) || !tells(b, w, m))
	})
}

// tells reports whether a metric isn't the same for all who have it.
func tells(b *lab.Board, w lab.Workload, m lab.Metric) bool {
	texts := map[string]bool{}
	for _, p := range b.Policies(w) {
		texts[m.Format(b.Median(w, p.Name, m))] = true
	}
	delete(texts, "–")
	return len(texts) > 1
}

// detail writes a workload's table.
func detail(s *strings.Builder, b *lab.Board, w lab.Workload) {
	name := w.Name()
	if w.HoldOut {
		name += " (hold-out)"
	}
	fmt.Fprintf(s, "\n### %s\n\n%s.\n\n", name, strings.ToUpper(w.About[:1])+w.About[1:])
	if w.Picture {
		fmt.Fprintf(s, "![%s](img/%s)\n\n", w.Name(), file(w))
	}
	shown := columns(b, w)
	s.WriteString("| policy | targets |")
	for _, m := range shown {
		s.WriteString(" " + m.Name() + " |")
	}
	s.WriteString("\n|---|---|" + strings.Repeat("---:|", len(shown)) + "\n")
	for _, p := range b.Policies(w) {
		met, of := b.Met(w, p.Name)
		fmt.Fprintf(s, "| %s | %d/%d |", p.Name, met, of)
		for _, m := range shown {
			median, worst := m.Format(b.Median(w, p.Name, m)), m.Format(b.Worst(w, p.Name, m))
			if median == worst {
				fmt.Fprintf(s, " %s |", median)
			} else {
				fmt.Fprintf(s, " %s (%s) |", median, worst)
			}
		}
		s.WriteByte('\n')
	}
}
