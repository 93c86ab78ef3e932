package lane

import (
	"context"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// Lane guards operations with the result type T by N permits and a bounded waiting
// room. Several Lanes of different result types can share the same permits and
// room: see [Share]. All its methods are safe for concurrent use. The zero Lane
// refuses everything as closed; make one with [New]. It has no goroutine, and one
// timer for all who wait, which is set only while somebody does.
type Lane[T any] struct{ base }

// base is a lane without its type.
type base struct {
	core  *permit.Core
	loans *loans
}

// New returns a lane with all its permits free and nobody waiting. A wrong
// configuration gives a *spillway.ConfigError that lists every fault.
func New[T any](cfg Config) (*Lane[T], error) {
	e := &spillway.ConfigError{Component: "lane", Name: cfg.Name}
	if cfg.validate(e, ""); e.Err() != nil {
		return nil, e
	}
	return &Lane[T]{newBase(cfg)}, nil
}

func newBase(cfg Config) base { return base{core: permit.New(cfg.options()), loans: new(loans)} }

// Share returns a lane for operations with the result type U that uses l's permits,
// waiting room, settings and statistics.
func Share[U, T any](l *Lane[T]) *Lane[U] { return &Lane[U]{l.base} }

// Do runs op under one permit and returns what op returns, untouched. If there is no
// permit it waits for one, as long as the configuration and ctx let it. It returns a
// *spillway.Rejection if the room is full, the wait would be or was too long, the
// limit fell below the weight, or the mode is RefuseAll; a *spillway.ClosedError if
// the lane is closed, before or while it waits; ctx's cause if ctx is done, or, of a
// call that has waited, an error that says so and unwraps to it; a
// *spillway.ConfigError if callers may wait, Config.MaxWait is zero and ctx has no
// deadline, whether or not a permit is free; and with Config.DetectNested a
// *spillway.NestedError if ctx is that of an operation of l. op isn't run then, and
// nothing is left behind. The permit comes back when op returns, panics or calls
// runtime.Goexit; the latter two go through to the caller.
func (l *Lane[T]) Do(ctx context.Context, op spillway.Op[T]) (T, error) {
	return permit.Do(ctx, l.core, 1, op)
}

// DoN is Do under n permits, all or none. If n is less than one or more than the
// limit it returns a *spillway.WeightError.
func (l *Lane[T]) DoN(ctx context.Context, n int, op spillway.Op[T]) (T, error) {
	return permit.Do(ctx, l.core, n, op)
}

// Wrap returns op guarded by one permit: each call of it is a Do.
func (l *Lane[T]) Wrap(op spillway.Op[T]) spillway.Op[T] {
	return func(ctx context.Context) (T, error) { return l.Do(ctx, op) }
}

// Admit takes one permit, waiting for it like Do, for work that ends elsewhere:
// whoever ends it must release the permit. On failure nothing was taken and the
// permit is the zero Permit.
func (l *Lane[T]) Admit(ctx context.Context) (spillway.Permit, error) {
	return l.core.Admit(ctx, 1)
}

// AdmitN is Admit for n permits, all or none, in one Permit. Its errors are those of DoN.
func (l *Lane[T]) AdmitN(ctx context.Context, n int) (spillway.Permit, error) {
	return l.core.Admit(ctx, n)
}

// Close refuses all further calls and everybody who waits with a
// *spillway.ClosedError, and returns when the last permit is back. If ctx ends first
// it returns an error that says how many are out and wraps the context's cause; the
// lane is closed all the same, and the permits that are out stay valid. Ghosts are
// not waited for. It may be called any number of times.
func (l *Lane[T]) Close(ctx context.Context) error {
	if l.core == nil {
		return nil
	}
	return l.core.Close(ctx)
}
