package otelx

import (
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/spillway-go/spillway/observe"
)

// sight is what was seen of a component.
type sight struct {
	id        identity
	component string // its kind
	points    []observe.Point
}

func (s sight) duplicate() error {
	return &DuplicateError{Component: s.component, Name: s.id.name, Lane: s.id.lane}
}

// look observes an Observable, details left out. If it panics, nothing was seen.
func look(o observe.Observable) (seen []sight, err error) {
	defer func() {
		if v := recover(); v != nil {
			seen, err = nil, fmt.Errorf("otelx: a component panicked while it was observed: %v", v)
		}
	}()
	o.Observe(func(s observe.Snapshot) bool {
		if !s.Detail {
			seen = append(seen, sight{identify(s), s.Component, slices.Collect(s.Points())})
		}
		return true
	})
	return seen, nil
}

// become makes s the set of the point, which it mostly is already.
func (s *set) become(p observe.Point) {
	if s.metric == p.Metric.Name && slices.Equal(s.attributes, p.Attributes) {
		return
	}
	attributes := make([]attribute.KeyValue, len(p.Attributes))
	for i, a := range p.Attributes {
		attributes[i] = attribute.String(a.Key, a.Value)
	}
	s.metric, s.attributes = p.Metric.Name, p.Attributes
	s.opts = []metric.ObserveOption{metric.WithAttributeSet(attribute.NewSet(attributes...))}
}
