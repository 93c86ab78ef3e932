package aerospiketest

import (
	"slices"
	"sync/atomic"
)

// A list that is read by every command is a slice that is never changed, behind
// a pointer. Writers replace it, one at a time.

func list[T any](p *atomic.Pointer[[]T]) []T {
	if l := p.Load(); l != nil {
		return *l
	}
	return nil
}

func with[T any](p *atomic.Pointer[[]T], x T) {
	l := append(slices.Clone(list(p)), x)
	p.Store(&l)
}

func without[T comparable](p *atomic.Pointer[[]T], x T) {
	l := slices.DeleteFunc(slices.Clone(list(p)), func(y T) bool { return x == y })
	p.Store(&l)
}
