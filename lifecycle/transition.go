package lifecycle

import (
	"fmt"
	"slices"
	"time"
)

// Transition is one change of state.
type Transition struct {
	From, To   State     // the states before and after
	Reason     string    // why, in a word or two, as in the transition table
	Generation uint64    // the connection it is about; 0 if there was none yet
	Err        error     // what a failed dial or close said; nil otherwise
	At         time.Time // when
}

type observer struct{ tell func(Transition) }

// OnTransition has f told of every transition from now on, in order, one at a
// time, on a goroutine of the machine, while whoever caused one, or one shortly
// before, waits. f may call the machine, and may panic or exit without harm; while it
// runs, transitions of other goroutines are not told, but happen. The returned function
// ends it, and may be called more than once.
func (m *Machine[C]) OnTransition(f func(Transition)) (stop func()) {
	o := &observer{tell: f}
	m.mu.Lock()
	m.observers = append(slices.Clip(m.observers), o)
	m.mu.Unlock()
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		kept := make([]*observer, 0, len(m.observers))
		for _, have := range m.observers {
			if have != o {
				kept = append(kept, have)
			}
		}
		m.observers = kept
	}
}

// moveLocked is the only place where the state changes.
func (m *Machine[C]) moveLocked(to State, err error) {
	from := m.State()
	reason, ok := transitions[from][to]
	if !ok {
		panic(fmt.Sprintf("lifecycle: bug: transition from %v to %v", from, to))
	}
	m.state.Store(uint32(to))
	now := time.Now()
	m.took.note(from, to, now.Sub(m.since))
	m.since = now
	m.stats.transitions[from][to]++
	if err != nil {
		m.lastErr = err
	}
	m.pending = append(m.pending, Transition{
		From: from, To: to, Reason: reason, Generation: m.stats.connected, Err: err, At: m.since,
	})
	close(m.changed)
	m.changed = make(chan struct{})
}

// deliver tells the observers what is pending, outside the lock. If somebody is at
// it already, possibly waiting for an observer that brought this about, he will tell
// this too: that keeps the order, and lets an observer call the machine.
func (m *Machine[C]) deliver() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.delivering {
		return
	}
	m.delivering = true
	for len(m.pending) > 0 {
		t := m.pending[0]
		m.pending = m.pending[1:]
		m.tell(t)
	}
	m.pending = nil
	m.delivering = false
}

// tell calls the observers without the lock, and has it again when it returns.
func (m *Machine[C]) tell(t Transition) {
	observers := m.observers
	m.mu.Unlock()
	defer m.mu.Lock()
	for _, o := range observers {
		<-apart(func() { o.tell(t) })
	}
}

// apart calls somebody else's function on a goroutine of its own, and returns what is
// closed when that has ended, however it did: a runtime.Goexit on the goroutine of a
// Connect, a Close or a supervisor would leave its work half done.
func apart(f func()) (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
	}()
	return done
}
