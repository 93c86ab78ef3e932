package lane

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/spillway-go/spillway"
)

// Runner runs operations: a Lane, a limiter, an executor.
type Runner[T any] interface {
	Do(ctx context.Context, op spillway.Op[T]) (T, error)
}

// RouterConfig are the settings of a router.
type RouterConfig[T any] struct {
	// Name is the router's name in errors. It must not be empty.
	Name string
	// Lanes are what the calls go to, by name. There must be one at least, none nil.
	Lanes map[string]Runner[T]
	// Default is the lane of calls whose context says nothing. It must be one of Lanes.
	Default string
	// Classes maps classes of calls to lanes. A class that isn't here goes to the
	// default.
	Classes map[spillway.Class]string
}

// Router sends operations with the result type T to one of several named lanes that
// are backed by anything that runs operations: executors with workers and queues of
// their own, say, so that bulk work can't take a worker of the critical. It is safe
// for concurrent use and never changes. The zero Router refuses everything as closed;
// make one with [NewRouter].
type Router[T any] struct {
	routes *routes
	lanes  []Runner[T]
}

// NewRouter returns a router. A wrong configuration gives a *spillway.ConfigError
// that lists every fault. The router owns none of its lanes: whoever made them
// closes them.
func NewRouter[T any](cfg RouterConfig[T]) (*Router[T], error) {
	e := &spillway.ConfigError{Component: "lane router", Name: cfg.Name}
	names := slices.Sorted(maps.Keys(cfg.Lanes))
	r := &Router[T]{routes: newRoutes(e, cfg.Name, names, cfg.Default, cfg.Classes)}
	for _, name := range names {
		lane := cfg.Lanes[name]
		if v := reflect.ValueOf(lane); lane == nil || v.Kind() == reflect.Pointer && v.IsNil() {
			e.Add("Lanes["+name+"]", nil, "must not be nil")
		}
		r.lanes = append(r.lanes, lane)
	}
	if err := e.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

// Name returns the router's name.
func (r *Router[T]) Name() string {
	if r.routes == nil {
		return ""
	}
	return r.routes.name
}

// Into returns a context whose calls through this router go to the lane; to other
// routers and sets it says nothing. A lane that doesn't exist is an
// *UnknownLaneError of the call.
func (r *Router[T]) Into(ctx context.Context, lane string) context.Context {
	if r.routes == nil {
		return ctx
	}
	return r.routes.into(ctx, lane)
}

// Do runs op in the lane that ctx names, that its class is mapped to, or in the
// default, and returns what that lane returns.
func (r *Router[T]) Do(ctx context.Context, op spillway.Op[T]) (v T, err error) {
	if r.routes == nil {
		return v, errZeroRouter
	}
	i, err := r.routes.find(ctx)
	if err != nil {
		return v, err
	}
	return r.lanes[i].Do(ctx, op)
}

// Wrap returns op sent through the router: each call of it is a Do.
func (r *Router[T]) Wrap(op spillway.Op[T]) spillway.Op[T] {
	return func(ctx context.Context) (T, error) { return r.Do(ctx, op) }
}

// errZeroRouter is the error of a Router that wasn't made by NewRouter.
var errZeroRouter error = &spillway.ClosedError{Component: "lane router"}
