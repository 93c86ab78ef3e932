package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// ErrRemoved is what callers get who waited for the dial of a key that was removed
// meanwhile. Whoever asks again dials again.
var ErrRemoved error = &sentinel{"removed from the registry", "removed", spillway.OutcomeLocal}

// RegistryConfig are the settings of a registry of connections of the type C, by keys of
// the type K.
type RegistryConfig[K comparable, C any] struct {
	// Machine are the settings of each key's connection. Its Name is the registry's; the
	// machines are called by it and their key. Its timeouts bound each connection for
	// itself.
	Machine Config[C]
	// Dial makes the connection of a key. It runs on a goroutine of the registry, with the
	// values, but not the end, of the context of whoever asked first: others wait for it,
	// too, so only Machine.ConnectTimeout, Remove and Close end it. It must not be nil, and
	// must not ask the registry for its own key, or it waits for itself.
	Dial func(ctx context.Context, key K) (C, error)
	// MaxKeys is how many keys may be connected or connecting at once; for one more Get
	// returns a *spillway.Rejection. It must be positive.
	MaxKeys int
	// MaxWaiting is how many callers may wait for the dial of one key, the one that caused
	// it not counted; others get a *spillway.Rejection at once. Zero means that nobody else
	// waits.
	MaxWaiting int
}

// DefaultRegistryConfig returns the settings that fit most: those of [DefaultConfig], at
// most 1000 keys, and 1000 callers that wait for each.
func DefaultRegistryConfig[K comparable, C any](name string, dial func(context.Context, K) (C, error), closeConn func(context.Context, C) error) RegistryConfig[K, C] {
	return RegistryConfig[K, C]{
		Machine: DefaultConfig(name, closeConn), Dial: dial, MaxKeys: 1000, MaxWaiting: 1000,
	}
}

func (c RegistryConfig[K, C]) validate() error {
	e := &spillway.ConfigError{Component: "registry", Name: c.Machine.Name}
	e.Include("Machine.", c.Machine.validate())
	if c.Dial == nil {
		e.Add("Dial", nil, "must not be nil")
	}
	if c.MaxKeys < 1 {
		e.Add("MaxKeys", c.MaxKeys, "must be positive")
	}
	if c.MaxWaiting < 0 {
		e.Add("MaxWaiting", c.MaxWaiting, "must not be negative")
	}
	return e.Err()
}

// Registry holds a connection for each key, and dials it when it is first asked for:
// once, however many ask. All its methods are safe for concurrent use; what one key is
// about never holds up another. The zero Registry is closed; make one with
// [NewRegistry]. It has goroutines only while it dials or closes. Close it.
type Registry[K comparable, C any] struct {
	cfg RegistryConfig[K, C]

	// entries is never changed, only replaced, under mu: who looks takes no lock.
	entries atomic.Pointer[map[K]*entry[C]]

	mu      sync.Mutex // guards what follows; no caller's function runs under it
	closed  bool
	done    chan struct{} // closed when Close is through; nil before
	err     error         // of Close
	waiting int
	stats   registryCounters
	// retired are entries of removed keys that may have something open or at work.
	retired map[*entry[C]]struct{}
}

// entry is one key's time in the registry, from its first dial to its removal. If the
// dial fails it is over at once.
type entry[C any] struct {
	machine *Machine[C]
	cancel  context.CancelCauseFunc // ends the dial
	decided chan struct{}           // closed when the dial is decided
	through chan struct{}           // closed when it has nothing more to clear away either
	err     error                   // why it failed; set before decided is closed
	waiting int                     // callers that wait for it; guarded by the registry's mu
}

// NewRegistry returns a registry without connections. A wrong configuration gives a
// *spillway.ConfigError that lists every fault.
func NewRegistry[K comparable, C any](cfg RegistryConfig[K, C]) (*Registry[K, C], error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	r := &Registry[K, C]{cfg: cfg, retired: map[*entry[C]]struct{}{}}
	r.entries.Store(&map[K]*entry[C]{})
	return r, nil
}

// Get returns a lease of the key's connection, which it dials if there is none. With a
// connection in place it takes no lock and allocates nothing.
//
// If the dial fails, everybody who waited for it gets its error, and the next Get dials
// anew; if the key is removed meanwhile, an error that matches ErrRemoved. If ctx ends
// first Get returns its cause, and the dial goes on, for the others and for the next. If
// there are too many keys or callers it returns a *spillway.Rejection, a
// *spillway.ClosedError after Close, and a *spillway.ConfigError for a key that isn't
// equal to itself, which NaN isn't. On failure the lease is the zero Lease. Whoever has a
// lease must release it.
func (r *Registry[K, C]) Get(ctx context.Context, key K) (Lease[C], error) {
	if ctx.Err() != nil {
		return Lease[C]{}, cause.Of(ctx)
	}
	entries := r.entries.Load()
	if entries == nil {
		return Lease[C]{}, r.closedError()
	}
	if e := (*entries)[key]; e != nil {
		if l, err := e.machine.Lease(); err == nil {
			return l, nil
		}
	}
	for {
		e, err := r.enter(ctx, key)
		if err == nil {
			err = r.await(ctx, e)
		}
		if err != nil {
			return Lease[C]{}, err
		}
		if l, err := e.machine.Lease(); err == nil {
			return l, nil
		}
		// Removed since it was connected: dial anew.
	}
}

// enter returns the key's entry, which it makes if there is none, with one more caller
// who waits for it.
func (r *Registry[K, C]) enter(ctx context.Context, key K) (*entry[C], error) {
	if other := key; key != other { // NaN, or something with one in it
		e := &spillway.ConfigError{Component: "registry", Name: r.cfg.Machine.Name}
		e.Add("key", key, "must be equal to itself: it would never be found again")
		return nil, e
	}
	name := fmt.Sprintf("%s/%v", r.cfg.Machine.Name, key) // the key's own code: not under the lock
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, r.closedError()
	}
	old := *r.entries.Load()
	e := old[key]
	switch {
	case e != nil && e.waiting > r.cfg.MaxWaiting && !isClosed(e.decided):
		return nil, r.refuseLocked(spillway.ReasonQueueFull, r.cfg.MaxWaiting)
	case e == nil && len(old) >= r.cfg.MaxKeys:
		return nil, r.refuseLocked(spillway.ReasonLimit, r.cfg.MaxKeys)
	case e == nil:
		machine := r.cfg.Machine
		machine.Name = name
		m, err := New(machine)
		if err != nil {
			return nil, err // it was validated: only a name can be wrong
		}
		e = &entry[C]{machine: m, decided: make(chan struct{}), through: make(chan struct{})}
		dialCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		e.cancel = cancel
		entries := maps.Clone(old)
		entries[key] = e
		r.entries.Store(&entries)
		go r.dial(dialCtx, key, e)
	}
	e.waiting++
	r.waiting++
	return e, nil
}

// await waits, as long as ctx lets it, until an entry is decided. The caller waits no more
// after that, even if ctx panics when it is asked.
func (r *Registry[K, C]) await(ctx context.Context, e *entry[C]) error {
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		e.waiting--
		r.waiting--
	}()
	select {
	case <-e.decided:
		return e.err
	case <-ctx.Done():
		return cause.Of(ctx)
	}
}

// dial decides an entry. Only here, and only once, is a connection made for it; whoever
// removes the entry waits for this, so that nothing is opened behind his back.
func (r *Registry[K, C]) dial(ctx context.Context, key K, e *entry[C]) {
	defer close(e.through)
	defer e.cancel(nil)
	err := e.machine.Connect(ctx, func(ctx context.Context) (C, error) { return r.cfg.Dial(ctx, key) })
	r.mu.Lock()
	removed, closed := (*r.entries.Load())[key] != e, r.closed
	if err != nil && !removed {
		r.forgetLocked(key)
	}
	r.mu.Unlock()
	switch {
	case closed:
		err = r.closedError()
	case removed:
		err = fmt.Errorf("lifecycle %q: %w", e.machine.Name(), ErrRemoved)
	}
	e.err = err
	close(e.decided)
	if removed || err != nil {
		// Whoever removed it may have closed the machine before there was anything to
		// close: then he waits for the connection to be closed here. And after a dial that
		// failed this waits for its goroutine.
		_ = e.machine.Close(context.WithoutCancel(ctx)) // counted by the machine
	}
}

// Close takes every key out of the registry, closes all connections at once, and returns
// when that is done: within the bound of one, or as soon as ctx ends. Further calls of
// Get, and those that wait, get a *spillway.ClosedError. The errors of the connections are joined;
// what is left is as with [Machine.Close]. It may be called any number of times; all
// return the same, unless their context ends first.
func (r *Registry[K, C]) Close(ctx context.Context) error {
	if r.entries.Load() == nil {
		return nil
	}
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		r.done = make(chan struct{})
		for _, e := range *r.entries.Load() {
			r.retired[e] = struct{}{}
		}
		r.entries.Store(&map[K]*entry[C]{})
		r.buryLocked()
		all := slices.Collect(maps.Keys(r.retired)) // those removed before, too: their goroutines are ours
		r.mu.Unlock()
		r.closeAll(ctx, all)
		return r.err
	}
	r.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return cause.Of(ctx)
	}
}

func (r *Registry[K, C]) closeAll(ctx context.Context, all []*entry[C]) {
	errs := make(chan error, len(all))
	for _, e := range all {
		go guarded(e.machine.Name(), func() error { return r.shut(ctx, e) }, func(err error) { errs <- err })
	}
	joined := make([]error, 0, len(all))
	for range all {
		joined = append(joined, <-errs)
	}
	r.err = errors.Join(joined...)
	close(r.done)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (r *Registry[K, C]) closedError() error {
	return &spillway.ClosedError{Component: "registry", Name: r.cfg.Machine.Name}
}

func (r *Registry[K, C]) refuseLocked(reason spillway.Reason, limit int) error {
	r.stats.refused++
	return &spillway.Rejection{Component: "registry", Name: r.cfg.Machine.Name, Reason: reason, Limit: limit}
}
