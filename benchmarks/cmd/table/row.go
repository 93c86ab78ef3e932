package main

import (
	"fmt"
	"math"
	"time"
)

// row compares one side of a family with another.
type row struct {
	ours, its string        // the names of the two sides
	over      string        // a side that both are built on, taken off ours; empty for none
	most      float64       // budget: how many times its time ours may take; 0 for none
	within    time.Duration // budget: how long ours may take; 0 for none
	allocs    int           // budget: how many allocations ours may make; noBudget for none
}

// noBudget marks an allocation count that nothing is said about.
const noBudget = -1

// versus is a row without a budget: a comparison.
func versus(ours, its string) row { return row{ours: ours, its: its, allocs: noBudget} }

// family is a set of things that are measured in one run, and what is to be said of them.
type family struct {
	name  string
	modes []mode
	sides []*side
	rows  []row
}

// add gives the family one more side.
func (f *family) add(name string, w work) { f.sides = append(f.sides, &side{name: name, work: w}) }

// lines measures the family and says how its rows came out.
func (f *family) lines(rounds int) []line {
	measure(f.sides, f.modes, rounds)
	byName := map[string]*side{}
	for _, s := range f.sides {
		byName[s.name] = s
	}
	var lines []line
	for _, r := range f.rows {
		ours, its, over := byName[r.ours], byName[r.its], byName[r.over]
		for i, m := range f.modes {
			l := line{what: r.ours, against: r.its, load: m.name, ours: ours.ns[i], its: its.ns[i]}
			if over != nil {
				l.what += ", over " + r.over
				l.ours -= over.ns[i]
			}
			l.ratio = times(l.ours / l.its)
			if r.most > 0 {
				l.budget = "≤ " + times(r.most)
				l.judge(l.ours/l.its <= r.most)
			}
			if r.within > 0 {
				l.budget = join(l.budget, fmt.Sprintf("≤ %v", r.within))
				l.judge(l.ours <= float64(r.within))
			}
			l.allocs = count(ours.allocs[i]) + " / " + count(its.allocs[i])
			if r.allocs != noBudget {
				l.budget = join(l.budget, plural(r.allocs))
				l.judge(allocates(ours.allocs[i], r.allocs))
			}
			lines = append(lines, l)
		}
	}
	return lines
}

// line is one of the table. Times are nanoseconds an operation.
type line struct {
	what, against, load string
	ours, its           float64
	ratio               string
	budget              string // empty if there is none
	judged, missed      bool
	allocs              string
}

// allocates reports whether so many allocations on average keep a budget. What one operation in
// four makes may be the runtime's, or other goroutines'.
func allocates(average float64, most int) bool { return average <= float64(most)+0.25 }

// judge notes one verdict; a line is met if all are.
func (l *line) judge(met bool) {
	l.judged = true
	l.missed = l.missed || !met
}

func (l *line) result() string {
	switch {
	case l.missed:
		return "**missed**"
	case l.judged:
		return "met"
	}
	return ""
}

// times writes a ratio: large and small ones as whole numbers, of which nobody needs more.
func times(ratio float64) string {
	switch {
	case ratio > 0 && ratio < 0.19:
		return fmt.Sprintf("1/%.0f", 1/ratio)
	case ratio >= 20:
		return fmt.Sprintf("%.0f×", ratio)
	}
	return fmt.Sprintf("%.2f×", ratio)
}

// count writes an average number of allocations. Less than one in a hundred operations is
// what the runtime or a rare growth makes.
func count(allocs float64) string {
	switch whole := math.Round(allocs); {
	case math.Abs(allocs-whole) < 0.01:
		return fmt.Sprintf("%.0f", whole)
	}
	return fmt.Sprintf("%.2f", allocs)
}

func plural(allocs int) string {
	if allocs == 1 {
		return "1 alloc"
	}
	return fmt.Sprintf("%d allocs", allocs)
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}
