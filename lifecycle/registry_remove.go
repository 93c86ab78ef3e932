package lifecycle

import (
	"context"
	"errors"
	"maps"

	"github.com/spillway-go/spillway/internal/cause"
)

// Remove takes the key out of the registry and closes its connection, or cancels its
// dial: who waits for that gets ErrRemoved, and the next Get dials anew, even while this
// connection is still being drained. It is closed as by [Machine.Close], within the same
// bound and with the same errors; leases that are out stay valid. Without such a key
// Remove does nothing. Whoever holds a lease of the key shouldn't call it, but
// [Registry.Discard].
func (r *Registry[K, C]) Remove(ctx context.Context, key K) error {
	return r.remove(ctx, key, nil)
}

// Discard gives a lease back and removes its key, as Remove does, if the connection is
// still the key's: so those who find the same connection broken close it once, and not
// the one that somebody has dialled since.
func (r *Registry[K, C]) Discard(ctx context.Context, key K, l Lease[C]) error {
	if l.gen == nil {
		return nil
	}
	m := l.gen.machine
	l.Release()
	return r.remove(ctx, key, m)
}

// remove removes a key, if its machine is m, or any if m is nil.
func (r *Registry[K, C]) remove(ctx context.Context, key K, m *Machine[C]) error {
	if e := r.forget(key, m); e != nil {
		return r.shut(ctx, e)
	}
	return nil
}

// forget takes a key out of the registry, and returns its entry; nil if there is none, or
// it isn't m's. A key that can't be looked up panics.
func (r *Registry[K, C]) forget(key K, m *Machine[C]) *entry[C] {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries := r.entries.Load()
	if entries == nil {
		return nil
	}
	e := (*entries)[key]
	if e == nil || m != nil && e.machine != m {
		return nil
	}
	r.forgetLocked(key)
	r.stats.removed++
	return e
}

// shut closes an entry that is no longer in the registry.
func (r *Registry[K, C]) shut(ctx context.Context, e *entry[C]) error {
	e.cancel(ErrRemoved)
	err := e.machine.Close(ctx)
	if err == nil {
		err = e.machine.Close(ctx) // the goroutine of the dial may still be on its way out
	}
	select {
	case <-e.through:
		return err
	case <-ctx.Done():
		return errors.Join(err, cause.Of(ctx))
	}
}

// forgetLocked takes a key out of the registry. Its machine is kept in mind until it has
// nothing open any more.
func (r *Registry[K, C]) forgetLocked(key K) {
	entries := maps.Clone(*r.entries.Load())
	r.retired[entries[key]] = struct{}{}
	delete(entries, key)
	r.entries.Store(&entries)
	r.buryLocked()
}
