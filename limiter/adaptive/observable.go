package adaptive

import "github.com/spillway-go/spillway/observe"

var _ observe.Describer = (*Controller)(nil)

const (
	attrGuard = "spillway.limiter.name"
	attrCause = "spillway.adaptive.cause"
	attrClass = "spillway.adaptive.class"
)

// metrics are those of a controller. What its guard does is in the guard's own.
type metrics struct{ limit, ratio, healthy, held, reference, changes observe.Metric }

func ownMetrics() metrics {
	guard := []string{attrGuard}
	return metrics{
		limit: observe.Metric{
			Name: "spillway.adaptive.limit", Kind: observe.Gauge, Unit: "{permit}",
			Description: "The limit that was computed, which may be a fraction", Attributes: guard,
		},
		ratio: observe.Metric{
			Name: "spillway.adaptive.latency.ratio", Kind: observe.Gauge, Unit: "1",
			Description: "Latency over its reference in the last window, over all classes", Attributes: guard,
		},
		healthy: observe.Metric{
			Name: "spillway.adaptive.healthy", Kind: observe.Gauge, Unit: "{permit}",
			Description: "Permits in use on average while all was well", Attributes: guard,
		},
		held: observe.Metric{
			Name: "spillway.adaptive.held", Kind: observe.Gauge, Unit: "s",
			Description: "For how long latency alone has kept the limit at its floor", Attributes: guard,
		},
		reference: observe.Metric{
			Name: "spillway.adaptive.reference", Kind: observe.Gauge, Unit: "s",
			Description: "Latency of a class while the backend has room; 0 if it isn't known yet", Attributes: []string{attrGuard, attrClass},
		},
		changes: observe.Metric{
			Name: "spillway.adaptive.changes", Kind: observe.Counter, Unit: "{change}",
			Description: "Changes of the computed limit, by cause", Attributes: []string{attrGuard, attrCause},
		},
	}
}

// Metrics implements observe.Describer.
func (c *Controller) Metrics() []observe.Metric {
	m := ownMetrics()
	return []observe.Metric{m.limit, m.ratio, m.healthy, m.held, m.reference, m.changes}
}

// Observe implements observe.Observable: what the controller knows, under the name of its
// guard, which is a component of its own.
func (c *Controller) Observe(yield func(observe.Snapshot) bool) {
	if c.guard == nil {
		return
	}
	s, m := c.Stats(), ownMetrics()
	var points []observe.Point
	add := func(m observe.Metric, v float64, of string) {
		p := observe.Point{Metric: m, Value: v, Attributes: []observe.Attribute{{Key: attrGuard, Value: s.Name}}}
		if of != "" {
			p.Attributes = append(p.Attributes, observe.Attribute{Key: m.Attributes[1], Value: of})
		}
		points = append(points, p)
	}
	add(m.limit, s.Limit, "")
	add(m.ratio, s.Last.Ratio, "")
	add(m.healthy, s.Healthy, "")
	add(m.held, s.Held.Seconds(), "")
	for _, k := range s.Classes {
		add(m.reference, k.Reference.Seconds(), k.Name)
	}
	for cause, n := range s.Changes {
		if Cause(cause) != Steady { // which isn't one
			add(m.changes, float64(n), Cause(cause).String())
		}
	}
	yield(observe.Snapshot{Component: "adaptive", Name: s.Name, Own: points})
}
