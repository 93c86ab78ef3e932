package debugz

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/observe"
)

// family is all samples of one metric in the text formats of Prometheus.
type family struct {
	name    string // with its suffixes, but for those of samples
	unit    string // the word at the name's end; empty if there is none
	metric  observe.Metric
	samples []sample
	seen    map[string]bool // the labels of the samples
}

// sample is a point with its labels written down.
type sample struct {
	labels string // a="b",c="d"
	point  observe.Point
}

// familiesOf sorts the points of all snapshots into families: those of the table in its
// order, then the components' own by name. What would make the text invalid is left out: a
// second sample with the same labels, a name that another family has.
func familiesOf(all []observe.Snapshot) []*family {
	byName := map[string]*family{}
	var families []*family
	for _, s := range all {
		for p := range s.Points() {
			f := byName[p.Metric.Name]
			if f == nil {
				f = newFamily(p.Metric)
				byName[p.Metric.Name] = f
				families = append(families, f)
			}
			f.add(p)
		}
	}
	place := map[string]int{}
	for i, m := range observe.Table() {
		place[m.Name] = i - math.MaxInt32
	}
	slices.SortStableFunc(families, func(a, b *family) int {
		return cmp.Or(cmp.Compare(place[a.metric.Name], place[b.metric.Name]), cmp.Compare(a.name, b.name))
	})
	taken := map[string]bool{}
	return slices.DeleteFunc(families, func(f *family) bool { return !f.claim(taken) })
}

func newFamily(m observe.Metric) *family {
	f := &family{name: m.PrometheusName(), metric: m, seen: map[string]bool{}}
	if m.Kind == observe.Counter {
		f.name = strings.TrimSuffix(f.name, "_total")
	}
	if u := m.PrometheusUnit(); u != "" && strings.HasSuffix(f.name, "_"+u) {
		f.unit = u
	}
	return f
}

// add adds a point, unless it is one that the formats have no place for.
func (f *family) add(p observe.Point) {
	if p.Metric.Kind != f.metric.Kind || (p.Distribution != nil) != (f.metric.Kind == observe.Histogram) {
		return
	}
	if f.metric.Kind == observe.Counter && !(p.Value >= 0) {
		return
	}
	labels, ok := labelsOf(p)
	if !ok || f.seen[labels] {
		return
	}
	f.seen[labels] = true
	f.samples = append(f.samples, sample{labels, p})
}

// claim takes the names that the family has in either format; false if it has no samples
// or no name, or somebody else has one of its names.
func (f *family) claim(taken map[string]bool) bool {
	if f.name == "" || len(f.samples) == 0 {
		return false
	}
	names := []string{f.name}
	switch f.metric.Kind {
	case observe.Counter:
		names = append(names, f.name+"_total")
	case observe.Histogram:
		names = append(names, f.name+"_bucket", f.name+"_sum", f.name+"_count")
	case observe.UpDownCounter, observe.Gauge:
	}
	for _, n := range names {
		if taken[n] {
			return false
		}
	}
	for _, n := range names {
		taken[n] = true
	}
	return true
}

// labelsOf writes the labels of a point, sorted by name; attributes whose names become one
// are joined with a semicolon, as OpenTelemetry's exporter does. A label that the formats
// reserve can't be had.
func labelsOf(p observe.Point) (string, bool) {
	type label struct{ name, value string }
	labels := make([]label, 0, len(p.Attributes))
	for _, a := range p.Attributes {
		name := observe.PrometheusLabel(a.Key)
		if name == "" || strings.HasPrefix(name, "__") || name == "le" {
			return "", false
		}
		labels = append(labels, label{name, short(strings.ToValidUTF8(a.Value, "\uFFFD"))})
	}
	slices.SortStableFunc(labels, func(a, b label) int { return strings.Compare(a.name, b.name) })
	var b strings.Builder
	for i, l := range labels {
		switch {
		case i > 0 && labels[i-1].name == l.name:
			b.WriteByte(';')
		case i > 0:
			b.WriteString(`",`)
			fallthrough
		default:
			b.WriteString(l.name)
			b.WriteString(`="`)
		}
		escape(&b, l.value, true)
	}
	if len(labels) > 0 {
		b.WriteByte('"')
	}
	return b.String(), true
}

// escape writes a text as the formats want it: in labels, and in the help of OpenMetrics,
// quotes are escaped too.
func escape(b *strings.Builder, s string, quotes bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\':
			b.WriteString(`\\`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '"' && quotes:
			b.WriteString(`\"`)
		default:
			b.WriteByte(c)
		}
	}
}

// The buckets of a histogram are every doubling from 65 µs to 69 s: bounds of
// spillway.Distribution, so that their counts are exact.
const (
	firstDoubling = 16
	lastDoubling  = 36
)

// bucket is a bucket of a histogram: how many took as long as the bound or less.
type bucket struct {
	bound float64 // seconds
	count uint64
}

// bucketsOf returns the buckets of a distribution, and how many were measured in all.
func bucketsOf(d *spillway.Distribution) (all []bucket, count uint64) {
	doubling := firstDoubling
	for i, n := range d.Buckets {
		count += n
		if bound := spillway.DistributionBound(i); doubling <= lastDoubling && bound == 1<<doubling {
			all = append(all, bucket{bound.Seconds(), count})
			doubling++
		}
	}
	return all, count
}
