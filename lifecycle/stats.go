package lifecycle

import (
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/histogram"
)

// counters are guarded by the machine's lock, but for unleased.
type counters struct {
	connected, failed, refused, late uint64
	opened, closed, closeErrors      uint64
	orphaned                         uint64
	orphans                          int
	transitions                      [len(stateNames)][len(stateNames)]uint64
	unleased                         atomic.Uint64
}

// durations are how long connects and closes took.
type durations struct{ connected, failed, closed histogram.Recorder }

// note records how long the machine was in a state that it has left.
func (d *durations) note(from, to State, in time.Duration) {
	switch {
	case from == Connecting && to == Connected:
		d.connected.Record(in)
	case from == Connecting:
		d.failed.Record(in)
	case from == Closing:
		d.closed.Record(in)
	}
}

// Stats is a snapshot of a machine. Counts start with the machine and only grow.
type Stats struct {
	Name        string    // the machine's name
	State       State     // where it is
	Since       time.Time // when the state began
	Generation  uint64    // the newest connection's number; 0 if there was none
	Leases      int       // leases of the current connection that are out
	Connected   uint64    // Connects that succeeded
	Failed      uint64    // Connects whose dial failed, took too long, or was aborted
	Refused     uint64    // Connects that the state didn't allow
	Late        uint64    // dials that ended after they had been given up
	Unleased    uint64    // leases that weren't given for want of a connection
	Opened      uint64    // connections that dials returned
	Closed      uint64    // connections whose Close function returned
	CloseErrors uint64    // of them, those whose Close function failed
	Orphans     int       // connections that wait for their last lease after Close has gone
	Orphaned    uint64    // how many there have been
	Background  int       // dials, Draining and Close functions running now
	LastError   error     // the newest error of a dial or a close; nil if there was none
	// How long the Connects took that succeeded, those that failed, and the closes, from
	// the call to Disconnected.
	ConnectTimes, FailedTimes, CloseTimes spillway.Distribution
	// Transitions counts the changes of state, by from and to.
	Transitions [len(stateNames)][len(stateNames)]uint64
}

// Open returns how many connections are open, as far as the machine knows: the
// current one, orphans, and those being closed.
func (s Stats) Open() int { return int(s.Opened - s.Closed) }

// Stats returns a snapshot. It takes the lock for a moment, which leases don't.
func (m *Machine[C]) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &m.stats
	s := Stats{
		Name: m.cfg.Name, State: m.State(), Since: m.since, Generation: c.connected,
		Connected: c.connected, Failed: c.failed, Refused: c.refused, Late: c.late,
		Unleased: c.unleased.Load(), Opened: c.opened, Closed: c.closed, CloseErrors: c.closeErrors,
		Orphans: c.orphans, Orphaned: c.orphaned, Background: m.background + m.drainings,
		LastError: m.lastErr, Transitions: c.transitions,
		ConnectTimes: m.took.connected.Snapshot(), FailedTimes: m.took.failed.Snapshot(), CloseTimes: m.took.closed.Snapshot(),
	}
	if g := m.current.Load(); g != nil {
		s.Leases = int(g.word.Load() & leasesMask)
	}
	return s
}
