package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/spillway-go/spillway/benchmarks/lab/policy"
)

// Board has the figures of all runs. It is for concurrent use.
type Board struct {
	mu        sync.Mutex
	workloads []Workload
	policies  []policy.Policy
	runs      map[string]map[string]map[uint64]*Figures // by workload, policy and seed
	first     uint64                                    // the seed whose course is kept, for the pictures
}

// NewBoard returns an empty board. The course of the runs with the first seed is kept.
func NewBoard(workloads []Workload, policies []policy.Policy, first uint64) *Board {
	b := &Board{workloads: workloads, policies: policies, runs: map[string]map[string]map[uint64]*Figures{}, first: first}
	for _, w := range workloads {
		b.runs[w.Name()] = map[string]map[uint64]*Figures{}
	}
	return b
}

// Add notes the figures of a run.
func (b *Board) Add(w Workload, p policy.Policy, seed uint64, f *Figures) {
	if !w.Picture || seed != b.first {
		f.bins = nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.runs[w.Name()]
	if of[p.Name] == nil {
		of[p.Name] = map[uint64]*Figures{}
	}
	of[p.Name][seed] = f
}

// Workloads returns the workloads, in their order.
func (b *Board) Workloads() []Workload { return b.workloads }

// Policies returns those that a workload was run with, in their order.
func (b *Board) Policies(w Workload) []policy.Policy {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.policies), func(p policy.Policy) bool { return b.runs[w.Name()][p.Name] == nil })
}

// All returns all policies.
func (b *Board) All() []policy.Policy { return b.policies }

// values returns a metric over all seeds, the best first, and last what isn't a number.
func (b *Board) values(w Workload, name string, m Metric) []float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	var vs []float64
	for _, f := range b.runs[w.Name()][name] {
		vs = append(vs, f.Of(m))
	}
	slices.SortFunc(vs, func(x, y float64) int {
		if m.info().up || math.IsNaN(x) || math.IsNaN(y) {
			return cmp.Compare(y, x) // NaN is the least
		}
		return cmp.Compare(x, y)
	})
	return vs
}

// Worst returns the worst value of a metric over all seeds; NaN if there is none.
func (b *Board) Worst(w Workload, name string, m Metric) float64 {
	vs := b.values(w, name, m)
	if len(vs) == 0 {
		return math.NaN()
	}
	return vs[len(vs)-1]
}

// Median returns the median of a metric over all seeds; NaN if there is none.
func (b *Board) Median(w Workload, name string, m Metric) float64 {
	vs := b.values(w, name, m)
	if len(vs) == 0 {
		return math.NaN()
	}
	return vs[len(vs)/2]
}

// Verdict says whether a policy reaches a target.
type Verdict struct {
	Median, Worst float64 // over the seeds, of the metric, or of its ratio to that of Target.Over
	Bound         float64
	Known         bool // false if the policy has no such figure, as one without a limit has no mean of it
	Met           bool // with every seed
}

// Judge compares a policy with a target. If the target is relative, each seed is compared with
// itself, and the verdict is about the ratio.
func (b *Board) Judge(w Workload, t Target, name string) Verdict {
	if t.Learned > 0 && b.learns(name) {
		t.Bound = t.Learned
	}
	if t.Over == "" {
		v := Verdict{Median: b.Median(w, name, t.Metric), Worst: b.Worst(w, name, t.Metric), Bound: t.Bound}
		v.Known = !math.IsNaN(v.Worst) && !math.IsNaN(v.Median)
		v.Met = v.Known && t.Metric.Reaches(v.Worst, v.Bound)
		return v
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var ratios []float64
	for seed, f := range b.runs[w.Name()][name] {
		if other := b.runs[w.Name()][t.Over][seed]; other != nil {
			ratios = append(ratios, f.Of(t.Metric)/other.Of(t.Metric))
		}
	}
	if len(ratios) == 0 || slices.ContainsFunc(ratios, math.IsNaN) {
		return Verdict{Median: math.NaN(), Worst: math.NaN(), Bound: t.Bound}
	}
	slices.Sort(ratios)
	if t.Metric.info().up {
		slices.Reverse(ratios)
	}
	worst := ratios[len(ratios)-1]
	return Verdict{Median: ratios[len(ratios)/2], Worst: worst, Bound: t.Bound, Known: true, Met: t.Metric.Reaches(worst, t.Bound)}
}

// learns reports whether a policy's limit moves and was given no latency target.
func (b *Board) learns(name string) bool {
	return slices.ContainsFunc(b.policies, func(p policy.Policy) bool { return p.Name == name && p.Static != "" && !p.Aimed })
}

// Text writes the target.
func (t Target) Text() string {
	if t.Learned > 0 {
		return fmt.Sprintf("%s %s %s, learned %s %s", t.Metric.Name(), t.Metric.Sign(), t.Metric.Format(t.Bound), t.Metric.Sign(), t.Metric.Format(t.Learned))
	}
	if t.Over != "" {
		return fmt.Sprintf("%s %s %.2f of %q", t.Metric.Name(), t.Metric.Sign(), t.Bound, t.Over)
	}
	return fmt.Sprintf("%s %s %s", t.Metric.Name(), t.Metric.Sign(), t.Metric.Format(t.Bound))
}

// Format writes a value that was compared with the target.
func (t Target) Format(v float64) string {
	if t.Over != "" && !math.IsNaN(v) {
		return fmt.Sprintf("%.4g", v)
	}
	return t.Metric.Format(v)
}

// Met counts the targets of a workload that a policy reaches, of those that say something about it.
func (b *Board) Met(w Workload, name string) (met, of int) {
	for _, t := range w.Targets {
		v := b.Judge(w, t, name)
		if v.Known {
			of++
		}
		if v.Met {
			met++
		}
	}
	return met, of
}

// Headline is the metric that a workload is about, for overviews.
func (w Workload) Headline() Metric {
	for _, t := range w.Targets {
		if t.Metric == Goodput {
			return Goodput
		}
	}
	for _, t := range w.Targets {
		if t.Metric == Success {
			return Success
		}
	}
	return Goodput
}

// Moment is a tenth of a second of a run, by when calls were meant to be made.
type Moment struct {
	Offered, Good int     // calls that were to be made, and those of them that were answered in time
	P99           float64 // of the good ones, in seconds; NaN if there were none
	Limit         float64 // of all processes together; 0 if there is none
	Pending       int     // operations under way
}

// Course returns the course of a run with the first seed; nil if it wasn't kept.
func (b *Board) Course(w Workload, name string) []Moment {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.runs[w.Name()][name][b.first]
	if f == nil {
		return nil
	}
	var all []Moment
	for _, bn := range f.bins {
		m := Moment{Offered: bn.offered, Good: bn.good, P99: math.NaN(), Limit: bn.limit, Pending: bn.pending}
		if len(bn.latencies) > 0 {
			m.P99 = quantile(bn.latencies, .99).Seconds()
		}
		all = append(all, m)
	}
	return all
}
