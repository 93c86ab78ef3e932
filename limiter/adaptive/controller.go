package adaptive

import (
	"cmp"
	"slices"
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

	obeying sync.Mutex  // held while the guard is told; taken by TryLock only
	obeyed  order       // guarded by obeying: what the guard was told last
	stale   atomic.Bool // whether the guard may have to be told of something

	mu       sync.Mutex // guards what follows; nobody else's code runs under it
	rule     rule
	state    state
	static   int // the limit to go back to
	mode     spillway.Mode
	trusted  bool
	broken   bool
	stopped  bool
	released bool          // whether the guard was told so, too
	every    int           // one in so many calls is measured
	opened   time.Duration // when the window began; unopened before the first call
	quiet    []quiet       // by class, and of all at last
	counts   Stats
	recent   []Change // a ring
	oldest   int
}

// Drive has a new controller move the limit of g, which was static until then: it is
// what the controller goes back to. Nobody else may drive g, and until Stop its SetLimit,
// SetPace, SetMaxWeight and SetMeter are the controller's; a limiter or lane that another
// controller, or a meter, is at already gives an error. The limit starts at 4, or at
// the static limit if that is lower, unless the configuration keeps it higher. A wrong
// configuration gives a *spillway.ConfigError that lists every fault, and an error of g
// is returned as it is; g is as it was then. Drive doesn't block.
func Drive(g Guard, cfg Config) (*Controller, error) {
	if g == nil {
		return nil, fault("", "Guard", nil, "must not be nil")
	}
	static := g.Limit()
	if err := cfg.validate(g.Name(), static); err != nil {
		return nil, err
	}
	if m, ok := g.(interface{ Meter() spillway.Meter }); ok && m.Meter() != nil {
		return nil, fault(g.Name(), "Guard", g.Name(), "must not be measured by another: Stop its controller, or SetMeter(nil, 0), first")
	}
	c := &Controller{
		cfg: cfg, guard: g, name: g.Name(), static: static, mode: cfg.Mode, trusted: cfg.Trusted, every: 1,
		classes: map[string]uint8{}, obeyed: order{permits: static},
	}
	c.cfg.Classes, c.cfg.Hooks = slices.Clone(cfg.Classes), slices.Clone(cfg.Hooks)
	c.meter = &meter{c}
	for i, k := range cfg.Classes {
		c.classes[k.Name] = uint8(i + 1)
	}
	c.gather.prepare(len(cfg.Classes)+1, cfg.Max)
	c.quiet = make([]quiet, len(cfg.Classes)+2)
	c.rule = cfg.rule(static, cfg.Trusted)
	c.restartLocked()
	began := c.changeLocked(float64(static))
	c.noticeLocked(began)
	if err := c.obey(); err != nil {
		_ = c.Stop()
		return nil, err
	}
	c.report(began)
	return c, nil
}

// restartLocked begins with a low limit again, and keeps what was learned.
func (c *Controller) restartLocked() {
	old := c.state
	limit := min(max(min(startLimit, float64(c.static)), c.rule.low), c.rule.high)
	c.state = state{
		limit: limit, starting: true,
		healthy: old.healthy, watched: old.watched, latency: old.latency, took: old.took, refs: old.refs,
	}
	c.broken, c.opened = false, unopened
	for i := range c.gather.cells {
		c.gather.cells[i].open.Store(0)
	}
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
		c.opened = at
		clear(c.quiet)
		c.due.Store(int64(at + c.state.length()))
		return ch, false
	}
	w := c.gather.read(at - c.opened)
	w.silent = c.silentLocked(at, &w)
	if !w.silent && !c.rule.enough(&c.state, &w) {
		c.waitLocked(at, w.span)
		return ch, false
	}
	silent := w.silent
	w = c.gather.draw(w.span)
	// A call that took a minute was in use for a minute, but not all of it in this window.
	w.silent, w.busy = silent, min(w.busy*float64(c.every), float64(w.peak))
	c.opened = at
	c.rule.shadow = c.mode != spillway.Enforce
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

// quiet is since when nothing was heard of the backend.
type quiet struct {
	answers int64         // that had come when it was looked at last
	since   time.Duration // 0 if something has come since
}

// heard takes in how many answers have come by now, and returns for how long none has.
func (q *quiet) heard(answers int64, at time.Duration) time.Duration {
	if answers != q.answers {
		q.answers, q.since = answers, 0
		return 0
	}
	if q.since == 0 {
		q.since = at
	}
	return at - q.since
}

// silentLocked reports whether nothing has come back for so long that the backend must
// stand still: of a class that has calls under way, for it is no matter that a scan takes
// longer than a read; while nobody knows how long, the others speak for it, each in its
// own time. If none is known to be under way, because few are measured, it goes by all
// calls: that somebody looks means that there are calls, and in use are all permits or
// this one; so what hasn't ended since the last look was under way then, or has been since.
func (c *Controller) silentLocked(at time.Duration, w *window) (silent bool) {
	var answers int64
	known, blind, longest := false, false, c.state.silence(0)
	for i := range c.gather.cells {
		k := &c.gather.cells[i]
		n := k.answers.Load()
		answers += n
		if k.open.Load() == 0 {
			c.quiet[i] = quiet{answers: n}
			continue
		}
		known = true
		takes, quiet := c.rule.expected(&c.state, w, i), c.quiet[i].heard(n, at)
		if takes == 0 {
			blind = true
			continue
		}
		after := c.state.silence(takes)
		silent, longest = silent || quiet >= after, max(longest, after)
	}
	all := c.quiet[len(c.gather.cells)].heard(answers, at)
	silent = silent || blind && all >= longest
	silent = silent || !known && all >= c.state.silence(cmp.Or(c.state.latency, w.mean()))
	if silent { // the next decrease comes after as long a silence
		for i := range c.quiet {
			c.quiet[i].since = at
		}
	}
	return silent
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
