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

// observer is somebody who is told of transitions.
type observer struct {
	tell  func(Transition)
	ended bool // guarded by the machine's lock
}

// notice is a transition for those who observed when it happened.
type notice struct {
	Transition
	number uint64
	to     []*observer
}

// maxPending is how many transitions are kept for observers that don't keep up.
const maxPending = 1024

// OnTransition has f told of every transition from now on, once and in order, one at a
// time, on a goroutine of the machine that is there only while there is something to tell.
// A Connect or a Close returns when f has been told of what it caused, or when its own
// bounds are over and f had 100 ms; one that begins while others are being told doesn't wait
// for f, because it may be f that has called it. So f may call the machine, Connect and
// Close included, and may panic, exit or hang without harm. While it runs transitions go
// on, and are told afterwards; whoever falls behind by more than 1024 isn't told of the
// oldest. The returned function ends it, and may be called more than once.
func (m *Machine[C]) OnTransition(f func(Transition)) (stop func()) {
	o := &observer{tell: f}
	m.mu.Lock()
	m.observers = append(slices.Clip(m.observers), o)
	m.mu.Unlock()
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		o.ended = true
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
	m.announceLocked(Transition{
		From: from, To: to, Reason: reason, Generation: m.stats.connected, Err: err, At: m.since,
	})
	close(m.changed)
	m.changed = make(chan struct{})
}

// announceLocked has the observers told, by the goroutine that is at it or by a new one. Not
// by whoever caused the transition: he would be held up for as long as an observer likes,
// and for ever by one that waits for him.
func (m *Machine[C]) announceLocked(t Transition) {
	if len(m.observers) == 0 {
		return
	}
	m.announced++
	if len(m.pending) == maxPending {
		m.pending = m.pending[1:]
	}
	m.pending = append(m.pending, notice{t, m.announced, m.observers})
	if !m.delivering {
		m.delivering = true
		go m.deliver()
	}
}

// deliver tells what is pending, outside the lock.
func (m *Machine[C]) deliver() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.pending) > 0 {
		n := m.pending[0]
		m.pending = m.pending[1:]
		for _, o := range n.to {
			m.tell(o, n.Transition)
		}
		m.told = n.number
		if m.progress != nil {
			close(m.progress)
			m.progress = nil
		}
	}
	m.pending = nil
	m.delivering = false
}

// tell calls an observer without the lock, and has it again when it returns.
func (m *Machine[C]) tell(o *observer, t Transition) {
	if o.ended {
		return
	}
	m.mu.Unlock()
	defer m.mu.Lock()
	<-apart(func() { o.tell(t) })
}

// courtesy is what observers get to be told of the end of a Connect or a Close whose own
// bounds are over: a log shall have the reason before the caller goes on.
const courtesy = 100 * time.Millisecond

// awaitTold waits until the observers have been told of everything up to a number, until
// done is closed, or until the limit is over; for courtesy at least.
func (m *Machine[C]) awaitTold(number uint64, done <-chan struct{}, limit time.Duration) {
	least := time.Now().Add(courtesy)
	timer := time.NewTimer(max(limit, courtesy))
	defer timer.Stop()
	for {
		m.mu.Lock()
		if m.told >= number {
			m.mu.Unlock()
			return
		}
		if m.progress == nil {
			m.progress = make(chan struct{})
		}
		progress := m.progress
		m.mu.Unlock()
		select {
		case <-progress:
		case <-done:
			done = nil
			timer.Reset(time.Until(least))
		case <-timer.C:
			return
		}
	}
}
