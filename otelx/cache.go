package otelx

import (
	"maps"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// cache keeps what is expensive to make, by what it is made for. Reading takes no lock:
// the map is replaced as a whole when something new comes, which soon is never.
type cache[K comparable, V any] struct {
	all atomic.Pointer[map[K]V]
	mu  sync.Mutex // serialises additions
}

// get returns what is kept for k.
func (c *cache[K, V]) get(k K) (v V, ok bool) {
	if all := c.all.Load(); all != nil {
		v, ok = (*all)[k]
	}
	return v, ok
}

// add keeps v for k, if there is room for the sets that it takes, and returns what is kept:
// somebody else's, if he was faster.
func (c *cache[K, V]) add(k K, v V, room *allowance, sets int64) (kept V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok = c.get(k); ok {
		return kept, true
	}
	if !room.take(sets) {
		return kept, false
	}
	next := map[K]V{k: v}
	if all := c.all.Load(); all != nil {
		maps.Copy(next, *all)
	}
	c.all.Store(&next)
	return v, true
}

// allowance bounds the sets of attributes that calls can bring about in a metric.
type allowance struct{ left atomic.Int64 }

// has reports whether there are so many left.
func (a *allowance) has(sets int64) bool { return a.left.Load() >= sets }

// take takes so many, and reports whether there were as many left.
func (a *allowance) take(sets int64) bool {
	if a.left.Add(-sets) >= 0 {
		return true
	}
	a.left.Add(sets)
	return false
}

// recording returns attributes in the form in which a measurement takes them for nothing.
func recording(attributes ...attribute.KeyValue) []metric.RecordOption {
	return []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(attributes...))}
}
