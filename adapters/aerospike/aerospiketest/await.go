package aerospiketest

import (
	"context"
	"fmt"
	"sync"
)

// signal tells whoever waits that something has changed.
type signal struct {
	mu sync.Mutex
	ch chan struct{} // closed at the next change; nil while nobody waits
}

// next returns a channel that is closed at the next change.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}

// AwaitConns returns nil once at most n connections are open, on all nodes
// together: a client that was closed has not been noticed at once. It fails
// with the context's cause, and at once if n is negative.
func (s *Server) AwaitConns(ctx context.Context, n int) error {
	if n < 0 {
		return fmt.Errorf("aerospiketest: AwaitConns of %d connections, want 0 or more", n)
	}
	for {
		changed := s.gone.next()
		open := s.counters.conns.now.Load()
		if open <= int64(n) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("aerospiketest: %d connections open, want %d at most: %w", open, n, causeOf(ctx))
		}
	}
}
