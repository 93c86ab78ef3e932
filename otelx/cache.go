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

// add keeps v for k, if there is room (nil is any), and returns what is kept: somebody else's,
// if he was faster.
func (c *cache[K, V]) add(k K, v V, room *allowance) (kept V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok = c.get(k); ok {
		return kept, true
	}
	if room != nil && !room.take() {
		return kept, false
	}
	next := map[K]V{k: v}
	if all := c.all.Load(); all != nil {
		maps.Copy(next, *all)
	}
	c.all.Store(&next)
	return v, true
}

// allowance bounds the sets of attributes that calls can bring about.
type allowance struct{ left atomic.Int64 }

// any reports whether there is one left.
func (a *allowance) any() bool { return a.left.Load() > 0 }

// take reports whether there was one left.
func (a *allowance) take() bool {
	if a.left.Add(-1) >= 0 {
		return true
	}
	a.left.Add(1)
	return false
}

// recording returns attributes in the form in which a measurement takes them for nothing.
func recording(attributes ...attribute.KeyValue) []metric.RecordOption {
	return []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(attributes...))}
}
