package main

import (
	"context"
	"errors"
)

// opened is what the families have made that has to be closed, and the context that
// everything is called with.
type opened struct {
	ctx    context.Context
	closes []func() error
}

// onClose has f called at the end, what came last first.
func (o *opened) onClose(f func() error) { o.closes = append(o.closes, f) }

func (o *opened) close() error {
	var errs []error
	for i := len(o.closes) - 1; i >= 0; i-- {
		errs = append(errs, o.closes[i]())
	}
	o.closes = nil
	return errors.Join(errs...)
}
