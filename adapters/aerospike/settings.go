package aerospike

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
)

// Settings are what can be changed while calls are under way: see [Client.Apply]. They
// are data: they decode from JSON ([ParseSettings]), from the environment
// ([SettingsFromEnv]), and from YAML by a decoder of your own, which should refuse
// unknown keys. What is absent isn't changed. The zero Settings change nothing.
type Settings struct {
	// Mode is what all lanes do: enforce, shadow, off or refuse-all.
	Mode *spillway.Mode `json:"mode,omitempty" yaml:"mode,omitempty"`
	// Lanes are settings of single lanes, by name.
	Lanes map[string]LaneSettings `json:"lanes,omitempty" yaml:"lanes,omitempty"`
	// Reads and Writes are how reads, and writes that were declared idempotent, are
	// retried.
	Reads  *RetrySettings `json:"reads,omitempty" yaml:"reads,omitempty"`
	Writes *RetrySettings `json:"writes,omitempty" yaml:"writes,omitempty"`
}

// LaneSettings are the settings of one lane.
type LaneSettings struct {
	// Limit is how many calls the lane has in the driver, per node; 0 leaves it.
	Limit int `json:"limit,omitempty" yaml:"limit,omitempty"`
	// Mode is what this lane does, whatever all lanes do; to follow them again, set the
	// mode of all and leave this out.
	Mode *spillway.Mode `json:"mode,omitempty" yaml:"mode,omitempty"`
}

// RetrySettings are how one kind of call is retried.
type RetrySettings struct {
	// Attempts is how often a call is made at most; 1 is no retry; 0 leaves it, also at
	// none.
	Attempts int `json:"attempts,omitempty" yaml:"attempts,omitempty"`
	// Base and Cap bound the back-off, as in "10ms"; zero leaves them.
	Base Duration `json:"base,omitempty" yaml:"base,omitempty"`
	Cap  Duration `json:"cap,omitempty" yaml:"cap,omitempty"`
}

// Duration is a time.Duration that reads and writes itself as in "10ms".
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}

// ParseSettings decodes settings from JSON. A key that doesn't exist is an error, and so is
// one that stands twice in an object, of which one would be lost: a setting that isn't in
// force because of a typing error would be found out in the next overload.
func ParseSettings(data []byte) (Settings, error) {
	var s *Settings
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	switch err := d.Decode(&s); {
	case errors.Is(err, io.EOF), err == nil && s == nil: // null
		return Settings{}, errors.New("aerospike: settings: there is no JSON object")
	case err != nil:
		return Settings{}, fmt.Errorf("aerospike: settings: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Settings{}, errors.New("aerospike: settings: there is something behind the JSON object")
	}
	if key := repeated(json.NewDecoder(bytes.NewReader(data)), false); key != "" {
		return Settings{}, fmt.Errorf("aerospike: settings: the key %q stands twice in one object", key)
	}
	return *s, nil
}

// repeated returns a key that stands twice in one object of a value that was decoded; none
// is empty. In which case letters are is all the same to the decoder, but for the names of
// lanes.
func repeated(d *json.Decoder, lanes bool) string {
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return "" // settings have no lists
	}
	seen := map[string]bool{}
	for d.More() {
		token, _ := d.Token()
		key, _ := token.(string)
		folded := strings.ToLower(strings.ToUpper(key))
		if !lanes {
			key = folded
		}
		if seen[key] {
			return key
		}
		seen[key] = true
		if below := repeated(d, !lanes && folded == "lanes"); below != "" {
			return below
		}
	}
	_, _ = d.Token() // its end; all was decoded before
	return ""
}

// SettingsFromEnv decodes settings from variables of the environment ("KEY=value", as
// of os.Environ) that begin with the prefix, for example SPILLWAY_:
//
//	SPILLWAY_MODE=shadow
//	SPILLWAY_LANE_READ_LIMIT=48
//	SPILLWAY_LANE_STREAM_MODE=refuse-all
//	SPILLWAY_READS_ATTEMPTS=2
//	SPILLWAY_WRITES_BASE=20ms
//
// Names of lanes are taken in lower case. All faults are listed at once; a variable
// with the prefix that means nothing is one.
func SettingsFromEnv(prefix string, environ []string) (Settings, error) {
	var s Settings
	e := &spillway.ConfigError{Component: "aerospike.Settings"}
	if prefix == "" {
		e.Add("prefix", prefix, "must not be empty")
		return s, e
	}
	seen := map[string]bool{}
	for _, entry := range environ {
		key, value, _ := strings.Cut(entry, "=")
		name, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		name = strings.ToLower(name)
		if seen[name] {
			e.Add(key, value, "is there in another case, too")
		}
		seen[name] = true
		if err := s.set(name, value); err != nil {
			e.Add(key, value, err.Error())
		}
	}
	if err := e.Err(); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// set sets one field by its name in the environment.
func (s *Settings) set(name, value string) error {
	kind, rest, _ := strings.Cut(name, "_")
	switch {
	case name == "mode":
		s.Mode = new(spillway.Mode)
		return s.Mode.UnmarshalText([]byte(value))
	case kind == "lane":
		return s.setLane(rest, value)
	case kind == "reads":
		if s.Reads == nil {
			s.Reads = new(RetrySettings)
		}
		return s.Reads.set(rest, value)
	case kind == "writes":
		if s.Writes == nil {
			s.Writes = new(RetrySettings)
		}
		return s.Writes.set(rest, value)
	}
	return errUnknownKey
}

var errUnknownKey = errors.New("is no setting")

func (s *Settings) setLane(name, value string) error {
	i := strings.LastIndexByte(name, '_')
	if i < 1 {
		return errUnknownKey
	}
	lane, field := name[:i], name[i+1:]
	l := s.Lanes[lane]
	switch field {
	case "limit":
		n, err := strconv.Atoi(value)
		if err != nil {
			return errors.New("must be a number")
		}
		l.Limit = n
	case "mode":
		l.Mode = new(spillway.Mode)
		if err := l.Mode.UnmarshalText([]byte(value)); err != nil {
			return err
		}
	default:
		return errUnknownKey
	}
	if s.Lanes == nil {
		s.Lanes = map[string]LaneSettings{}
	}
	s.Lanes[lane] = l
	return nil
}

func (r *RetrySettings) set(name, value string) error {
	switch name {
	case "attempts":
		n, err := strconv.Atoi(value)
		if err != nil {
			return errors.New("must be a number")
		}
		r.Attempts = n
		return nil
	case "base":
		return r.Base.UnmarshalText([]byte(value))
	case "cap":
		return r.Cap.UnmarshalText([]byte(value))
	}
	return errUnknownKey
}
