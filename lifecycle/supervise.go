package lifecycle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// SupervisorConfig are the settings of a supervisor of connections of the type C.
type SupervisorConfig[C any] struct {
	// Dial makes a connection. It must not be nil.
	Dial func(ctx context.Context) (C, error)
	// Backoff says how long to wait before a dial: attempt is 1 after a connection was
	// lost or a first dial has failed, and grows with every failure. Nil is
	// [DefaultBackoff]. It should be jittered: the backend's other clients lost their
	// connections in the same moment. If it panics or exits, DefaultBackoff counts.
	Backoff func(attempt int) time.Duration
	// MinGap is the least time from the end of a dial to the next, whatever Backoff and
	// Nudge say. It must be positive.
	MinGap time.Duration
	// Settle is how long a connection must last to be a success: if it is lost before,
	// attempt goes on growing, so a backend that flaps is asked ever more rarely. Zero
	// means that every connection is one.
	Settle time.Duration
	// Check says whether a connection still works; an error or a panic says that it
	// doesn't. It holds a lease meanwhile. Nil means that nobody looks: then only those
	// who close the machine cause a new dial.
	Check func(ctx context.Context, conn C) error
	// CheckEvery is the time from one check to the next. With Check it must be positive.
	CheckEvery time.Duration
	// CheckTimeout is the longest time of a check; one that takes longer has failed. With
	// Check it must be positive.
	CheckTimeout time.Duration
	// CheckFailures is how many checks in a row must fail before the connection is closed
	// and dialled anew, so that one lost packet is no reason. With Check it must be
	// positive.
	CheckFailures int
}

// DefaultSupervisorConfig returns the settings that fit most: [DefaultBackoff], 100 ms
// between dials at least, a connection that lasts ten seconds is a success; and, for when
// a Check is set, one every 5 s that may take 2 s, of which three in a row must fail.
func DefaultSupervisorConfig[C any](dial func(context.Context) (C, error)) SupervisorConfig[C] {
	return SupervisorConfig[C]{
		Dial: dial, MinGap: 100 * time.Millisecond, Settle: 10 * time.Second,
		CheckEvery: 5 * time.Second, CheckTimeout: 2 * time.Second, CheckFailures: 3,
	}
}

func (c SupervisorConfig[C]) validate(ctx context.Context, m *Machine[C]) error {
	e := &spillway.ConfigError{Component: "supervisor"}
	if ctx == nil {
		e.Add("ctx", nil, "must not be nil")
	}
	if m != nil {
		e.Name = m.cfg.Name
	}
	if m == nil || m.cfg.Close == nil {
		e.Add("Machine", "zero", "must be made by New")
	}
	if c.Dial == nil {
		e.Add("Dial", nil, "must not be nil")
	}
	if c.MinGap <= 0 {
		e.Add("MinGap", c.MinGap, "must be positive")
	}
	if c.Settle < 0 {
		e.Add("Settle", c.Settle, "must not be negative")
	}
	if c.Check != nil && c.CheckEvery <= 0 {
		e.Add("CheckEvery", c.CheckEvery, "must be positive: there is a Check")
	}
	if c.Check != nil && c.CheckTimeout <= 0 {
		e.Add("CheckTimeout", c.CheckTimeout, "must be positive: there is a Check")
	}
	if c.Check != nil && c.CheckFailures < 1 {
		e.Add("CheckFailures", c.CheckFailures, "must be positive: there is a Check")
	}
	return e.Err()
}

// The bounds of DefaultBackoff.
const (
	backoffBase = 100 * time.Millisecond
	backoffCap  = 30 * time.Second
)

// DefaultBackoff returns between half of and all of 100 ms for the first attempt, twice
// that for the second, and so on up to 30 s: for any attempt, and different every time.
func DefaultBackoff(attempt int) time.Duration {
	ceiling := backoffCap
	if attempt = max(attempt, 1); attempt < 10 {
		ceiling = min(backoffBase<<(attempt-1), backoffCap)
	}
	return ceiling/2 + rand.N(ceiling/2+1)
}

// Supervisor keeps a machine connected: it dials, one dial at a time, with a jittered
// back-off between them, until there is a connection; then it watches that, and dials
// anew when it is lost. All its methods are safe for concurrent use. The zero Supervisor
// does nothing; one is made, and started, by [Supervise]. It has one goroutine, and one
// more during a check; call [Supervisor.Stop].
type Supervisor[C any] struct {
	machine *Machine[C]
	cfg     SupervisorConfig[C]
	cancel  context.CancelFunc
	nudge   chan struct{} // holds one token
	stopped chan struct{} // closed when all goroutines have ended
	checks  sync.WaitGroup

	mu      sync.Mutex // guards what follows
	stats   SupervisorStats
	settles time.Time // when the connection that is there has lasted; zero if there is none
}

// SupervisorStats is a snapshot of a supervisor. Counts only grow.
type SupervisorStats struct {
	Stopped      bool      // whether Stop was called
	Attempt      int       // dials in a row that brought no lasting connection; 0 once there is one
	NextDial     time.Time // when the back-off under way ends; zero if there is none
	Dials        uint64    // dials made
	Failed       uint64    // of them, those that failed
	Checks       uint64    // checks that ended, or took too long
	CheckFailed  uint64    // of them, those that failed
	Reconnects   uint64    // connections closed because their checks failed
	Nudges       uint64    // back-offs and pauses cut short by Nudge
	LastError    error     // the newest error of a dial or a check; nil if there was none
	CheckRunning int       // checks at work: more than one if some never end
}

// Supervise starts a supervisor of m, which is to be its only one and the only one who
// calls m.Connect. It begins to dial at once, unless m is connected already, and returns
// without waiting for that: see [Machine.WaitState]. A wrong configuration gives a
// *spillway.ConfigError that lists every fault, and nothing is started. If somebody closes
// m the supervisor dials anew, after a back-off: at the end call Stop, and then m.Close.
// The context gives dials and checks their values; its end stops the supervisor.
func Supervise[C any](ctx context.Context, m *Machine[C], cfg SupervisorConfig[C]) (*Supervisor[C], error) {
	if err := cfg.validate(ctx, m); err != nil {
		return nil, err
	}
	if cfg.Backoff == nil {
		cfg.Backoff = DefaultBackoff
	}
	s := &Supervisor[C]{machine: m, cfg: cfg, nudge: make(chan struct{}, 1), stopped: make(chan struct{})}
	ctx, s.cancel = context.WithCancel(ctx)
	go s.run(ctx)
	return s, nil
}

// Nudge ends the back-off under way, or the pause before the next check, so that what it
// waits for happens now: for when there is reason to think that the backend is back, or
// isn't. One that comes during a dial counts if that fails. MinGap holds all the same, so
// it may be called on every failed call. It never blocks.
func (s *Supervisor[C]) Nudge() {
	select {
	case s.nudge <- struct{}{}:
	default: // also for the zero Supervisor
	}
}

// Stop ends the supervision and returns when its goroutines have ended: a dial under way
// is cancelled, a check, or a close that the supervisor had begun, is waited for. If ctx
// ends first it returns an error that wraps the context's cause, and what is still at work
// ends by itself. The machine stays as it is: connected, if it is. Stop may be called any
// number of times. A Check or a Backoff that calls it waits for itself, until ctx ends: to
// give up from within end the context that Supervise was given.
func (s *Supervisor[C]) Stop(ctx context.Context) error {
	if s.machine == nil {
		return nil
	}
	s.mu.Lock()
	s.stats.Stopped = true
	s.mu.Unlock()
	s.cancel()
	select {
	case <-s.stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("lifecycle %q: supervisor still at work: %w", s.machine.cfg.Name, cause.Of(ctx))
	}
}

// Stats returns a snapshot.
func (s *Supervisor[C]) Stats() SupervisorStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	if !s.settles.IsZero() && time.Until(s.settles) <= 0 {
		st.Attempt = 0
	}
	return st
}
