package debugz

import (
	"encoding/json"
	"io"
	"strings"
	"time"
)

// report is what is shown, in whatever form. JSON has the names of its fields; fields may
// be added.
type report struct {
	Title      string    `json:"title"`
	Host       string    `json:"host"`
	PID        int       `json:"pid"`
	Goroutines int       `json:"goroutines"`
	At         time.Time `json:"at"`
	// Window is how long the rates are over; not known if nobody has looked for a minute.
	Window  seconds  `json:"window_seconds"`
	Refresh seconds  `json:"-"` // how often the page asks anew
	Stale   string   `json:"stale,omitempty"`
	Faults  []string `json:"faults,omitempty"` // what is wrong with the page's own subjects
	Need    int      `json:"need_somebody"`    // components at level warn or bad
	Worst   level    `json:"worst"`
	Entries []*entry `json:"components"` // what needs somebody first
	Logged  bool     `json:"-"`          // whether there is a log
	Counted []tally  `json:"refusals,omitempty"`
	Events  []event  `json:"events,omitempty"`
}

// entry is one component.
type entry struct {
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Lane    string   `json:"lane,omitempty"`
	Node    string   `json:"node,omitempty"`
	Level   level    `json:"level"`
	Verdict string   `json:"verdict"`
	Reason  string   `json:"reason"`
	Since   seconds  `json:"since_seconds"` // for how long the verdict has been that, as far as somebody looked
	Guard   *guarded `json:"guard,omitempty"`
	Use     *use     `json:"use,omitempty"`
	Figures facts    `json:"figures,omitempty"` // what its kind has a column for
	Facts   facts    `json:"facts,omitempty"`   // what else there is
	Parts   []*entry `json:"parts,omitempty"`   // details, of which this is the sum

	id     id
	urgent int
}

// use is how much there is of something, and how much of it is taken.
type use struct {
	Of    string  `json:"of"`
	Taken float64 `json:"taken"`
	Limit float64 `json:"limit"`
}

// fact is a number or a word with its name.
type fact struct {
	Name  string
	Value any // a string, a count, a perSecond or a seconds
}

// facts is an object in JSON, in its order.
type facts []fact

// MarshalJSON gives rates and durations names that say what they are.
func (fs facts) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range fs {
		if i > 0 {
			b = append(b, ',')
		}
		name := strings.ReplaceAll(f.Name, " ", "_")
		switch f.Value.(type) {
		case perSecond:
			name += "_per_second"
		case seconds:
			name += "_seconds"
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.Value)
		if err != nil {
			return nil, err
		}
		b = append(b, key...)
		b = append(b, ':')
		b = append(b, value...)
	}
	return append(b, '}'), nil
}

// Title is what the entry is called.
func (e *entry) Title() string {
	t := e.Name
	if e.Lane != "" {
		t += "/" + e.Lane
	}
	if e.Node != "" {
		t += " at " + e.Node
	}
	return t
}

// Key tells the entry from the others of a page.
func (e *entry) Key() string { return e.Kind + " " + e.Title() }

// Worst is the most urgent of an entry and its parts.
func (e *entry) Worst() *entry {
	worst := e
	for _, p := range e.Parts {
		if p.urgent > worst.urgent {
			worst = p
		}
	}
	return worst
}

func writeJSON(w io.Writer, r *report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
