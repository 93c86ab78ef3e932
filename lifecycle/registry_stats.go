package lifecycle

import (
	"context"
	"maps"
	"slices"

	"github.com/spillway-go/spillway"
)

// registryCounters are what the machines that are gone have counted, and what no machine
// counts.
type registryCounters struct {
	connected, failed, late     uint64
	opened, closed, closeErrors uint64
	orphaned                    uint64
	removed, refused            uint64
}

func (c *registryCounters) add(s Stats) {
	c.connected += s.Connected
	c.failed += s.Failed
	c.late += s.Late
	c.opened += s.Opened
	c.closed += s.Closed
	c.closeErrors += s.CloseErrors
	c.orphaned += s.Orphaned
}

// RegistryStats is a snapshot of a registry. Counts start with the registry, only grow,
// and keep what removed keys have counted.
type RegistryStats struct {
	Name        string // the registry's name
	Ended       bool   // whether Close was called
	Keys        int    // keys that are connected or connecting
	Connecting  int    // of them, those being dialled
	MaxKeys     int    // how many there may be
	Waiting     int    // callers that wait for a dial
	Leases      int    // leases that are out, those of removed keys not counted
	Connected   uint64 // dials that succeeded
	Failed      uint64 // dials that failed, took too long, or were aborted
	Late        uint64 // dials that ended after they had been given up
	Refused     uint64 // calls refused because of too many keys or callers
	Removed     uint64 // keys removed
	Opened      uint64 // connections that dials returned
	Closed      uint64 // connections whose Close function returned
	CloseErrors uint64 // of them, those whose Close function failed
	Orphans     int    // connections that wait for their last lease after they were to be closed
	Orphaned    uint64 // how many there have been
	Background  int    // dials, Draining and Close functions running now
}

// Open returns how many connections are open, as far as the registry knows, those of
// removed keys included. It returns to 0 when all are removed and all leases are back.
func (s RegistryStats) Open() int { return int(s.Opened - s.Closed) }

// Stats returns a snapshot. It looks at every key: meant for telemetry, not for hot
// paths.
func (r *Registry[K, C]) Stats() RegistryStats {
	if r.entries.Load() == nil {
		return RegistryStats{Ended: true}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buryLocked()
	s := RegistryStats{
		Name: r.cfg.Machine.Name, Ended: r.closed, Waiting: r.waiting, MaxKeys: r.cfg.MaxKeys,
	}
	sum := r.stats
	count := func(m *Machine[C]) Stats {
		st := m.Stats()
		sum.add(st)
		s.Orphans += st.Orphans
		s.Background += st.Background
		return st
	}
	for _, e := range *r.entries.Load() {
		st := count(e.machine)
		s.Keys++
		s.Leases += st.Leases
		if st.State == Connecting {
			s.Connecting++
		}
	}
	for e := range r.retired {
		count(e.machine)
	}
	s.Connected, s.Failed, s.Late = sum.connected, sum.failed, sum.late
	s.Opened, s.Closed, s.CloseErrors = sum.opened, sum.closed, sum.closeErrors
	s.Orphaned, s.Removed, s.Refused = sum.orphaned, sum.removed, sum.refused
	return s
}

// buryLocked forgets the machines that have nothing open or at work any more, and keeps
// what they have counted.
func (r *Registry[K, C]) buryLocked() {
	for e := range r.retired {
		if !isClosed(e.through) {
			continue
		}
		if st := e.machine.Stats(); st.State == Disconnected && st.Open() == 0 && st.Background == 0 {
			r.stats.add(st)
			delete(r.retired, e)
		}
	}
}

// Name returns the registry's name.
func (r *Registry[K, C]) Name() string { return r.cfg.Machine.Name }

// Keys returns the keys that are connected or connecting, in no order.
func (r *Registry[K, C]) Keys() []K {
	entries := r.entries.Load()
	if entries == nil {
		return nil
	}
	return slices.Collect(maps.Keys(*entries))
}

// BindKey returns an operation that runs f with the key's connection, which is dialled if
// there is none, under a lease that lasts as long as f: see [Registry.Get] for its
// errors. The lease comes back on every path, panic and Goexit included. BindKey panics
// if r or f is nil.
func BindKey[K comparable, C, T any](r *Registry[K, C], key K, f func(ctx context.Context, conn C) (T, error)) spillway.Op[T] {
	if r == nil || f == nil {
		panic("lifecycle: BindKey: nil registry or function")
	}
	return func(ctx context.Context) (v T, err error) {
		l, err := r.Get(ctx, key)
		if err != nil {
			return v, err
		}
		defer l.Release()
		return f(ctx, l.Conn())
	}
}
