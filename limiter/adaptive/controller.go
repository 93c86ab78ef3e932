package adaptive

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
)

// minMin is the lowest Min. The gap between two paced calls has a bound anyway.
const minMin = 0.001

// Target is what a controller drives: a [limiter.Limiter] or a [lane.Lane] of any type,
// or anything else with their methods of these names.
type Target interface {
	Name() string
	Limit() int
	SetLimit(n int) error
	SetPace(gap time.Duration) error
	SetMaxWeight(n int) error
	SetMeter(m spillway.Meter) error
}

// Controller moves the limit of a target by how its calls end. All its methods are safe
// for concurrent use. The zero Controller does nothing; make one with [Drive]. It has no
// goroutine and no timer: the calls of the target bring it forward.
type Controller struct {
	cfg     Config
	target  Target
	static  int
	classes map[string]uint8

	gather gather
	due    atomic.Int64 // when the window is to be looked at, on the target's clock

	mu      sync.Mutex // guards what follows; the target is changed under it, hooks are called outside
	rule    rule
	state   state
	mode    spillway.Mode
	trusted bool
	broken  bool
	stopped bool
	opened  time.Duration // when the window began
	checked int           // calls that had ended when it was looked at last
	quiet   time.Duration // since when nothing has ended; 0 if something has
	counts  Stats
	recent  []Change // a ring
	oldest  int
}

// Drive has a new controller move the limit of t, from what it is now, which is the
// static limit from then on. t must not be driven by anybody else, and its SetLimit,
// SetPace, SetMaxWeight and SetMeter are the controller's until Stop. A wrong
// configuration gives a *spillway.ConfigError that lists every fault, an error of t is
// returned as it is; t is unchanged then.
func Drive(t Target, cfg Config) (*Controller, error) {
	static := t.Limit()
	if err := cfg.validate(static); err != nil {
		return nil, err
	}
	c := &Controller{
		cfg: cfg, target: t, static: static, mode: cfg.Mode, trusted: cfg.Trusted,
		classes: map[string]uint8{}, recent: make([]Change, 0, cfg.Recent),
	}
	for i, k := range cfg.Classes {
		c.classes[k.Name] = uint8(i + 1)
	}
	c.gather.cells = make([]cell, len(cfg.Classes)+1)
	c.restartLocked()
	if err := t.SetMaxWeight(cfg.Max); err != nil {
		return nil, err
	}
	if err := c.applyLocked(); err != nil {
		return nil, err
	}
	if err := t.SetMeter(&meter{c}); err != nil {
		return nil, err
	}
	return c, nil
}

// restartLocked forgets everything.
func (c *Controller) restartLocked() {
	c.rule = c.cfg.rule(float64(c.static), c.trusted)
	limit := min(max(min(startLimit, float64(c.static)), c.rule.low), c.rule.high)
	c.state = state{limit: limit, starting: true}
	c.due.Store(int64(minWindow))
	c.broken = false
}

// applyLocked gives the target the limit that is in force.
func (c *Controller) applyLocked() error {
	limit, gap := c.static, time.Duration(0)
	if c.mode == spillway.Enforce && !c.broken && !c.stopped {
		limit, gap = c.state.permits(), c.state.gap()
	}
	if err := c.target.SetPace(gap); err != nil {
		return err
	}
	if c.target.Limit() == limit {
		return nil
	}
	return c.target.SetLimit(limit)
}

// meter is the controller as its target sees it.
type meter struct{ c *Controller }

func (m *meter) Begin(ctx context.Context, at time.Duration) uint8 {
	c := m.c
	if int64(at) >= c.due.Load() {
		c.look(at)
	}
	if len(c.classes) == 0 {
		return 0
	}
	return c.classes[classOf(ctx)]
}

func (m *meter) Full(at time.Duration) {
	c := m.c
	if !c.gather.full.Load() {
		c.gather.full.Store(true)
	}
	if int64(at) >= c.due.Load() {
		c.look(at)
	}
}

func (m *meter) End(s spillway.Sample) {
	c := m.c
	c.gather.add(&s)
	if int64(s.At) >= c.due.Load() {
		c.look(s.At)
	}
}

// look judges the window if it is full, or if nothing has come back for too long.
func (c *Controller) look(at time.Duration) {
	if !c.mu.TryLock() {
		return // somebody else does
	}
	ch, changed := c.lookLocked(at)
	c.mu.Unlock()
	if changed {
		c.tell(ch)
	}
}

func (c *Controller) lookLocked(at time.Duration) (ch Change, changed bool) {
	if c.mode == spillway.Off || c.broken || c.stopped || int64(at) < c.due.Load() {
		return ch, false
	}
	span := at - c.opened
	w := c.gather.read(span)
	switch all := w.ok + w.errors + w.neutral; {
	case all != c.checked:
		c.checked, c.quiet = all, 0
	case c.quiet == 0:
		c.quiet = at
	}
	silent := c.quiet != 0 && at-c.quiet >= c.state.silence()
	if !silent && !c.rule.enough(&c.state, &w) {
		length := c.state.length()
		c.due.Store(int64(max(c.opened+length, at+length/4)))
		return ch, false
	}
	w = c.gather.draw(span)
	w.silent = silent
	next, ch := c.rule.next(c.state, w)
	c.opened, c.checked = at, 0
	if c.quiet != 0 {
		c.quiet = at
	}
	ch.At, ch.Pace, ch.Shadow = at, next.gap(), c.mode == spillway.Shadow
	c.counts.Updates++
	c.counts.Samples += uint64(w.ok + w.errors)
	c.counts.Errors += uint64(w.errors)
	if !next.sound(&c.rule) {
		return c.breakLocked(at), true
	}
	from := c.state.limit
	c.state = next
	c.due.Store(int64(at + next.length()))
	c.counts.LastRule = ch
	_ = c.applyLocked() // a target that is closed needs no limit
	if ch.To == from {
		return ch, false
	}
	c.keepLocked(ch)
	return ch, true
}

// sound tells a state that can be trusted from one that can't.
func (s *state) sound(r *rule) bool {
	for _, v := range []float64{s.limit, s.healthy, s.peak, s.latency} {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return false
		}
	}
	for i := range s.refs {
		if v := s.refs[i].value; math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return false
		}
	}
	return s.limit >= r.low && s.limit <= r.high
}

// breakLocked goes back to the static limit, and stays there until SetMode.
func (c *Controller) breakLocked(at time.Duration) Change {
	ch := Change{At: at, Cause: Fallback, From: c.state.limit, To: float64(c.static)}
	c.broken = true
	_ = c.applyLocked()
	c.keepLocked(ch)
	return ch
}

// tell calls the hooks.
func (c *Controller) tell(ch Change) {
	for _, h := range c.cfg.Hooks {
		if h.Changed != nil {
			quietly(h.Changed, ch)
		}
	}
}

func quietly(f func(Change), ch Change) {
	defer func() { _ = recover() }()
	f(ch)
}
