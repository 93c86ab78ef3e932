package deadline

import "runtime"

// This file finds out who calls from within: a job, a sink or a hook that would wait for
// the worker that it keeps busy itself. A job has a context that says so, see isNested. Where
// the context says nothing there is still the goroutine: that of a worker, or of a teller,
// is known by its number. It is asked for only where somebody would otherwise wait for ever,
// because it takes a microsecond: in Close, and in Do, Submit and Wait if no worker is free
// while one is in a function of the user's that isn't a job. Jobs that hide their context
// from those three wait until a deadline ends it.

// goroutine is the number of the calling goroutine, 0 if it can't be told. The runtime says
// it nowhere but at the beginning of a stack: "goroutine 18 [running]:".
func goroutine() (number uint64) {
	var text [64]byte
	n := runtime.Stack(text[:], false)
	for _, c := range text[min(n, len("goroutine ")):n] {
		if c < '0' || c > '9' {
			break
		}
		number = number*10 + uint64(c-'0')
	}
	return number
}

// settleIn notes that a worker has a goroutine of its own from here on.
func (c *core) settleIn(w *worker) {
	w.home = goroutine()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked(w.home, w)
}

func (c *core) settleLocked(home uint64, w *worker) {
	if c.homes == nil {
		c.homes = map[uint64]*worker{}
	}
	c.homes[home] = w
}

// moveOut notes that the goroutine of a worker is about to end.
func (c *core) moveOut(w *worker) {
	if w.telling {
		w.endTelling()
		w.read() // it may have taken long
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.homes, w.home)
}

// here reports whether it is called on a goroutine of ours, and if it is that of a worker,
// which.
func (c *core) here() (w *worker, ours bool) {
	number := goroutine()
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ours = c.homes[number]
	return w, ours
}

// beginTelling and endTelling enclose the calls of sinks and hooks by a worker.
func (w *worker) beginTelling() {
	w.telling = true
	w.core.telling.Add(1)
}

func (w *worker) endTelling() {
	w.telling = false
	w.core.telling.Add(-1)
}

// isToldHere reports whether it is called by a sink or a hook that a worker has called.
func (c *core) isToldHere() bool {
	if c.telling.Load() == 0 {
		return false
	}
	w, _ := c.here()
	return w != nil && w.telling
}
