package permit

import (
	"fmt"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
)

// Options are the settings of a Core. They were validated: by Validate, and by the
// package that makes it.
type Options struct {
	Component  string         // "limiter" or "lane", for errors
	Name       string         // the component's name
	Limit      int            // 1 to MaxLimit
	Mode       spillway.Mode  // a valid one
	RetryAfter time.Duration  // the hint that rejections carry; 0 for none
	Sample     int            // every how many admissions the hold is timed; 0 never
	Track      spillway.Track // what is kept of who holds a permit
	Nested     bool           // whether an operation may not enter its own core again
	HoldWarn   time.Duration  // from when on a hold is told to the hook; 0 never
	Room       int            // places in the queue; 0 if there is none, nor a hint in rejections
	MaxWait    time.Duration  // the longest time in the queue; 0 if only the context bounds it
	Newest     bool           // whether the newest waiter is served first, and old ones are shed
	Estimate   bool           // whether the time that calls take is estimated
	Predict    bool           // whether who can't be served in time is refused at once
	Hooks      []Hooks        // told in this order
}

// SampleEvery is the Sample of limiters and lanes. A reading of the clock costs as much
// as the admission itself; one in 64 vanishes, and a busy core still has hundreds of
// samples a second. Of calls that have waited more are timed: see waitedSamples. It must
// be a power of two.
const SampleEvery = 64

// Validate notes the faults of what limiters and lanes have in common; prefix says whose
// it is.
func (o Options) Validate(e *spillway.ConfigError, prefix string) {
	add := func(field string, value any, problem string) { e.Add(prefix+field, value, problem) }
	if strings.TrimSpace(o.Name) == "" {
		add("Name", o.Name, "must not be empty")
	}
	if o.Limit < 1 || o.Limit > MaxLimit {
		add("Limit", o.Limit, limitRange())
	}
	if !o.Mode.Valid() {
		add("Mode", o.Mode, knownModes)
	}
	if o.RetryAfter < 0 {
		add("RetryAfter", o.RetryAfter, "must not be negative")
	}
	if !o.Track.Valid() {
		add("Track", o.Track, "must be TrackOff, TrackSite or TrackStack")
	}
	if o.HoldWarn < 0 {
		add("HoldWarn", o.HoldWarn, "must not be negative")
	}
	if o.HoldWarn > 0 && o.Track == spillway.TrackOff {
		add("HoldWarn", o.HoldWarn, "needs Track to be TrackSite or TrackStack")
	}
}

// What a limit and a mode must be, in New as in SetLimit and SetMode.
const knownModes = "must be Enforce, Shadow, Off or RefuseAll"

func limitRange() string { return fmt.Sprintf("must be from 1 to %d", MaxLimit) }

// fault is the error of a setting that can't be had.
func (c *Core) fault(field string, value any, problem string) error {
	e := &spillway.ConfigError{Component: c.opts.Component, Name: c.opts.Name}
	e.Add(field, value, problem)
	return e
}
