package observe

import (
	"iter"
	"slices"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/retry"
)

// Observable is what can be observed: a component, or a client made of several.
type Observable interface {
	// Observe yields a snapshot of each component, always in the same order. It is called
	// by any goroutine, at any time, and must not block.
	Observe(yield func(Snapshot) bool)
}

// Describer is an Observable whose snapshots have points of their own. Telemetry makes
// its instruments before it sees the first point, so it asks for their metrics.
type Describer interface {
	Observable
	// Metrics returns the metrics of the snapshots' own points, and no others. It returns
	// the same at all times; the caller may keep it and must not change it.
	Metrics() []Metric
}

// Metrics returns the metrics of the own points of all that are a Describer, each once.
// Nil ones are left out.
func Metrics(all ...Observable) []Metric {
	var found []Metric
	for _, o := range all {
		d, ok := o.(Describer)
		if !ok {
			continue
		}
		for _, m := range d.Metrics() {
			if !slices.ContainsFunc(found, func(have Metric) bool { return have.Name == m.Name }) {
				found = append(found, m)
			}
		}
	}
	return found
}

// Snapshot is a component at one moment. Exactly one of the pointers is set, unless it is
// a component of somebody else's, which has points of its own and no pointer. It is
// read-only.
type Snapshot struct {
	Component string // its kind: limiter, lane, executor, retry, budget, lifecycle, registry, …
	Name      string // its name, unique among its kind; of a lane in a set, the set's
	Lane      string // the lane's name within the set; empty if there is no set
	Node      string // the backend node that it is for; empty if it is for all
	// Detail marks a part of what another snapshot has in full, as a lane at one node. It
	// is for reading, has no points and isn't counted.
	Detail bool

	Limiter   *limiter.Stats           // of a limiter
	Laned     *lane.Stats              // of a lane
	Executor  *deadline.Stats          // of an executor
	Retry     *retry.Stats             // of a retrier
	Budget    *retry.BudgetStats       // of a retry budget
	Lifecycle *lifecycle.Stats         // of a machine
	Registry  *lifecycle.RegistryStats // of a registry

	// Own are points beyond those of the table: see Describer.
	Own []Point
	// Holders lists who holds a permit, the oldest first; nil if it has none to hold.
	Holders func() []spillway.Holder
}

// observable makes an Observable of a function.
type observable func(yield func(Snapshot) bool)

func (o observable) Observe(yield func(Snapshot) bool) { o(yield) }

// All returns the snapshots of every given component, in order. A nil one is left out.
func All(all ...Observable) iter.Seq[Snapshot] {
	return func(yield func(Snapshot) bool) {
		more := true
		for _, o := range all {
			if o == nil || !more {
				continue
			}
			o.Observe(func(s Snapshot) bool {
				more = more && yield(s)
				return more
			})
		}
	}
}

// Join makes several Observables one, which is a [Describer] for those that are.
func Join(all ...Observable) Observable { return joined(all) }

type joined []Observable

func (j joined) Observe(yield func(Snapshot) bool) { All(j...)(yield) }
func (j joined) Metrics() []Metric                 { return Metrics(j...) }

// Limiter returns l as an Observable.
func Limiter[T any](l *limiter.Limiter[T]) Observable {
	return observable(func(yield func(Snapshot) bool) {
		s := l.Stats()
		yield(Snapshot{Component: "limiter", Name: s.Name, Limiter: &s, Holders: l.Holders})
	})
}

// Lane returns l, which belongs to no set, as an Observable.
func Lane[T any](l *lane.Lane[T]) Observable {
	return observable(func(yield func(Snapshot) bool) {
		s := l.Stats()
		yield(Snapshot{Component: "lane", Name: s.Name, Laned: &s, Holders: l.Holders})
	})
}

// Set returns the lanes of s as an Observable, in the order of its configuration.
func Set[T any](s *lane.Set[T]) Observable {
	return observable(func(yield func(Snapshot) bool) {
		for _, st := range s.Stats() {
			holders := s.Lane(st.Name).Holders
			if !yield(Snapshot{Component: "lane", Name: s.Name(), Lane: st.Name, Laned: &st, Holders: holders}) {
				return
			}
		}
	})
}

// Executor returns e as an Observable.
func Executor[T any](e *deadline.Executor[T]) Observable {
	return observable(func(yield func(Snapshot) bool) {
		s := e.Stats()
		yield(Snapshot{Component: "executor", Name: s.Name, Executor: &s})
	})
}

// Retrier returns r as an Observable. Its budget is another component, because retriers
// may share one: see [Budget].
func Retrier[T any](r *retry.Retrier[T]) Observable {
	return observable(func(yield func(Snapshot) bool) {
		s := r.Stats()
		yield(Snapshot{Component: "retry", Name: s.Name, Retry: &s})
	})
}

// Budget returns b as an Observable. The name is what it is called by: budgets have none.
func Budget(name string, b *retry.Budget) Observable {
	return observable(func(yield func(Snapshot) bool) {
		s := b.Stats()
		yield(Snapshot{Component: "budget", Name: name, Budget: &s})
	})
}

// Machine returns m as an Observable.
func Machine[C any](m *lifecycle.Machine[C]) Observable {
	return observable(func(yield func(Snapshot) bool) {
		s := m.Stats()
		yield(Snapshot{Component: "lifecycle", Name: s.Name, Lifecycle: &s})
	})
}

// Registry returns r as an Observable: the whole of it, for its keys have no bound.
func Registry[K comparable, C any](r *lifecycle.Registry[K, C]) Observable {
	return observable(func(yield func(Snapshot) bool) {
		s := r.Stats()
		yield(Snapshot{Component: "registry", Name: s.Name, Registry: &s})
	})
}
