package nethttp

import (
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/retry"
)

var (
	_ observe.Describer = (*Guard)(nil)
	_ observe.Describer = (*Transport)(nil)
)

const (
	attrName   = "spillway.component.name"
	attrResult = "spillway.http.result"
)

// metrics are those that guards and transports have beside those of the limiters, lanes
// and retriers in them.
type metrics struct{ requests, serving, hijacked, open observe.Metric }

func ownMetrics() metrics {
	return metrics{
		requests: observe.Metric{
			Name: "spillway.http.server.requests", Kind: observe.Counter, Unit: "{request}",
			Description: "Requests that came to a guard, by what became of them", Attributes: []string{attrName, attrResult},
		},
		serving: observe.Metric{
			Name: "spillway.http.server.serving", Kind: observe.UpDownCounter, Unit: "{request}",
			Description: "Requests in their handlers, with a permit", Attributes: []string{attrName},
		},
		hijacked: observe.Metric{
			Name: "spillway.http.server.hijacked", Kind: observe.UpDownCounter, Unit: "{connection}",
			Description: "Hijacked connections that hold a permit", Attributes: []string{attrName},
		},
		open: observe.Metric{
			Name: "spillway.http.client.open", Kind: observe.UpDownCounter, Unit: "{request}",
			Description: "Attempts under way and answers whose bodies are open", Attributes: []string{attrName},
		},
	}
}

// point returns a value of a metric; result is empty if the metric has none.
func point(m observe.Metric, v float64, name, result string) observe.Point {
	p := observe.Point{Metric: m, Value: v, Attributes: []observe.Attribute{{Key: attrName, Value: name}}}
	if result != "" {
		p.Attributes = append(p.Attributes, observe.Attribute{Key: attrResult, Value: result})
	}
	return p
}

// Metrics implements observe.Describer.
func (g *Guard) Metrics() []observe.Metric {
	m := ownMetrics()
	return []observe.Metric{m.requests, m.serving, m.hijacked}
}

// Observe implements observe.Observable: what only the guard knows. Its admission is a
// component of its own.
func (g *Guard) Observe(yield func(observe.Snapshot) bool) {
	s, m := g.Stats(), ownMetrics()
	yield(observe.Snapshot{Component: "http guard", Name: s.Name, Own: []observe.Point{
		point(m.requests, float64(s.Exempt), s.Name, "exempt"),
		point(m.requests, float64(s.Admitted), s.Name, "admitted"),
		point(m.requests, float64(s.Refused), s.Name, "refused"),
		point(m.requests, float64(s.Canceled), s.Name, "canceled"),
		point(m.serving, float64(s.Serving), s.Name, ""),
		point(m.hijacked, float64(s.Held), s.Name, ""),
	}})
}

// Metrics implements observe.Describer.
func (t *Transport) Metrics() []observe.Metric { return []observe.Metric{ownMetrics().open} }

// Observe implements observe.Observable: the transport, its two retriers and their budget.
// Its admission is a component of its own.
func (t *Transport) Observe(yield func(observe.Snapshot) bool) {
	s := t.Stats()
	open := point(ownMetrics().open, float64(s.Open), s.Name, "")
	if !yield(observe.Snapshot{Component: "http transport", Name: s.Name, Own: []observe.Point{open}}) || t.cfg.Base == nil {
		return
	}
	for _, r := range []retry.Stats{s.Idempotent, s.Once} {
		if !yield(observe.Snapshot{Component: "retry", Name: r.Name, Retry: &r}) {
			return
		}
	}
	if b := t.cfg.Retry.Budget; b != nil {
		stats := b.Stats()
		yield(observe.Snapshot{Component: "budget", Name: s.Idempotent.Name, Budget: &stats})
	}
}
