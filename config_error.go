package spillway

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Fault is one field of a configuration that can't be used.
type Fault struct {
	Field   string // the field's name, as in "Limit" or "Lanes[2].Name"
	Value   any    // what was found there
	Problem string // what is wrong with it, and what would be right
}

// ConfigError lists every fault of a configuration at once. A constructor that
// returns one has started nothing and changed nothing.
type ConfigError struct {
	Component string // whose configuration, as in "limiter"
	Name      string // its name, as configured; empty if it has none
	Faults    []Fault
}

// Error implements error: one line with whose it is, and the field, value and problem of
// each fault.
func (e *ConfigError) Error() string {
	var b strings.Builder
	b.WriteString(e.Component)
	if e.Name != "" {
		fmt.Fprintf(&b, " %q", e.Name)
	}
	b.WriteString(": invalid configuration")
	sep := ": "
	for _, f := range e.Faults {
		fmt.Fprintf(&b, "%s%s is %s: %s", sep, f.Field, quoteValue(f.Value), f.Problem)
		sep = "; "
	}
	return b.String()
}

// Outcome returns OutcomePermanent: the same configuration fails again.
func (e *ConfigError) Outcome() Outcome { return OutcomePermanent }

// ErrorType returns "invalid_config", the value of the error.type attribute.
func (e *ConfigError) ErrorType() string { return "invalid_config" }

// Add notes a fault. It is meant for constructors, while they validate; it must
// not be called once the error was returned.
func (e *ConfigError) Add(field string, value any, problem string) {
	e.Faults = append(e.Faults, Fault{Field: field, Value: value, Problem: problem})
}

// Include notes the faults of a part's configuration, as of fields of the whole: their
// names get the prefix. Those of the fields in except, which the whole doesn't have, are
// left out. An err that is no *ConfigError has no faults. It is meant for constructors,
// as Add is.
func (e *ConfigError) Include(prefix string, err error, except ...string) {
	var part *ConfigError
	if !errors.As(err, &part) {
		return
	}
	for _, f := range part.Faults {
		if !slices.Contains(except, f.Field) {
			e.Add(prefix+f.Field, f.Value, f.Problem)
		}
	}
}

// Err returns e if it has faults, else nil.
func (e *ConfigError) Err() error {
	if len(e.Faults) == 0 {
		return nil
	}
	return e
}

// quoteValue prints strings in quotes, so that an empty one can be seen.
func quoteValue(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%v", v)
}
