package lane

import (
	"context"
	"errors"
	"fmt"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// SetConfig are the settings of a set of lanes.
type SetConfig struct {
	// Name is the set's name in errors and telemetry, where it has to be unique among
	// sets and lanes. It must not be empty.
	Name string
	// Lanes are the lanes. There must be one at least, and their names must differ. In
	// errors and from Lane.Name a lane has the set's name and its own, as in "db/bulk", so
	// that lanes of several sets can be told apart.
	Lanes []Config
	// Default is the lane of calls whose context says nothing. It must be one of Lanes.
	Default string
	// Classes maps classes of calls to lanes. A class that isn't here goes to the
	// default.
	Classes map[spillway.Class]string
	// Lending lets a full lane use permits that another leaves idle. Zero is off.
	Lending Lending
}

// Set is several named lanes, each with its own permits and waiting room, for
// operations with the result type T. All its methods are safe for concurrent use.
// The zero Set has no lanes and refuses everything as closed; make one with [NewSet].
type Set[T any] struct{ *setBase }

type setBase struct {
	routes  *routes
	lanes   []base
	lending *lending // nil if it is off
}

// NewSet returns a set of lanes. A wrong configuration gives a *spillway.ConfigError
// that lists every fault of the set and of all its lanes.
func NewSet[T any](cfg SetConfig) (*Set[T], error) {
	e := &spillway.ConfigError{Component: "lane set", Name: cfg.Name}
	names := make([]string, len(cfg.Lanes))
	for i, c := range cfg.Lanes {
		c.validate(e, fmt.Sprintf("Lanes[%d].", i))
		names[i] = c.Name
	}
	s := &setBase{routes: newRoutes(e, cfg.Name, names, cfg.Default, cfg.Classes)}
	s.lending = cfg.Lending.settle(e, s.routes)
	if err := e.Err(); err != nil {
		return nil, err
	}
	for _, c := range cfg.Lanes {
		c.Name = cfg.Name + "/" + c.Name
		s.lanes = append(s.lanes, newBase(c))
	}
	return &Set[T]{s}, nil
}

// ShareSet returns a set for operations with the result type U that is the same
// lanes as s.
func ShareSet[U, T any](s *Set[T]) *Set[U] { return &Set[U]{s.setBase} }

// Name returns the set's name.
func (s *setBase) Name() string {
	if s == nil {
		return ""
	}
	return s.routes.name
}

// Lane returns a lane by its name; nil if there is none. Calls on it go past the
// routing, and don't borrow.
func (s *Set[T]) Lane(name string) *Lane[T] {
	if s.setBase == nil {
		return nil
	}
	i, ok := s.routes.index[name]
	if !ok {
		return nil
	}
	return &Lane[T]{s.lanes[i]}
}

// Into returns a context whose calls through this set go to the lane; to other sets
// it says nothing. A lane that doesn't exist is an *UnknownLaneError of the call.
func (s *setBase) Into(ctx context.Context, lane string) context.Context {
	if s == nil {
		return ctx
	}
	return s.routes.into(ctx, lane)
}

// Do runs op in the lane that ctx names ([Set.Into]), that its class is mapped to, or
// in the default: see [Lane.Do]. With lending on, a call whose lane is full may run
// with a permit that another lane leaves idle, before it would wait.
func (s *Set[T]) Do(ctx context.Context, op spillway.Op[T]) (v T, err error) {
	if s.setBase == nil {
		return v, errZeroSet
	}
	i, err := s.routes.find(ctx)
	if err != nil {
		return v, err
	}
	lane := s.lanes[i]
	if s.lending != nil && ctx.Err() == nil {
		if lender, use, ok := s.borrow(ctx, i); ok {
			defer lane.settled(lane.core.Now())
			return permit.Run(lane.core.Inside(ctx), lender.core, use, op) // it stands for one of both
		}
	}
	return permit.Do(ctx, lane.core, 1, op)
}

// Admit takes one permit of the lane that Do would use, waiting for it like Do, for
// work that ends elsewhere: whoever ends it must release the permit. With lending on it
// may be another lane's permit. On failure nothing was taken and the permit is the zero
// Permit.
func (s *Set[T]) Admit(ctx context.Context) (spillway.Permit, error) {
	return s.AdmitN(ctx, 1)
}

// AdmitN is Admit for n permits, all or none, in one Permit. More than one are never
// borrowed.
func (s *Set[T]) AdmitN(ctx context.Context, n int) (spillway.Permit, error) {
	if s.setBase == nil {
		return spillway.Permit{}, errZeroSet
	}
	i, err := s.routes.find(ctx)
	if err != nil {
		return spillway.Permit{}, err
	}
	lane := s.lanes[i]
	if s.lending != nil && n == 1 && ctx.Err() == nil {
		if lender, use, ok := s.borrow(ctx, i); ok {
			return spillway.NewPermit(&loan{borrower: lane, began: lane.core.Now(), permit: lender.core.Own(use)}, 0), nil
		}
	}
	return lane.core.Admit(ctx, n)
}

// Wrap returns op sent through the set: each call of it is a Do.
func (s *Set[T]) Wrap(op spillway.Op[T]) spillway.Op[T] {
	return func(ctx context.Context) (T, error) { return s.Do(ctx, op) }
}

// Stats returns a snapshot of every lane, in the order of the configuration, by the names
// that the lanes have there.
func (s *setBase) Stats() []Stats {
	if s == nil {
		return nil
	}
	all := make([]Stats, len(s.lanes))
	for i, lane := range s.lanes {
		all[i] = lane.Stats()
		all[i].Name = s.routes.byIndex[i]
	}
	return all
}

// Close closes every lane, and returns when the last permit of each is back, or ctx
// is done: see [Lane.Close]. The errors of the lanes are joined.
func (s *setBase) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	done := make([]error, len(s.lanes))
	for _, lane := range s.lanes { // all refuse before the first is waited for
		lane.core.Shut()
	}
	for i, lane := range s.lanes {
		done[i] = lane.core.Close(ctx)
	}
	return errors.Join(done...)
}

// errZeroSet is the error of a Set that wasn't made by NewSet.
var errZeroSet error = &spillway.ClosedError{Component: "lane set", Name: ""}
