package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spillway-go/spillway"
)

// Step is one thing to do at shutdown.
type Step struct {
	// Name says what it is, in errors and reports. It must not be empty.
	Name string
	// Timeout is how long it may take. Zero means an even share: the time that is left when
	// it begins, less what later steps have claimed by their timeouts, divided by the steps
	// without one that are left, itself included. What a step leaves over, the next ones
	// have.
	Timeout time.Duration
	// Run does it, on a goroutine of its own. It should return when its context ends, which
	// is at nine tenths of its time, so that it can still say what it left undone. An error
	// is noted, and so is a panic or Goexit, and the next step runs all the same. It must not
	// be nil.
	Run func(ctx context.Context) error
}

// Closer is what [CloseStep] closes.
type Closer interface {
	Close(ctx context.Context) error
}

// CloseStep is the step that closes c: a limiter, a lane, an executor, a machine.
func CloseStep(name string, c Closer) Step {
	s := Step{Name: name}
	if c != nil {
		s.Run = c.Close
	}
	return s
}

// ShutdownConfig are the settings of a shutdown: what to do, in the order of the fields.
// Steps of one phase run one after the other, in their order. An empty phase is left out.
type ShutdownConfig struct {
	// Timeout is how long the whole may take. It must be positive, and long enough for
	// LameDuck and all timeouts of steps.
	Timeout time.Duration
	// Unready tells the load balancer: readiness says no, health goes on saying yes.
	Unready []Step
	// LameDuck is how long to go on serving then, until no new calls arrive: a little longer
	// than the balancer's probe interval. Zero means that nobody has to be waited for.
	LameDuck time.Duration
	// StopIntake ends the intake: listeners, consumers, timers.
	StopIntake []Step
	// Drain lets what has begun come to its end: executors, lanes, groups.
	Drain []Step
	// Flush sends what is buffered, telemetry last: the drain still makes some.
	Flush []Step
	// Close closes the clients, whom everybody before may have used.
	Close []Step
}

// The names of the phases, as reports say them.
const (
	phaseUnready    = "unready"
	phaseLameDuck   = "lame duck"
	phaseStopIntake = "stop intake"
	phaseDrain      = "drain"
	phaseFlush      = "flush"
	phaseClose      = "close"
)

// phased is a step with its phase, and where it stands in the configuration.
type phased struct {
	phase, field string
	Step
}

// steps are all steps in their order, the lame-duck delay among them.
func (c ShutdownConfig) steps() []phased {
	var all []phased
	add := func(phase, field string, steps []Step) {
		for i, s := range steps {
			all = append(all, phased{phase, fmt.Sprintf("%s[%d].", field, i), s})
		}
	}
	add(phaseUnready, "Unready", c.Unready)
	if c.LameDuck > 0 {
		all = append(all, phased{phase: phaseLameDuck, Step: Step{Name: "delay", Timeout: c.LameDuck}})
	}
	add(phaseStopIntake, "StopIntake", c.StopIntake)
	add(phaseDrain, "Drain", c.Drain)
	add(phaseFlush, "Flush", c.Flush)
	add(phaseClose, "Close", c.Close)
	return all
}

func (c ShutdownConfig) validate() error {
	e := &spillway.ConfigError{Component: "shutdown"}
	if c.Timeout <= 0 {
		e.Add("Timeout", c.Timeout, "must be positive")
	}
	if c.LameDuck < 0 {
		e.Add("LameDuck", c.LameDuck, "must not be negative")
	}
	left := c.Timeout
	for _, s := range c.steps() {
		timeout := s.field + "Timeout"
		if s.phase == phaseLameDuck {
			timeout = "LameDuck"
		} else if s.Run == nil {
			e.Add(s.field+"Run", nil, "must not be nil")
		}
		if strings.TrimSpace(s.Name) == "" {
			e.Add(s.field+"Name", s.Name, "must not be empty")
		}
		if s.Timeout < 0 {
			e.Add(timeout, s.Timeout, "must not be negative")
		}
		if left -= s.Timeout; left < 0 && left+s.Timeout >= 0 && c.Timeout > 0 {
			e.Add(timeout, s.Timeout, fmt.Sprintf("must be at most %v, which the steps before leave of Timeout", left+s.Timeout))
		}
	}
	return e.Err()
}

// StepReport is what became of one step.
type StepReport struct {
	Phase   string        // unready, lame duck, stop intake, drain, flush or close
	Name    string        // the step's name
	Limit   time.Duration // how long it might take
	Took    time.Duration // how long it was waited for
	Err     error         // what it returned; a *spillway.PanicError for a panic or Goexit
	Cut     bool          // whether its context ended before it returned
	Running bool          // whether it hadn't returned when its time was over, and goes on
}

// ShutdownReport is what became of a shutdown.
type ShutdownReport struct {
	Took  time.Duration // how long it took
	Steps []StepReport  // in the order in which they ran
}

// ShutdownError says that a shutdown wasn't a clean one. It unwraps to the errors of its
// steps.
type ShutdownError struct {
	// Steps are those that returned an error, or not at all.
	Steps []StepReport
}

// ErrStepRunning is what a step gets that hadn't returned when its time was over.
var ErrStepRunning = errors.New("lifecycle: shutdown step still running")

// Error implements error: one part a step.
func (e *ShutdownError) Error() string {
	var b strings.Builder
	b.WriteString("lifecycle: shutdown: ")
	for i, s := range e.Steps {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %q", s.Phase, s.Name)
		if s.Cut && !s.Running {
			fmt.Fprintf(&b, " was cut after %v", s.Took)
		}
		fmt.Fprintf(&b, ": %v", s.Err)
	}
	return b.String()
}

// Unwrap returns the errors of the steps.
func (e *ShutdownError) Unwrap() []error {
	var errs []error
	for _, s := range e.Steps {
		errs = append(errs, s.Err)
	}
	return errs
}

// Shutdown ends a process in order and in time: unready, lame-duck delay, stop of the
// intake, drain, flush, close. Make one with [NewShutdown]: the zero Shutdown has nothing to
// do. It is safe for concurrent use.
type Shutdown struct {
	timeout time.Duration
	steps   []phased

	once   sync.Once
	done   chan struct{} // closed when the run is over
	report ShutdownReport
	err    error
}

// NewShutdown returns a shutdown that waits to be run. A wrong configuration gives a
// *spillway.ConfigError that lists every fault: at start-up, not in the last minute.
func NewShutdown(cfg ShutdownConfig) (*Shutdown, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Shutdown{timeout: cfg.Timeout, steps: cfg.steps(), done: make(chan struct{})}, nil
}
