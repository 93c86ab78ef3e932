package spillway

import (
	"context"
	"fmt"
)

// Kind says what a call does to the backend. It decides which lane, retry and
// deadline rules fit.
type Kind uint8

// The kinds of calls.
const (
	KindUnknown Kind = iota // not declared; treated like KindWrite where it matters
	KindRead                // reads; may be repeated
	KindWrite               // changes something; repeated only if declared idempotent
	KindStream              // returns at once and delivers until it is closed
	KindJob                 // starts work that goes on in the backend
	KindAdmin               // operates the backend itself; never behind the data limit
)

var kindNames = [...]string{"unknown", "read", "write", "stream", "job", "admin"}

// String returns the kind's name in lower case, as telemetry uses it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Call names one call to a backend for those who stand around it: middlewares,
// observers and routers. It is a value and is never changed once handed out. All
// its strings come from closed sets (names of operations, namespaces and sets),
// never from keys or data, so that they can be metric attributes. The zero Call
// is a call of which nothing is known.
type Call struct {
	System     string // the backend's kind, as in "aerospike"
	Client     string // the client's own name; empty if it has none
	Server     string // the host that it was told to connect to, the first of several; empty if it isn't known
	Port       int    // that host's port; 0 if it isn't known
	Operation  string // the operation's name, as in "Get"
	Namespace  string // where it goes; empty if the backend has no such thing
	Collection string // the set, table or topic; empty if there is none
	Kind       Kind   // what it does to the backend
	Weight     int    // permits it takes on each backend node; 0 means 1
	BatchSize  int    // items in a batch; 0 for a single operation
}

// Middleware is the untyped twin of [Decorator], for clients with many methods of
// many result types. It calls next to go on, at most as often as it means to
// repeat the call, one after the other, and returns, after next has returned, what the
// caller shall see. If it doesn't call next, or the last next has failed, it must return
// an error: there is nothing else that the caller could be given. A Middleware must be
// safe for concurrent use: by several calls, that is.
type Middleware func(ctx context.Context, call Call, next func(context.Context) error) error

// JoinMiddleware joins middlewares into one; the first is outermost. Without any
// it returns nil, which means that nothing stands around the call. It panics if
// one is nil.
func JoinMiddleware(ms ...Middleware) Middleware {
	for i, m := range ms {
		if m == nil {
			panic(fmt.Sprintf("spillway: JoinMiddleware: middleware %d is nil", i))
		}
	}
	switch len(ms) {
	case 0:
		return nil
	case 1:
		return ms[0]
	}
	first, rest := ms[0], JoinMiddleware(ms[1:]...)
	return func(ctx context.Context, call Call, next func(context.Context) error) error {
		return first(ctx, call, func(ctx context.Context) error {
			return rest(ctx, call, next)
		})
	}
}

// Lift makes a Decorator of a Middleware, for operations of one result type that
// are known as call. If the middleware runs the operation several times, the last
// result counts; if it never runs it, the value is zero. It allocates one closure a call.
// Lift panics if m is nil.
func Lift[T any](m Middleware, call Call) Decorator[T] {
	if m == nil {
		panic("spillway: Lift: middleware is nil")
	}
	return func(op Op[T]) Op[T] {
		return func(ctx context.Context) (T, error) {
			var v T
			err := m(ctx, call, func(ctx context.Context) (err error) {
				v, err = op(ctx)
				return err
			})
			return v, err
		}
	}
}
