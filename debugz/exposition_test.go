package debugz_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
)

// exposition is a text in a format of Prometheus that has passed a strict reading.
type exposition struct {
	series map[string]float64 // by name and labels, as they stand there
	kinds  map[string]string  // by family
	helps  map[string]string
	units  map[string]string
}

// reader reads line by line, and complains of whatever isn't exactly as the formats have it.
type reader struct {
	t    *testing.T
	open bool // OpenMetrics 1.0, else the text format 0.0.4
	out  exposition

	family  string               // the one that is being read
	sampled bool                 // whether it has had a sample
	counts  map[string][]float64 // of a histogram's buckets, by labels without le
	bounds  map[string][]float64
}

func readExposition(t *testing.T, text string, open bool) exposition {
	t.Helper()
	r := &reader{t: t, open: open, out: exposition{
		series: map[string]float64{}, kinds: map[string]string{}, helps: map[string]string{}, units: map[string]string{},
	}}
	require.True(t, strings.HasSuffix(text, "\n"), "the last line has no end")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if open {
		require.Equal(t, "# EOF", lines[len(lines)-1])
		lines = lines[:len(lines)-1]
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "#") {
			r.about(l)
		} else {
			r.sample(l)
		}
	}
	r.end()
	return r.out
}

// about reads a line about a family. They come before its samples, and each but once.
func (r *reader) about(line string) {
	part := strings.SplitN(line, " ", 4)
	require.GreaterOrEqual(r.t, len(part), 4, line)
	require.Equal(r.t, "#", part[0], line)
	name := part[2]
	require.Regexp(r.t, metricName, name)
	if name != r.family {
		r.end()
		require.NotContains(r.t, r.out.kinds, name, "the family's lines aren't together")
		r.family, r.sampled, r.counts, r.bounds = name, false, map[string][]float64{}, map[string][]float64{}
	}
	require.False(r.t, r.sampled, "%s comes after the samples", line)
	switch part[1] {
	case "HELP":
		require.NotContains(r.t, r.out.helps, name)
		r.out.helps[name] = r.unescape(part[3], r.open)
	case "TYPE":
		require.NotContains(r.t, r.out.kinds, name)
		require.Contains(r.t, []string{"counter", "gauge", "histogram"}, part[3])
		r.out.kinds[name] = part[3]
	case "UNIT":
		require.True(r.t, r.open, "the text format has no units")
		require.NotContains(r.t, r.out.units, name)
		require.True(r.t, strings.HasSuffix(name, "_"+part[3]), line)
		r.out.units[name] = part[3]
	default:
		require.Fail(r.t, "no such line", line)
	}
}

// suffixes are the ends of the names of a family's samples.
func (r *reader) suffixes() []string {
	switch r.out.kinds[r.family] {
	case "counter":
		if r.open {
			return []string{"_total"}
		}
		require.True(r.t, strings.HasSuffix(r.family, "_total"), r.family)
	case "histogram":
		return []string{"_bucket", "_sum", "_count"}
	}
	return []string{""}
}

func (r *reader) sample(line string) {
	r.sampled = true
	id, number, found := cutLast(line, " ")
	require.True(r.t, found, line)
	value, err := strconv.ParseFloat(number, 64)
	require.NoError(r.t, err, line)
	require.NotContains(r.t, r.out.series, id, "twice")
	r.out.series[id] = value

	name, rest, labelled := strings.Cut(id, "{")
	require.Regexp(r.t, metricName, name)
	suffix := strings.TrimPrefix(name, r.family)
	require.Contains(r.t, r.suffixes(), suffix, line)
	le, others := "", []string{}
	if labelled {
		require.True(r.t, strings.HasSuffix(rest, "}"), line)
		seen := map[string]bool{}
		for rest = strings.TrimSuffix(rest, "}"); rest != ""; {
			var label, value string
			label, value, rest = r.label(rest)
			require.False(r.t, seen[label], "label %s twice: %s", label, line)
			seen[label] = true
			if label == "le" {
				le = value
				continue
			}
			others = append(others, fmt.Sprintf("%s=%q", label, value))
		}
	}
	kind := r.out.kinds[r.family]
	require.Equal(r.t, kind == "histogram" && suffix == "_bucket", le != "", line)
	if kind != "gauge" && suffix != "_sum" {
		require.GreaterOrEqual(r.t, value, 0.0, line)
	}
	if kind == "histogram" {
		r.histogram(suffix, le, strings.Join(others, ","), value)
	}
}

// label reads one label, and the comma behind it.
func (r *reader) label(s string) (name, value, rest string) {
	name, s, found := strings.Cut(s, `="`)
	require.True(r.t, found, s)
	require.Regexp(r.t, labelName, name)
	require.False(r.t, strings.HasPrefix(name, "__"), name)
	end := 0
	for ; end < len(s) && s[end] != '"'; end++ {
		if s[end] == '\\' {
			end++
		}
	}
	require.Less(r.t, end, len(s), "no end of %s", s)
	value, rest = r.unescape(s[:end], true), s[end+1:]
	if rest != "" {
		require.True(r.t, strings.HasPrefix(rest, ",") && len(rest) > 1, rest)
		rest = rest[1:]
	}
	return name, value, rest
}

func (r *reader) unescape(s string, quotes bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			require.False(r.t, quotes && s[i] == '"', "a bare quote in %s", s)
			b.WriteByte(s[i])
			continue
		}
		i++
		require.Less(r.t, i, len(s), "a backslash at the end of %s", s)
		switch {
		case s[i] == '\\':
			b.WriteByte('\\')
		case s[i] == 'n':
			b.WriteByte('\n')
		case s[i] == '"' && quotes:
			b.WriteByte('"')
		default:
			require.Fail(r.t, "no such escape", s)
		}
	}
	return b.String()
}

// histogram checks buckets that grow in bound and count, and end with all.
func (r *reader) histogram(suffix, le, labels string, value float64) {
	switch suffix {
	case "_bucket":
		if r.open && le != "+Inf" {
			require.True(r.t, strings.ContainsAny(le, ".e"), "%s is not the one way to write it", le)
		}
		bound, err := strconv.ParseFloat(le, 64)
		require.NoError(r.t, err)
		if n := len(r.bounds[labels]); n > 0 {
			require.Greater(r.t, bound, r.bounds[labels][n-1], labels)
			require.GreaterOrEqual(r.t, value, r.counts[labels][n-1], labels)
		}
		r.bounds[labels] = append(r.bounds[labels], bound)
		r.counts[labels] = append(r.counts[labels], value)
	case "_count":
		counts := r.counts[labels]
		require.NotEmpty(r.t, counts, "the buckets come first")
		require.Equal(r.t, counts[len(counts)-1], value, "the last bucket has all")
		require.Greater(r.t, r.bounds[labels][len(counts)-1], 1e300, "the last bucket has no bound")
	}
}

// end checks a family that is read.
func (r *reader) end() {
	if r.family == "" {
		return
	}
	require.True(r.t, r.sampled, "%s has no sample", r.family)
	require.Contains(r.t, r.out.kinds, r.family)
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
