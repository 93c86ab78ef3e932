package limiter

import (
	"context"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// Limiter guards operations with the result type T by N permits. Several Limiters
// of different result types can share the same permits: see [Share]. All its
// methods are safe for concurrent use, and none but Close ever blocks. The zero
// Limiter has no permits and refuses everything as closed; make one with [New]. It
// starts no goroutine and holds nothing that must be freed: Close is for those who
// want to see the last call out.
type Limiter[T any] struct {
	core *permit.Core
}

// New returns a limiter with all its permits free. A wrong configuration gives a
// *spillway.ConfigError that lists every fault.
func New[T any](cfg Config) (*Limiter[T], error) {
	e := &spillway.ConfigError{Component: "limiter", Name: cfg.Name}
	opts := cfg.options()
	if opts.Validate(e, ""); e.Err() != nil {
		return nil, e
	}
	return &Limiter[T]{core: permit.New(opts)}, nil
}

// Share returns a limiter for operations with the result type U that uses l's
// permits, settings and statistics.
func Share[U, T any](l *Limiter[T]) *Limiter[U] {
	return &Limiter[U]{core: l.core}
}

// Do runs op under one permit and returns what op returns, untouched. If there is
// no permit it returns a *spillway.Rejection at once and op isn't run; a closed
// limiter returns a *spillway.ClosedError, a done ctx its cause, and with
// Config.DetectNested a call from within an operation of l a *spillway.NestedError.
// The permit comes back when op returns, panics or calls runtime.Goexit; the latter
// two go through to the caller. Do itself never blocks, and allocates nothing unless
// holders are tracked or nested calls are detected.
func (l *Limiter[T]) Do(ctx context.Context, op spillway.Op[T]) (T, error) {
	return permit.Do(ctx, l.core, 1, op)
}

// DoN is Do under n permits, all or none. If n is less than one or more than the
// limit it returns a *spillway.WeightError, for which no waiting would help.
func (l *Limiter[T]) DoN(ctx context.Context, n int, op spillway.Op[T]) (T, error) {
	return permit.Do(ctx, l.core, n, op)
}

// Wrap returns op guarded by one permit: each call of it is a Do.
func (l *Limiter[T]) Wrap(op spillway.Op[T]) spillway.Op[T] {
	return func(ctx context.Context) (T, error) { return l.Do(ctx, op) }
}

// Admit takes one permit, for work that ends elsewhere: whoever ends it must
// release the permit. On failure nothing was taken, the permit is the zero Permit,
// and the error is as with Do. It never blocks, and allocates nothing unless holders
// are tracked.
func (l *Limiter[T]) Admit(ctx context.Context) (spillway.Permit, error) {
	return l.core.Admit(ctx, 1)
}

// AdmitN is Admit for n permits, all or none, in one Permit. Its errors are those of DoN.
func (l *Limiter[T]) AdmitN(ctx context.Context, n int) (spillway.Permit, error) {
	return l.core.Admit(ctx, n)
}

// Close refuses all further calls with a *spillway.ClosedError and returns when
// the last permit is back. If ctx ends first it returns an error that says how many
// are out and wraps the context's cause; the limiter is closed all the same, and
// the permits that are out stay valid. Ghosts are not waited for. It may be called
// any number of times, also from within an operation, which then waits for itself
// until ctx ends.
func (l *Limiter[T]) Close(ctx context.Context) error {
	if l.core == nil {
		return nil
	}
	return l.core.Close(ctx)
}
