package exp

import (
	"bytes"
	"sync"
)

// Limits of a cache.
const (
	maxCached    = 64
	maxCachedLen = 4 << 10
)

// A Cache compiles expressions and keeps what was compiled, as a scan filters
// every record with the same one. It is safe for concurrent use.
type Cache struct {
	compiler Compiler

	mu   sync.Mutex
	have map[string]*Expr // guarded by mu; nil for what doesn't compile
}

// NewCache returns an empty cache.
func NewCache(m Modules) *Cache {
	return &Cache{compiler: Compiler{Modules: m}, have: make(map[string]*Expr)}
}

// Get compiles an expression, or finds it. It doesn't keep b. It returns nil for
// one that is malformed.
func (c *Cache) Get(b []byte) *Expr {
	if len(b) > maxCachedLen {
		return c.compile(b)
	}
	c.mu.Lock()
	e, ok := c.have[string(b)]
	c.mu.Unlock()
	if ok {
		return e
	}
	e = c.compile(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.have) >= maxCached {
		clear(c.have)
	}
	c.have[string(b)] = e
	return e
}

func (c *Cache) compile(b []byte) *Expr {
	e, ok := c.compiler.Compile(bytes.Clone(b))
	if !ok {
		return nil
	}
	return e
}
