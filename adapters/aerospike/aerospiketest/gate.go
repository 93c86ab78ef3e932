package aerospiketest

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// A Gate stops commands before they are carried out. All its methods are safe
// for concurrent use. That a command passes a gate happens after the call that
// let it pass.
type Gate struct {
	srv   *Server
	match Match

	mu      sync.Mutex
	held    []chan struct{} // in the order of arrival; closed to let one pass
	credit  int             // commands that may pass at once. Invariant: 0 if any is held
	changed chan struct{}   // closed and made anew when held changes
	open    bool            // released
}

// Held returns how many commands are held now.
func (g *Gate) Held() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.held)
}

// Wait returns nil once at least n commands are held at the same time. It fails
// with the context's cause, or when the gate is released first.
func (g *Gate) Wait(ctx context.Context, n int) error {
	for {
		g.mu.Lock()
		held, open, changed := len(g.held), g.open, g.changed
		g.mu.Unlock()
		switch {
		case open:
			return fmt.Errorf("aerospiketest: gate released while waiting for %d commands", n)
		case held >= n:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("aerospiketest: %d of %d commands held: %w", g.Held(), n, causeOf(ctx))
		}
	}
}

// Step lets n commands pass: those that have been held longest, and if they are
// fewer, the next that arrive. It does not wait. It panics if n is negative.
func (g *Gate) Step(n int) {
	if n < 0 {
		panic(fmt.Errorf("aerospiketest: Gate.Step by %d, want 0 or more", n))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	k := min(n, len(g.held))
	for _, c := range g.held[:k] {
		close(c)
	}
	g.held = slices.Delete(g.held, 0, k)
	if n > k {
		g.credit += n - k
	}
	g.notifyLocked()
}

// Release lets all commands pass and removes the gate. A second call does
// nothing. It does not wait.
func (g *Gate) Release() {
	g.srv.forgetGate(g)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open {
		return
	}
	g.open = true
	for _, c := range g.held {
		close(c)
	}
	g.held = nil
	g.notifyLocked()
}

func (g *Gate) notifyLocked() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// arrive returns what a command must wait for; nil lets it pass at once.
func (g *Gate) arrive() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.open:
		return nil
	case g.credit > 0:
		g.credit--
		return nil
	}
	c := make(chan struct{})
	g.held = append(g.held, c)
	g.notifyLocked()
	return c
}

// leave takes out a command whose wait has ended for another reason. One that
// was let pass at the same moment has used up its step.
func (g *Gate) leave(c chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.held, c); i >= 0 {
		g.held = slices.Delete(g.held, i, i+1)
		g.notifyLocked()
	}
}
