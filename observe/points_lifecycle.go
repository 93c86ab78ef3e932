package observe

import "github.com/spillway-go/spillway/lifecycle"

// lifecyclePoints writes the state, the transitions that can happen, and what is open.
func (s Snapshot) lifecyclePoints(w *writer) {
	l := s.Lifecycle
	for i := range l.Transitions {
		state := lifecycle.State(i)
		now := 0.0
		if l.State == state {
			now = 1
		}
		w.value(lifecycleStatus, now, s.Name, state.String())
	}
	for from := range l.Transitions {
		for to, n := range l.Transitions[from] {
			if n > 0 || legal(lifecycle.State(from), lifecycle.State(to)) {
				w.value(lifecycleTransitions, float64(n), s.Name, lifecycle.State(from).String(), lifecycle.State(to).String())
			}
		}
	}
	w.value(lifecycleLeases, float64(l.Leases), s.Name)
	w.value(lifecycleOpen, float64(l.Open()), s.Name)
	w.value(lifecycleOrphans, float64(l.Orphans), s.Name)
	w.value(lifecycleCloseErrors, float64(l.CloseErrors), s.Name)
	w.times(lifecycleConnect, &l.ConnectTimes, s.Name)
	w.times(lifecycleConnect, &l.FailedTimes, s.Name, errorFailed)
	w.times(lifecycleDrain, &l.CloseTimes, s.Name)
}

// legal reports whether a machine can go from one state to another: the diagram of
// lifecycle.State.
func legal(from, to lifecycle.State) bool {
	switch from {
	case lifecycle.Disconnected:
		return to == lifecycle.Connecting
	case lifecycle.Connecting:
		return to == lifecycle.Connected || to == lifecycle.Disconnected || to == lifecycle.Closing
	case lifecycle.Connected:
		return to == lifecycle.Closing
	case lifecycle.Closing:
		return to == lifecycle.Disconnected
	}
	return false
}

func (s Snapshot) registryPoints(w *writer) {
	r := s.Registry
	w.value(registryKeys, float64(r.Keys), s.Name)
	w.value(registryKeyLimit, float64(r.MaxKeys), s.Name)
	w.value(registryWaiters, float64(r.Waiting), s.Name)
	w.value(registryLeases, float64(r.Leases), s.Name)
	w.value(registryOpen, float64(r.Open()), s.Name)
	w.value(registryDials, float64(r.Connected), s.Name)
	w.value(registryDials, float64(r.Failed), s.Name, errorFailed)
}
