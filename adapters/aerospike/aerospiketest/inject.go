package aerospiketest

import "slices"

// Inject puts a fault to work, for every command that is read from now on. It
// panics if the fault is faulty or the server is closed, both of which are
// mistakes in the test. The fault works until it is removed.
func (s *Server) Inject(f Fault) *Injected {
	if err := f.check(len(list(&s.nodes))); err != nil {
		panic(err)
	}
	f.Match.Nodes = slices.Clone(f.Match.Nodes)
	i := &Injected{srv: s, fault: f, changed: make(chan struct{}), free: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustBeOpenLocked()
	with(&s.faults, i)
	return i
}

// Hold sets up a gate: every command that matches, from now on, stops before it
// is carried out, after the faults. It panics if the match is faulty or the
// server is closed, both of which are mistakes in the test. A held command ends
// without an answer when its client hangs up, its node goes down or the server
// is closed.
func (s *Server) Hold(m Match) *Gate {
	if err := m.check(len(list(&s.nodes)), KindsAll); err != nil {
		panic(err)
	}
	m.Nodes = slices.Clone(m.Nodes)
	g := &Gate{srv: s, match: m, changed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustBeOpenLocked()
	with(&s.gates, g)
	return g
}

func (s *Server) mustBeOpenLocked() {
	if s.closed.Load() {
		panic(errClosed)
	}
}

func (s *Server) faultList() []*Injected { return list(&s.faults) }
func (s *Server) gateList() []*Gate      { return list(&s.gates) }

func (s *Server) forgetFault(i *Injected) {
	s.mu.Lock()
	defer s.mu.Unlock()
	without(&s.faults, i)
}

func (s *Server) forgetGate(g *Gate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	without(&s.gates, g)
}
