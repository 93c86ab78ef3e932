package main

import (
	"context"
	"errors"
	"slices"
)

// opened is what the families have made that has to be closed, and the contexts that
// everything is called with.
type opened struct {
	ctx    context.Context // ends when the user stops the run
	call   context.Context // of the calls that are measured, where theirs isn't the point: the cheapest there is
	closes []func() error
}

// onClose has f called at the end, what came last first.
func (o *opened) onClose(f func() error) { o.closes = append(o.closes, f) }

// scope calls f with an opened of its own, and closes what f has opened.
func (o *opened) scope(f func(*opened) error) (err error) {
	inner := &opened{ctx: o.ctx, call: o.call}
	defer func() { err = errors.Join(err, inner.close()) }()
	return f(inner)
}

func (o *opened) close() error {
	var errs []error
	for _, v := range slices.Backward(o.closes) {
		errs = append(errs, v())
	}
	o.closes = nil
	return errors.Join(errs...)
}
