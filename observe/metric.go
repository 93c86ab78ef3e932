package observe

import (
	"fmt"
	"slices"

	"github.com/spillway-go/spillway"
)

// Kind is how the values of a metric add up. The zero Kind is Counter.
type Kind uint8

// The kinds of metrics, with OpenTelemetry's names.
const (
	Counter       Kind = iota // only grows; values of different attributes add up
	UpDownCounter             // goes up and down; values of different attributes add up
	Gauge                     // a value of the moment; adding makes no sense
	Histogram                 // how long things took, in buckets
)

var kindNames = [...]string{"counter", "updowncounter", "gauge", "histogram"}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Metric is a row of the table. It is read-only.
type Metric struct {
	Name        string   // the name, in OpenTelemetry's form
	Kind        Kind     // how its values add up
	Unit        string   // the unit, in UCUM's form: s, 1, {permit}
	Description string   // what it says, in a sentence without its full stop
	Attributes  []string // the attributes that its points may have, in order
}

// Table returns every metric that this package makes, in the order in which they are
// documented. The caller may keep it and change it.
func Table() []Metric {
	rows := slices.Clone(table[:])
	for i := range rows {
		rows[i].Attributes = slices.Clone(rows[i].Attributes)
	}
	return rows
}

// Attribute is a name and a value that tell one point of a metric from another.
type Attribute struct{ Key, Value string }

// Point is one value of a metric.
type Point struct {
	Metric     Metric      // the row of the table, or a row of the component's own
	Attributes []Attribute // in the order of Metric.Attributes; those without a value are left out
	Value      float64     // of counters and gauges: durations in seconds
	// Distribution holds the values of a Histogram, and is nil for other kinds.
	Distribution *spillway.Distribution
}

// Attribute returns the value of an attribute; empty if the point doesn't have it.
func (p Point) Attribute(key string) string {
	for _, a := range p.Attributes {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}
