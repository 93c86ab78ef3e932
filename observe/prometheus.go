package observe

import (
	"slices"
	"strings"
)

// PrometheusName returns the metric's name in Prometheus, as OpenTelemetry's exporter
// makes it by the strategy UnderscoreEscapingWithSuffixes: with the unit's word at its
// end, and _total behind that if it is a counter. The samples of a histogram have
// _bucket, _sum and _count behind it. It is empty if nothing of the name is allowed.
func (m Metric) PrometheusName() string {
	words := strings.FieldsFunc(m.Name, func(r rune) bool { return !nameChar(r) })
	for _, suffix := range unitWords(m.Unit) {
		if suffix != "" && !slices.Contains(words, suffix) {
			words = append(words, suffix)
		}
	}
	switch {
	case m.Kind == Counter:
		words = last(words, "total")
	case m.Kind == Gauge && m.Unit == "1":
		words = last(words, "ratio")
	}
	name := strings.Join(words, "_")
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// PrometheusUnit returns the word for the metric's unit in its name in Prometheus, as in
// seconds; empty if it has none.
func (m Metric) PrometheusUnit() string {
	words := unitWords(m.Unit)
	return strings.Trim(words[0]+"_"+words[1], "_")
}

// PrometheusLabel returns the name of an attribute in Prometheus, as OpenTelemetry's
// exporter makes it. It is empty if nothing of the name is allowed.
func PrometheusLabel(attribute string) string {
	label := underscored(attribute)
	switch {
	case strings.Trim(label, "_") == "":
		return ""
	case label[0] >= '0' && label[0] <= '9':
		return "key_" + label
	}
	return label
}

// nameChar reports whether a metric's name may have r in it.
func nameChar(r rune) bool { return letterOrDigit(r) || r == ':' }

func letterOrDigit(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// underscored has one underscore for each stretch of what isn't a letter or a digit.
func underscored(s string) string {
	var b strings.Builder
	under := false
	for _, r := range s {
		if !letterOrDigit(r) {
			r = '_'
		}
		if r == '_' && under {
			continue
		}
		under = r == '_'
		b.WriteRune(r)
	}
	return b.String()
}

// last puts a word at the end, and nowhere else.
func last(words []string, word string) []string {
	return append(slices.DeleteFunc(words, func(w string) bool { return w == word }), word)
}

// unitWords returns the words for a unit and for what it is per.
func unitWords(unit string) [2]string {
	of, per, _ := strings.Cut(unit, "/")
	words := [2]string{unitWord(of), ""}
	if w := perWord(per); w != "" {
		words[1] = "per_" + w
	}
	return words
}

// unitWord is the word for a unit in UCUM's form; one that isn't known stands for itself,
// and one in braces says what is counted and is left out.
func unitWord(unit string) string {
	unit = strings.TrimSpace(unit)
	switch unit {
	case "1":
		return ""
	case "ns":
		return "nanoseconds"
	case "us":
		return "microseconds"
	case "ms":
		return "milliseconds"
	case "s":
		return "seconds"
	case "min":
		return "minutes"
	case "h":
		return "hours"
	case "d":
		return "days"
	case "By":
		return "bytes"
	case "KiBy":
		return "kibibytes"
	case "MiBy":
		return "mebibytes"
	case "GiBy":
		return "gibibytes"
	case "TiBy":
		return "tibibytes" // so the exporter spells it
	case "KBy":
		return "kilobytes"
	case "MBy":
		return "megabytes"
	case "GBy":
		return "gigabytes"
	case "TBy":
		return "terabytes"
	}
	return physicalWord(unit)
}

// physicalWord is unitWord of what isn't a time or a size.
func physicalWord(unit string) string {
	switch unit {
	case "m":
		return "meters"
	case "V":
		return "volts"
	case "A":
		return "amperes"
	case "J":
		return "joules"
	case "W":
		return "watts"
	case "g":
		return "grams"
	case "Cel":
		return "celsius"
	case "Hz":
		return "hertz"
	case "%":
		return "percent"
	}
	return plainUnit(unit)
}

func perWord(unit string) string {
	unit = strings.TrimSpace(unit)
	switch unit {
	case "s":
		return "second"
	case "m":
		return "minute"
	case "h":
		return "hour"
	case "d":
		return "day"
	case "w":
		return "week"
	case "mo":
		return "month"
	case "y":
		return "year"
	}
	return plainUnit(unit)
}

func plainUnit(unit string) string {
	if strings.ContainsAny(unit, "{}") {
		return ""
	}
	return strings.Trim(underscored(unit), "_")
}
