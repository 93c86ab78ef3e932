package otelx

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/spillway-go/spillway/observe"
)

// DuplicateError says that there are two components of one kind with one name. Their
// counts would be added up, and their gauges overwrite each other.
type DuplicateError struct {
	Component string // the kind, as in "limiter"
	Name      string // the name
	Lane      string // the lane's, within a set
}

// Error implements error.
func (e *DuplicateError) Error() string {
	if e.Lane != "" {
		return fmt.Sprintf("otelx: there are two lanes %q in %q", e.Lane, e.Name)
	}
	return fmt.Sprintf("otelx: there are two components %s %q: give them different names", e.Component, e.Name)
}

// identity is what tells one component's points from another's.
type identity struct{ component, name, lane string }

func identify(s observe.Snapshot) identity {
	id := identity{s.Component, s.Name, s.Lane}
	if id.component == "limiter" {
		id.component = "lane" // their metrics are the same
	}
	return id
}

// Registration is components whose metrics are collected. The zero Registration is none.
type Registration struct {
	in         *Instrumentation
	components []observe.Observable
	rows       map[string]instrument
	callback   metric.Registration // nil if nothing is measured

	mu    sync.Mutex // guards what follows; collections by several readers take turns
	over  bool
	run   uint64
	view  view
	known map[identity]*component
	told  map[string]uint64 // faults that were reported, and the run in which they last occurred
}

// component is what is kept of one between collections.
type component struct {
	run  uint64 // in which it was last seen
	sets []set
}

// set is the attributes of a point, as OpenTelemetry takes them.
type set struct {
	metric     string
	attributes []observe.Attribute
	opts       []metric.ObserveOption
}

// Register has the metrics of components collected from now on, until Unregister. Nil
// ones are left out. It looks at each of them once: if one has the name of another of its
// kind, among them or registered before, Register returns a *DuplicateError, if one
// panics, or describes a metric in another way than somebody else, another error, and
// nothing is registered then. Components that turn up later within an Observable, as
// clients come and go, are collected, too; one that turns up with a name that is taken is
// left out, and reported to OpenTelemetry's error handler once.
func (in *Instrumentation) Register(components ...observe.Observable) (*Registration, error) {
	r := &Registration{in: in, known: map[identity]*component{}, told: map[string]uint64{}, rows: map[string]instrument{}}
	for _, c := range components {
		if c != nil {
			r.components = append(r.components, c)
		}
	}
	in.registering.Lock()
	defer in.registering.Unlock()
	if err := r.claimAll(); err != nil {
		r.release()
		return nil, err
	}
	if in.meter == nil {
		return r, nil
	}
	if err := r.enlist(); err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

// Unregister ends the collection. It waits for one that is under way, so it must not be
// called by a component that is being observed. It may be called any number of times; the
// names are free afterwards.
func (r *Registration) Unregister() error {
	if r.in == nil {
		return nil
	}
	r.in.registering.Lock()
	defer r.in.registering.Unlock()
	var err error
	if r.callback != nil {
		err = r.callback.Unregister()
		r.callback = nil
	}
	r.release()
	return err
}

// claimAll takes the names of all components.
func (r *Registration) claimAll() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.run++
	for _, c := range r.components {
		if err := r.view.look(c); err != nil {
			return err
		}
		for _, s := range r.view.sights {
			if r.claimLocked(s.id) == nil {
				return s.duplicate()
			}
		}
	}
	return nil
}

// claimLocked returns what is known of a component, and nil if its name is somebody else's, or
// had its turn in this run.
func (r *Registration) claimLocked(id identity) *component {
	c := r.known[id]
	if c == nil {
		if !r.in.claim(id, r) {
			return nil
		}
		c = new(component)
		r.known[id] = c
	}
	if c.run == r.run {
		return nil
	}
	c.run = r.run
	return c
}

func (in *Instrumentation) claim(id identity, r *Registration) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.owners == nil { // the zero Instrumentation
		in.owners = map[identity]*Registration{}
	}
	if _, taken := in.owners[id]; taken {
		return false
	}
	in.owners[id] = r
	return true
}

func (in *Instrumentation) disown(id identity) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.owners, id)
}

// release gives all names back.
func (r *Registration) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	for id := range r.known {
		r.in.disown(id)
	}
	r.known = nil
}

// enlist makes the instruments that are still missing, and registers the callback.
func (r *Registration) enlist() error {
	described, err := describe(r.components)
	for _, row := range described {
		err = errors.Join(err, r.in.addRow(row))
	}
	if err != nil {
		return err
	}
	var all []metric.Observable
	r.in.mu.Lock()
	for name, i := range r.in.rows {
		r.rows[name] = i
		all = append(all, i.observable())
	}
	r.in.mu.Unlock()
	r.callback, err = r.in.meter.RegisterCallback(r.collect, all...)
	return err
}

// describe asks components for their own metrics, which is code of theirs.
func describe(components []observe.Observable) (rows []observe.Metric, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("otelx: a component panicked while it described its metrics: %v", fault)
		}
	}()
	return observe.Metrics(components...), nil
}

// reportLocked tells a fault to OpenTelemetry's error handler, once for as long as it lasts.
func (r *Registration) reportLocked(err error) {
	text := err.Error()
	if _, again := r.told[text]; !again {
		otel.Handle(err)
	}
	r.told[text] = r.run
}

// collect is the callback. It returns no error: a reader that gets one exports nothing at
// all, of nobody.
func (r *Registration) collect(_ context.Context, o metric.Observer) error {
	if !r.in.Enabled() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return nil
	}
	r.run++
	whole := true
	for _, c := range r.components {
		if err := r.view.look(c); err != nil {
			r.reportLocked(err)
			whole = false
			continue
		}
		for _, s := range r.view.sights {
			known := r.claimLocked(s.id)
			if known == nil {
				r.reportLocked(s.duplicate())
				continue
			}
			r.emitLocked(o, known, r.view.points[s.from:s.to])
		}
	}
	r.sweepLocked(whole)
	return nil
}

// emitLocked observes the points of a component. Points come in the same order each time, but
// for a few that come and go: so the set of each is looked for in its own place.
func (r *Registration) emitLocked(o metric.Observer, c *component, points []observe.Point) {
	n := 0
	for _, p := range points {
		i, ok := r.rows[p.Metric.Name]
		if !ok {
			if p.Metric.Kind != observe.Histogram { // which nobody reads from outside
				r.reportLocked(fmt.Errorf("otelx: metric %s is not among the Metrics of its component", p.Metric.Name))
			}
			continue
		}
		if n == len(c.sets) {
			c.sets = append(c.sets, set{})
		}
		c.sets[n].become(p)
		i.observe(o, p.Value, c.sets[n].opts)
		n++
	}
	c.sets = c.sets[:n]
}

// sweepLocked forgets components that are gone, unless some couldn't be looked at, and faults
// that are over.
func (r *Registration) sweepLocked(whole bool) {
	for id, c := range r.known {
		if whole && c.run != r.run {
			delete(r.known, id)
			r.in.disown(id)
		}
	}
	for text, run := range r.told {
		if run != r.run {
			delete(r.told, text)
		}
	}
}
