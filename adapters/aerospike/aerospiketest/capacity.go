package aerospiketest

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Capacity bounds what a node serves at a time. Info and admin commands are
// outside of it, as on a real server. A command that waits or is served does
// not notice that its client has hung up. The zero value is no bound.
type Capacity struct {
	// Parallel is how many commands are served at a time. Zero means no bound;
	// then Queue must be zero too.
	Parallel int
	// ServiceTime is how long each is served, at least: a timer, no load on the
	// machine. A batch or a scan counts as one command.
	ServiceTime time.Duration
	// Queue is how many more may wait. Zero means none.
	Queue int
	// OverloadCode is the answer to a read, a batch or a scan that finds the
	// queue full. Zero means CodeTimeout. A write is answered with
	// CodeDeviceOverload.
	OverloadCode Code
}

func (c Capacity) validate(field string) error {
	var errs []error
	fault := func(bad bool, name string, value any, want string) {
		if bad {
			errs = append(errs, fmt.Errorf("aerospiketest: %s.%s is %v, want %s", field, name, value, want))
		}
	}
	fault(c.Parallel < 0, "Parallel", c.Parallel, "0 or more")
	fault(c.ServiceTime < 0, "ServiceTime", c.ServiceTime, "0 or more")
	fault(c.Queue < 0, "Queue", c.Queue, "0 or more")
	fault(c.Queue > 0 && c.Parallel == 0, "Queue", c.Queue, "0, as Parallel is 0")
	return errors.Join(errs...)
}

// overload is the answer to a command that is turned away.
func (c Capacity) overload(writes bool) Code {
	switch {
	case writes:
		return CodeDeviceOverload
	case c.OverloadCode != CodeOK:
		return c.OverloadCode
	}
	return CodeTimeout
}

// A station serves a bounded number of commands at a time, in the order in which
// they came.
type station struct {
	Capacity

	mu sync.Mutex
	// Invariant: busy <= Parallel, and the queue is empty when busy < Parallel.
	busy  int
	queue []chan struct{} // closed when the waiter has a place
}

// enter takes a place, waiting for one if need be. It returns false when the
// queue is full. A done that ends the wait gives errDone, and no place.
func (s *station) enter(done <-chan struct{}) (bool, error) {
	s.mu.Lock()
	if s.busy < s.Parallel {
		s.busy++
		s.mu.Unlock()
		return true, nil
	}
	if len(s.queue) >= s.Queue {
		s.mu.Unlock()
		return false, nil
	}
	turn := make(chan struct{})
	s.queue = append(s.queue, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return true, nil
	case <-done:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.queue {
		if c == turn {
			s.queue = append(s.queue[:i], s.queue[i+1:]...)
			return false, errDone
		}
	}
	// The place was given between done and the lock: pass it on.
	s.leaveLocked()
	return false, errDone
}

// leave gives a place back, to the first that waits.
func (s *station) leave() {
	s.mu.Lock()
	s.leaveLocked()
	s.mu.Unlock()
}

func (s *station) leaveLocked() {
	if len(s.queue) == 0 {
		s.busy--
		return
	}
	close(s.queue[0])
	s.queue = s.queue[1:]
}
