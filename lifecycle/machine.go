package lifecycle

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway/internal/cause"
)

// Machine holds at most one connection of the type C and guards its life. All its
// methods are safe for concurrent use. Make one with [New]: the zero Machine stays
// Disconnected and refuses to connect. Between calls it has no goroutine but those
// of dials, Close functions and observers that are still running.
type Machine[C any] struct {
	cfg Config[C]

	// current is the connection that leases are taken of.
	//
	// Invariant: current is not nil if and only if the state is Connected, seen
	// under mu.
	current atomic.Pointer[generation[C]]
	state   atomic.Uint32 // a State; written under mu

	mu         sync.Mutex // guards what follows; no caller's function runs under it
	attempt    *attempt   // the dial that still counts; nil unless Connecting
	closing    *closing   // the close under way; nil unless Closing
	changed    chan struct{}
	since      time.Time // when the state began
	lastErr    error
	background int           // goroutines of dials and Close functions under way
	drainings  int           // Draining functions under way, for which nobody waits but their Close
	idle       chan struct{} // closed when background falls to 0; nil while nobody waits
	stats      counters
	took       durations

	observers  []*observer   // never changed, only replaced
	pending    []notice      // not told yet, in order
	announced  uint64        // the number of the newest notice
	told       uint64        // the number of the newest that has been told
	progress   chan struct{} // closed when told grows; nil while nobody waits
	delivering bool          // whether there is a goroutine that tells
}

// New returns a machine that is Disconnected. A wrong configuration gives a
// *spillway.ConfigError that lists every fault.
func New[C any](cfg Config[C]) (*Machine[C], error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Machine[C]{cfg: cfg, changed: make(chan struct{}), since: time.Now()}, nil
}

// Name returns the machine's name.
func (m *Machine[C]) Name() string { return m.cfg.Name }

// State returns the state at this moment. It takes no lock.
func (m *Machine[C]) State() State { return State(m.state.Load()) }

// Generation returns the number of the newest connection: 1 for the first, 0 if
// there was none yet.
func (m *Machine[C]) Generation() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stats.connected
}

// Current returns the connection without a lease, and whether there is one. It may
// be closed at any moment, so it is for a look at what the connection carries, not for
// using it. It takes no lock.
func (m *Machine[C]) Current() (conn C, ok bool) {
	if g := m.current.Load(); g != nil {
		return g.conn, true
	}
	return conn, false
}

// WaitState returns nil as soon as the machine is in the state want, which may be
// at once. A state that comes and goes again meanwhile may be missed. If ctx ends
// first it returns the context's cause.
func (m *Machine[C]) WaitState(ctx context.Context, want State) error {
	for {
		m.mu.Lock()
		state, changed := m.State(), m.changed
		m.mu.Unlock()
		if state == want {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return cause.Of(ctx)
		}
	}
}
