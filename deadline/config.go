package deadline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
)

// The highest values that a configuration may have. They are far above what makes
// sense, and catch units mixed up and numbers that overflowed.
const (
	MaxWorkers    = 1 << 16             // workers of one executor
	MaxQueue      = 1 << 20             // jobs that wait
	MaxSubmitters = 1 << 20             // callers parked
	MaxItems      = 1 << 30             // items of one job
	MaxTTL        = 30 * 24 * time.Hour // time from submission to the end of a job, and for draining
)

// Overflow says who goes when a job comes and the queue is full. The zero Overflow
// is RejectNewest.
type Overflow uint8

// The ways to treat a full queue.
const (
	RejectNewest Overflow = iota // the job that comes is refused, or its caller parked
	DropOldest                   // the job that has waited longest makes way; its caller is told
)

// Valid reports whether o is one of the two.
func (o Overflow) Valid() bool { return o <= DropOldest }

// Config are the settings of an executor.
type Config struct {
	// Name is the executor's name in errors, statistics and telemetry, where it has
	// to be unique. It must not be empty.
	Name string
	// Workers is how many jobs run at once, from 1 to MaxWorkers. Zero is an error:
	// take what the backend can serve at once, not what the CPU has.
	Workers int
	// Queue is how many jobs may wait, from 0 to MaxQueue. Zero means none: a job is
	// taken only if a worker is free for it.
	Queue int
	// Overflow says who goes when the queue is full; DropOldest needs one. Zero is RejectNewest.
	Overflow Overflow
	// MaxSubmitters is how many callers of Do and Submit may be parked until there is
	// room in the queue, from 0 to MaxSubmitters. Zero means none: they are refused
	// like those of TrySubmit and Go. It can't be had together with DropOldest.
	MaxSubmitters int
	// TTL is the longest time from submission to the end of a job, up to MaxTTL. A
	// context whose deadline is earlier counts instead. Zero means that each job
	// must bring a deadline of its own; one without gets ErrNoDeadline.
	TTL time.Duration
	// Predict turns on the refusal of jobs that can't be served in time, and says
	// which share of the time that it has left a job may be expected to wait: above
	// 0 and up to 1. With 1 only what would miss its deadline is refused, and some of
	// what starts last is cut off; 0.25 wastes next to nothing. Zero turns it off.
	Predict float64
	// Mode governs the prediction, and can shed everything: with Shadow a refusal by
	// prediction is only counted, with Off nothing is predicted, with RefuseAll every
	// new job is refused. Bounds and deadlines hold in each mode. Zero is Enforce.
	Mode spillway.Mode
	// Drain is how long Close lets accepted jobs go on before it cancels them, up to
	// MaxTTL. Zero means not at all.
	Drain time.Duration
	// RetryAfter is the hint that refusals carry. Zero means no hint.
	RetryAfter time.Duration
	// Sink is told of each job of Go that was accepted and then failed, expired, was
	// dropped, canceled or closed. Nil means that such jobs are only counted. It is
	// called once a job, with the context it was submitted with, outside of any lock,
	// on the goroutine that found out, which is often a worker: a slow Sink slows the
	// work down. It may call the executor and may panic without harm. On a goroutine of the
	// executor Close is a *spillway.NestedError, and so are on a worker Do, Submit and Wait
	// where no other one is free.
	Sink func(ctx context.Context, f Failure)
	// Hooks are told of what happens off the fast path, in this order.
	Hooks []Hooks
}

// validate returns one error that lists every fault.
func (c Config) validate() error {
	e := &spillway.ConfigError{Component: component, Name: c.Name}
	if strings.TrimSpace(c.Name) == "" {
		e.Add("Name", c.Name, "must not be empty")
	}
	addRange(e, "Workers", c.Workers, 1, MaxWorkers)
	addRange(e, "Queue", c.Queue, 0, MaxQueue)
	if !c.Overflow.Valid() {
		e.Add("Overflow", uint8(c.Overflow), "must be RejectNewest or DropOldest")
	}
	if c.Overflow == DropOldest && c.Queue == 0 {
		e.Add("Queue", c.Queue, "must be at least 1 with DropOldest: there would be nothing to drop")
	}
	addRange(e, "MaxSubmitters", c.MaxSubmitters, 0, MaxSubmitters)
	if c.Overflow == DropOldest && c.MaxSubmitters > 0 {
		e.Add("MaxSubmitters", c.MaxSubmitters, "must be 0 with DropOldest: nobody would ever be parked")
	}
	addSpan(e, "TTL", c.TTL)
	if !(c.Predict >= 0 && c.Predict <= 1) { // written so that NaN is a fault too
		e.Add("Predict", c.Predict, "must be from 0 to 1")
	}
	if !c.Mode.Valid() {
		e.Add("Mode", c.Mode, "must be Enforce, Shadow, Off or RefuseAll")
	}
	addSpan(e, "Drain", c.Drain)
	addSpan(e, "RetryAfter", c.RetryAfter)
	return e.Err()
}

func addRange(e *spillway.ConfigError, field string, v, from, to int) {
	if v < from || v > to {
		e.Add(field, v, fmt.Sprintf("must be from %d to %d", from, to))
	}
}

func addSpan(e *spillway.ConfigError, field string, d time.Duration) {
	if d < 0 || d > MaxTTL {
		e.Add(field, d, fmt.Sprintf("must be from 0 to %v", MaxTTL))
	}
}
