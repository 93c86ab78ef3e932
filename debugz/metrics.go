package debugz

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/spillway-go/spillway/observe"
)

// writeMetrics writes the points of all snapshots, in Prometheus' text format 0.0.4 or in
// that of OpenMetrics 1.0.
func writeMetrics(b *bytes.Buffer, all []observe.Snapshot, open bool) {
	for _, f := range familiesOf(all) {
		f.head(b, open)
		for _, s := range f.samples {
			f.write(b, s)
		}
	}
	if open {
		b.WriteString("# EOF\n")
	}
}

func (f *family) head(b *bytes.Buffer, open bool) {
	name, kind := f.name, "gauge"
	switch f.metric.Kind {
	case observe.Counter:
		kind = "counter"
		if !open {
			name += "_total"
		}
	case observe.Histogram:
		kind = "histogram"
	case observe.UpDownCounter, observe.Gauge:
	}
	var help strings.Builder
	escape(&help, strings.ToValidUTF8(f.metric.Description, "\uFFFD"), open)
	b.WriteString("# HELP " + name + " " + help.String() + "\n# TYPE " + name + " " + kind + "\n")
	if open && f.unit != "" {
		b.WriteString("# UNIT " + name + " " + f.unit + "\n")
	}
}

func (f *family) write(b *bytes.Buffer, s sample) {
	line := func(suffix, extra, value string) {
		b.WriteString(f.name + suffix)
		labels := s.labels
		if labels != "" && extra != "" {
			labels += ","
		}
		if labels += extra; labels != "" {
			b.WriteString("{" + labels + "}")
		}
		b.WriteString(" " + value + "\n")
	}
	if f.metric.Kind != observe.Histogram {
		suffix := ""
		if f.metric.Kind == observe.Counter {
			suffix = "_total"
		}
		line(suffix, "", float(s.point.Value))
		return
	}
	buckets, count := bucketsOf(s.point.Distribution)
	for _, k := range buckets {
		// None is a whole number, which OpenMetrics would want with a point.
		line("_bucket", `le="`+float(k.bound)+`"`, strconv.FormatUint(k.count, 10))
	}
	line("_bucket", `le="+Inf"`, strconv.FormatUint(count, 10))
	line("_sum", "", float(s.point.Distribution.Sum.Seconds()))
	line("_count", "", strconv.FormatUint(count, 10))
}

// float writes a number as both formats read it.
func float(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	case math.IsNaN(v):
		return "NaN"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
