package aerospike

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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
	// Adaptive is what is done by that which moves the limit, if LaneConfig.Adaptive has
	// something do that: enforce, shadow, or off, with which Limit is in force.
	Adaptive *spillway.Mode `json:"adaptive,omitempty" yaml:"adaptive,omitempty"`
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

// ParseSettings decodes settings from JSON, as the operator of a running process writes
// them. What wouldn't be in force is an error, so that it isn't found out in the next
// overload: a key that doesn't exist or stands twice in an object, a null, a 0. A
// *spillway.ConfigError lists all that is wrong by its keys, as in lanes.read.limit.
func ParseSettings(data []byte) (Settings, error) {
	if text := string(bytes.TrimSpace(data)); text == "" || text == "null" { // a file that is just being written
		return Settings{}, errors.New("aerospike: settings: there is no JSON object")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return Settings{}, fmt.Errorf("aerospike: settings: %w", err)
	}
	var s Settings
	e := &spillway.ConfigError{Component: "aerospike.Settings"}
	eachKey(e, "", whole, func(key, path string, value json.RawMessage) {
		switch key {
		case "lanes":
			s.Lanes = map[string]LaneSettings{}
			eachKey(e, path, value, func(name, path string, value json.RawMessage) {
				var l LaneSettings
				eachKey(e, path, value, func(field, path string, value json.RawMessage) {
					addFault(e, path, scalar(value), l.set(field, scalar(value)))
				})
				s.Lanes[name] = l
			})
		case "reads", "writes":
			retries := s.retries(key)
			eachKey(e, path, value, func(field, path string, value json.RawMessage) {
				addFault(e, path, scalar(value), retries.set(field, scalar(value)))
			})
		default:
			addFault(e, path, scalar(value), s.set(key, scalar(value)))
		}
	})
	if err := e.Err(); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// eachKey calls f with each key of an object in JSON, the path that leads to it, and its
// value. What is no object, and a key that stands twice, is a fault.
func eachKey(e *spillway.ConfigError, path string, object json.RawMessage, f func(key, path string, value json.RawMessage)) {
	d := json.NewDecoder(bytes.NewReader(object))
	if begin, _ := d.Token(); begin != json.Delim('{') {
		e.Add(cmp.Or(path, "all of it"), string(object), "must be an object")
		return
	}
	seen := map[string]bool{}
	for d.More() { // errors are none: it is JSON
		token, _ := d.Token()
		key, _ := token.(string)
		var value json.RawMessage
		_ = d.Decode(&value)
		below := strings.TrimPrefix(path+"."+key, ".")
		if seen[key] {
			e.Add(below, scalar(value), "stands twice in one object")
			continue
		}
		seen[key] = true
		f(key, below, value)
	}
}

// scalar is a value in JSON as the environment would have it.
func scalar(value json.RawMessage) string {
	var text *string
	if err := json.Unmarshal(value, &text); err != nil || text == nil {
		return string(value)
	}
	return *text
}

// SettingsFromEnv decodes settings from variables of the environment ("KEY=value", as
// of os.Environ) that begin with the prefix, for example SPILLWAY_:
//
//	SPILLWAY_MODE=shadow
//	SPILLWAY_LANE_READ_LIMIT=48
//	SPILLWAY_LANE_READ_ADAPTIVE=off
//	SPILLWAY_LANE_STREAM_MODE=refuse-all
//	SPILLWAY_READS_ATTEMPTS=2
//	SPILLWAY_WRITES_BASE=20ms
//
// Names of lanes are taken in lower case. All faults are listed at once; a variable
// with the prefix that means nothing, and a 0, is one.
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
		addFault(e, key, value, s.setVariable(name, value))
	}
	if err := e.Err(); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// addFault notes what is wrong with a setting, if anything is.
func addFault(e *spillway.ConfigError, key, value string, err error) {
	if err != nil {
		e.Add(key, value, err.Error())
	}
}

// setVariable sets one field by its name in the environment.
func (s *Settings) setVariable(name, value string) error {
	kind, rest, _ := strings.Cut(name, "_")
	switch kind {
	case "lane":
		i := strings.LastIndexByte(rest, '_')
		if i < 1 {
			return errUnknownKey
		}
		if s.Lanes == nil {
			s.Lanes = map[string]LaneSettings{}
		}
		l := s.Lanes[rest[:i]]
		err := l.set(rest[i+1:], value)
		s.Lanes[rest[:i]] = l
		return err
	case "reads", "writes":
		return s.retries(kind).set(rest, value)
	}
	return s.set(name, value)
}

var errUnknownKey = errors.New("is no setting")

func (s *Settings) set(key, value string) (err error) {
	if key != "mode" {
		return errUnknownKey
	}
	s.Mode, err = parseMode(value)
	return err
}

// retries are the settings of reads or of writes, which are there from then on.
func (s *Settings) retries(kind string) *RetrySettings {
	r := &s.Reads
	if kind == "writes" {
		r = &s.Writes
	}
	if *r == nil {
		*r = new(RetrySettings)
	}
	return *r
}

func (l *LaneSettings) set(field, value string) (err error) {
	switch field {
	case "limit":
		l.Limit, err = parseCount(value)
	case "mode":
		l.Mode, err = parseMode(value)
	case "adaptive":
		if l.Adaptive, err = parseMode(value); err != nil || *l.Adaptive == spillway.RefuseAll {
			err = errors.New("must be enforce, shadow or off")
		}
	default:
		err = errUnknownKey
	}
	return err
}

func (r *RetrySettings) set(field, value string) (err error) {
	switch field {
	case "attempts":
		r.Attempts, err = parseCount(value)
	case "base":
		r.Base, err = parseDuration(value)
	case "cap":
		r.Cap, err = parseDuration(value)
	default:
		err = errUnknownKey
	}
	return err
}

func parseMode(value string) (*spillway.Mode, error) {
	mode := new(spillway.Mode)
	if mode.UnmarshalText([]byte(value)) != nil {
		return nil, errors.New("must be enforce, shadow, off or refuse-all")
	}
	return mode, nil
}

// A 0 would be taken for what isn't there, and leave what is in force.
func parseCount(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, errors.New("must be a number")
	}
	if n < 1 {
		return 0, errors.New("must be at least 1; leave it out to leave it as it is")
	}
	return n, nil
}

func parseDuration(value string) (d Duration, err error) {
	if d.UnmarshalText([]byte(value)) != nil || d <= 0 {
		return 0, errors.New(`must be a positive time, as in "20ms"; leave it out to leave it as it is`)
	}
	return d, nil
}
