package lifecycle

import (
	"context"
	"errors"
	"time"

	"github.com/spillway-go/spillway/internal/cause"
)

// run is the supervisor's goroutine.
func (s *Supervisor[C]) run(ctx context.Context) {
	defer close(s.stopped)
	defer s.checks.Wait()
	attempt, pause := 0, time.Duration(0)
	for {
		if !s.sleep(ctx, pause) {
			return
		}
		state, changed := s.machine.look()
		switch state {
		case Disconnected:
			if err := s.dial(ctx); err != nil && ctx.Err() != nil {
				return
			} else if err != nil {
				attempt++
				pause = s.backoff(attempt)
				continue
			}
			fallthrough
		case Connected:
			since := time.Now()
			s.note(func(*SupervisorStats) { s.settles = since.Add(s.cfg.Settle) })
			if !s.watch(ctx) {
				return
			}
			s.served()
			if time.Since(since) >= s.cfg.Settle {
				attempt = 0
			}
			attempt++
			pause = s.backoff(attempt)
		case Connecting, Closing: // somebody else is at it
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
			pause = 0
		}
	}
}

// dial makes one dial. The machine sees to it that it is the only one.
func (s *Supervisor[C]) dial(ctx context.Context) error {
	s.served()
	refused, err := s.machine.connect(ctx, s.cfg.Dial)
	if refused {
		return nil // somebody else was quicker: watch what he made
	}
	s.note(func(st *SupervisorStats) {
		st.Dials++
		if err != nil {
			st.Failed++
			st.LastError = err
		}
	})
	return err
}

// watch returns when the machine isn't connected any more: because somebody closed it,
// or because its checks failed and it was closed here. It is false if ctx is done.
func (s *Supervisor[C]) watch(ctx context.Context) bool {
	failures := 0
	busy := make(chan struct{}, 1) // holds a token while a check of this connection is at work
	for {
		state, changed := s.machine.look()
		if state != Connected {
			return ctx.Err() == nil
		}
		if s.cfg.Check == nil {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return false
			}
		}
		// A nudge brings the first check forward. Were the next ones brought forward, too, a
		// burst of nudges would undo the hysteresis.
		switch s.pause(ctx, s.cfg.CheckEvery, changed, failures == 0) {
		case pauseStopped:
			return false
		case pauseChanged:
			continue
		case pauseOver:
		}
		if s.check(ctx, busy) {
			failures = 0
		} else {
			failures++
		}
		if ctx.Err() != nil {
			return false
		}
		if failures >= s.cfg.CheckFailures {
			s.note(func(st *SupervisorStats) { st.Reconnects++ })
			_ = s.machine.Close(context.WithoutCancel(ctx)) // bounded; counted by the machine
			return ctx.Err() == nil
		}
	}
}

// check makes one check on a goroutine of its own, and reports whether it succeeded in
// time. While one that took too long is still at work, which is when busy holds a token,
// no other is begun: that failed, too.
func (s *Supervisor[C]) check(ctx context.Context, busy chan struct{}) bool {
	s.served()
	checkCtx, cancel := context.WithTimeout(ctx, s.cfg.CheckTimeout)
	result := make(chan error, 1)
	select {
	case busy <- struct{}{}:
		s.note(func(st *SupervisorStats) { st.CheckRunning++ })
		s.checks.Add(1)
		go func() {
			defer s.checks.Done()
			defer cancel()
			guarded(s.machine.Name(), func() error { return s.inspect(checkCtx) }, func(err error) {
				s.note(func(st *SupervisorStats) { st.CheckRunning-- })
				<-busy
				result <- err
			})
		}()
	default:
		cancel()
		result <- errCheckRunning
	}
	var err error
	select {
	case err = <-result:
	case <-checkCtx.Done():
		select {
		case err = <-result: // in the very moment
		default:
			err = cause.Of(checkCtx)
		}
	}
	if ctx.Err() == nil { // what ended by Stop says nothing
		s.note(func(st *SupervisorStats) {
			st.Checks++
			if err != nil {
				st.CheckFailed++
				st.LastError = err
			}
		})
	}
	return err == nil
}

func (s *Supervisor[C]) inspect(ctx context.Context) error {
	l, err := s.machine.Lease()
	if err != nil {
		return err
	}
	defer l.Release()
	return s.cfg.Check(ctx, l.Conn())
}

// errCheckRunning is the result of a check that wasn't begun.
var errCheckRunning = errors.New("lifecycle: an earlier check is still at work")

// sleep waits for d, or for a nudge. It is false if ctx is done.
func (s *Supervisor[C]) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	s.note(func(st *SupervisorStats) { st.NextDial = time.Now().Add(d) })
	defer s.note(func(st *SupervisorStats) { st.NextDial = time.Time{} })
	return s.pause(ctx, d, nil, true) != pauseStopped
}

// How a pause ended.
const (
	pauseOver = iota
	pauseChanged
	pauseStopped
)

// pause waits for d, a change or the end, and for a nudge if it may be cut short: then
// still for MinGap, if d isn't shorter.
func (s *Supervisor[C]) pause(ctx context.Context, d time.Duration, changed <-chan struct{}, short bool) int {
	nudge := s.nudge
	if !short {
		nudge = nil
	}
	gap := time.Now().Add(min(d, s.cfg.MinGap))
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return pauseOver
		case <-nudge:
			s.note(func(st *SupervisorStats) { st.Nudges++ })
			nudge = nil
			timer.Reset(time.Until(gap))
		case <-changed:
			return pauseChanged
		case <-ctx.Done():
			return pauseStopped
		}
	}
}

// served forgets the nudge from before what it was for. One that comes during a dial
// isn't forgotten: the dial may have failed a moment too early.
func (s *Supervisor[C]) served() {
	select {
	case <-s.nudge:
	default:
	}
}

// backoff asks the user's function, and notes the attempt.
func (s *Supervisor[C]) backoff(attempt int) time.Duration {
	s.note(func(st *SupervisorStats) { st.Attempt, s.settles = attempt, time.Time{} })
	d := DefaultBackoff(attempt) // if the function doesn't return
	<-apart(func() { d = s.cfg.Backoff(attempt) })
	return max(d, s.cfg.MinGap)
}

func (s *Supervisor[C]) note(f func(*SupervisorStats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stats)
}

// look returns the state, and what is closed when it isn't that any more.
func (m *Machine[C]) look() (State, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.State(), m.changed
}
