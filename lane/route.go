package lane

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spillway-go/spillway"
)

// routes find the lane of a call. They never change.
type routes struct {
	kind    string // what they are of, as in errors
	name    string
	index   map[string]int
	classes map[spillway.Class]int
	byIndex []string
	def     int
}

// intoKey is the context key of one set or router: Into speaks to that one alone.
type intoKey struct{ r *routes }

// newRoutes validates names, default and classes.
func newRoutes(e *spillway.ConfigError, name string, lanes []string, def string, classes map[spillway.Class]string) *routes {
	r := &routes{kind: e.Component, name: name, index: map[string]int{}, classes: map[spillway.Class]int{}, byIndex: lanes}
	if strings.TrimSpace(name) == "" {
		e.Add("Name", name, "must not be empty")
	}
	if len(lanes) == 0 {
		e.Add("Lanes", lanes, "must have at least one lane")
	}
	for i, lane := range lanes {
		if _, twice := r.index[lane]; twice {
			e.Add(fmt.Sprintf("Lanes[%d].Name", i), lane, "must be unique")
			continue
		}
		r.index[lane] = i
	}
	var ok bool
	if r.def, ok = r.index[def]; !ok {
		e.Add("Default", def, "must be the name of one of the lanes")
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		i, ok := r.index[classes[class]]
		if !ok {
			e.Add(fmt.Sprintf("Classes[%s]", class), classes[class], "must be the name of one of the lanes")
		}
		r.classes[class] = i
	}
	return r
}

// into returns a context whose calls go to the lane.
func (r *routes) into(ctx context.Context, lane string) context.Context {
	return context.WithValue(ctx, intoKey{r}, lane)
}

// find returns the index of the lane that ctx's calls go to.
func (r *routes) find(ctx context.Context) (int, error) {
	if lane, ok := ctx.Value(intoKey{r}).(string); ok {
		if i, ok := r.index[lane]; ok {
			return i, nil
		}
		return 0, &UnknownLaneError{Component: r.kind, Name: r.name, Lane: lane, Known: slices.Clone(r.byIndex)}
	}
	if len(r.classes) > 0 {
		if class, ok := spillway.ClassFrom(ctx); ok {
			if i, ok := r.classes[class]; ok {
				return i, nil
			}
		}
	}
	return r.def, nil
}

// UnknownLaneError says that a context names a lane that its set or router doesn't
// have. The operation wasn't run.
type UnknownLaneError struct {
	Component string   // "lane set" or "lane router"
	Name      string   // its name
	Lane      string   // what the context named
	Known     []string // the lanes there are
}

// Error implements error.
func (e *UnknownLaneError) Error() string {
	return fmt.Sprintf("%s %q has no lane %q: there are %s", e.Component, e.Name, e.Lane, strings.Join(e.Known, ", "))
}

// Outcome returns OutcomePermanent: the same call fails again.
func (e *UnknownLaneError) Outcome() spillway.Outcome { return spillway.OutcomePermanent }

// ErrorType returns "unknown_lane", the value of the error.type attribute.
func (e *UnknownLaneError) ErrorType() string { return "unknown_lane" }
