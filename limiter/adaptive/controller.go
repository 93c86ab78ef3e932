package adaptive

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
)

// Controller moves the limit of a guard by how its calls end. All its methods are safe
// for concurrent use. It has no goroutine and no timer: the calls of the guard bring it
// forward. The zero Controller drives nothing; make one with [Drive].
type Controller struct {
	cfg     Config
	guard   Guard
	name    string           // the guard's
	classes map[string]uint8 // a class's place in gather, by its name
	meter   *meter

	gather gather
	due    atomic.Int64 // when the window is to be looked at, on the guard's clock

	obeying sync.Mutex // held while the guard is told; taken by TryLock only
	obeyed  order      // guarded by obeying: what the guard was told last

	mu      sync.Mutex // guards what follows; nobody else's code runs under it
	rule    rule
	state   state
	static  int // the limit to go back to
	mode    spillway.Mode
	trusted bool
	broken  bool
	stopped bool
	every   int           // one in so many calls is measured
	opened  time.Duration // when the window began; unopened before the first call
	checked int           // calls that had ended when it was looked at last
	quiet   time.Duration // since when nothing has ended; 0 if something has
	counts  Stats
	recent  []Change // a ring
	oldest  int
}

// Drive has a new controller move the limit of g, which was static until then: it is
// what the controller goes back to. Nobody else may drive g, and until Stop its SetLimit,
// SetPace, SetMaxWeight and SetMeter are the controller's. The limit starts at 4, or at
// the static limit if that is lower, unless the configuration keeps it higher. A wrong
// configuration gives a *spillway.ConfigError that lists every fault, and an error of g
// is returned as it is; g is as it was then. Drive doesn't block.
func Drive(g Guard, cfg Config) (*Controller, error) {
	static := g.Limit()
	if err := cfg.Validate(static); err != nil {
		return nil, err
	}
	c := &Controller{
		cfg: cfg, guard: g, name: g.Name(), static: static, mode: cfg.Mode, trusted: cfg.Trusted, every: 1,
		classes: map[string]uint8{}, obeyed: order{permits: static},
	}
	c.meter = &meter{c}
	for i, k := range cfg.Classes {
		c.classes[k.Name] = uint8(i + 1)
	}
	c.gather.cells = make([]cell, len(cfg.Classes)+1)
	c.rule = cfg.rule(static, cfg.Trusted)
	c.restartLocked()
	if err := c.obey(); err != nil {
		_ = c.Stop()
		return nil, err
	}
	return c, nil
}

// restartLocked begins with a low limit again, and keeps what was learned.
func (c *Controller) restartLocked() {
	old := c.state
	limit := min(max(min(startLimit, float64(c.static)), c.rule.low), c.rule.high)
	c.state = state{
		limit: limit, starting: true,
		healthy: old.healthy, watched: old.watched, latency: old.latency, refs: old.refs,
	}
	c.broken, c.opened = false, unopened
	c.due.Store(0)
}

const unopened = -1

// look judges the window if it is time.
func (c *Controller) look(at time.Duration) {
	ch, changed := c.judge(at)
	_ = c.obey() // what a guard took once it takes again
	if changed {
		c.report(ch)
	}
}

// judge judges the window if it can be judged by now, or if nothing has come back for
// too long, and returns what changed.
func (c *Controller) judge(at time.Duration) (ch Change, changed bool) {
	if !c.mu.TryLock() {
		return ch, false // somebody else does
	}
	defer c.mu.Unlock()
	if int64(at) < c.due.Load() || c.mode == spillway.Off || c.broken || c.stopped {
		return ch, false
	}
	if c.opened == unopened {
		c.gather.draw(0)
		c.opened, c.checked, c.quiet = at, 0, 0
		c.due.Store(int64(at + c.state.length()))
		return ch, false
	}
	w := c.gather.read(at - c.opened)
	w.silent = c.silentLocked(at, w.ok+w.errors+w.neutral)
	if !w.silent && !c.rule.enough(&c.state, &w) {
		c.waitLocked(at, w.span)
		return ch, false
	}
	silent := w.silent
	w = c.gather.draw(w.span)
	w.silent, w.busy = silent, w.busy*float64(c.every)
	c.opened, c.checked = at, 0
	next, ch := c.rule.next(c.state, w)
	if !next.sound(&c.rule) {
		return c.breakLocked(), true
	}
	c.state = next
	c.due.Store(int64(at + next.length()))
	c.adjustLocked(w.ok + w.errors)
	ch.Name, ch.At, ch.Pace, ch.Shadow = c.name, time.Now(), next.gap(), c.mode == spillway.Shadow
	c.noteLocked(&w, ch)
	return ch, ch.To != ch.From
}

// silentLocked reports whether nothing has come back for so long that the backend must
// stand still. ended is how many calls have ended in this window. That somebody looks
// means that there are calls, and in use are all permits or this one; so what hasn't
// ended since the last look was under way then, or has been since.
func (c *Controller) silentLocked(at time.Duration, ended int) bool {
	if ended != c.checked {
		c.checked, c.quiet = ended, 0
		return false
	}
	if c.quiet == 0 {
		c.quiet = at
	}
	if at-c.quiet < c.state.silence() {
		return false
	}
	c.quiet = at // the next decrease comes after as long a silence
	return true
}

// waitLocked puts the next look off, of a window that can't be judged yet.
func (c *Controller) waitLocked(at, span time.Duration) {
	length := c.state.length()
	c.due.Store(int64(max(c.opened+length, at+length/4)))
	if span >= length && c.every > 1 {
		c.every /= 2
	}
}

// adjustLocked measures more of the calls, or fewer, after a window of n samples.
func (c *Controller) adjustLocked(n int) {
	switch {
	case n > manySamples && c.every < mostEvery:
		c.every *= 2
	case n < fewSamples && c.every > 1:
		c.every /= 2
	}
}

// breakLocked goes back to the static limit, and stays there until SetMode.
func (c *Controller) breakLocked() Change {
	ch := Change{Name: c.name, At: time.Now(), Cause: Fallback, From: c.state.limit, To: float64(c.static)}
	c.broken = true
	c.state = state{limit: float64(c.static)}
	c.keepLocked(ch)
	return ch
}
