package spillway

import (
	"context"
	"fmt"
	"slices"
)

// Op is an operation that can be guarded: it does its work under ctx and returns
// a value or an error. It is an alias, so no caller has to import this package to
// write one.
type Op[T any] = func(context.Context) (T, error)

// Decorator puts behaviour around an operation and returns the operation so
// guarded. The Wrap methods of the primitives are Decorators. A Decorator is
// called once, when a chain is built; what it returns must be safe for concurrent
// use if the operation is.
type Decorator[T any] func(Op[T]) Op[T]

// Chain joins decorators into one; the first is outermost, so that
// Chain(a, b)(op) is a(b(op)). Without decorators it returns the operation
// unchanged. Building a chain allocates: build it once and use it for every call,
// or nest Do methods, which allocates nothing.
//
// Chain panics if a decorator is nil, because a guard that silently isn't there
// would be found out only under overload.
func Chain[T any](ds ...Decorator[T]) Decorator[T] {
	for i, d := range ds {
		if d == nil {
			panic(fmt.Sprintf("spillway: Chain: decorator %d is nil", i))
		}
	}
	ds = slices.Clone(ds) // the caller may go on using his
	return func(op Op[T]) Op[T] {
		for _, d := range slices.Backward(ds) {
			op = d(op)
		}
		return op
	}
}
