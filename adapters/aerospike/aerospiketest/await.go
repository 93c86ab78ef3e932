package aerospiketest

import (
	"context"
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
// with the context's cause.
func (s *Server) AwaitConns(ctx context.Context, n int) error {
	for {
		changed := s.gone.next()
		if s.counters.conns.now.Load() <= int64(n) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
