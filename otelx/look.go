package otelx

import (
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/spillway-go/spillway/observe"
)

// view is what was seen of components. It is used again for the next look.
type view struct {
	sights []sight
	points []observe.Point
}

// sight is what was seen of one component.
type sight struct {
	id        identity
	component string // its kind
	from, to  int    // its points
}

func (s sight) duplicate() error {
	return &DuplicateError{Component: s.component, Name: s.id.name, Lane: s.id.lane}
}

// look observes an Observable, details left out. If it panics, nothing was seen.
func (v *view) look(o observe.Observable) (err error) {
	v.sights, v.points = v.sights[:0], v.points[:0]
	defer func() {
		if fault := recover(); fault != nil {
			v.sights = v.sights[:0]
			err = fmt.Errorf("otelx: a component panicked while it was observed: %v", fault)
		}
	}()
	o.Observe(func(s observe.Snapshot) bool {
		if s.Detail {
			return true
		}
		from := len(v.points)
		v.points = slices.AppendSeq(v.points, s.Points())
		v.sights = append(v.sights, sight{identify(s), s.Component, from, len(v.points)})
		return true
	})
	return nil
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
