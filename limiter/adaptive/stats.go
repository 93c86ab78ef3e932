package adaptive

import (
	"slices"
	"time"

	"github.com/spillway-go/spillway"
)

// Stats is a snapshot of a controller. Counts start with the controller and only grow.
type Stats struct {
	Name    string        // the name of the guard that is driven
	Mode    spillway.Mode // the mode in force
	Trusted bool          // whether the limit may leave the neighbourhood of the static one
	Broken  bool          // whether the static limit is in force because the controller found itself broken
	Stopped bool          // whether Stop was called, and the guard is its own again
	Static  int           // the static limit
	Limit   float64       // the limit computed; in force in mode Enforce, unless broken or stopped
	Pace    time.Duration // the gap between two calls that it stands for; 0 with a limit of one or more
	Healthy float64       // permits in use on average while all was well
	Held    time.Duration // for how long latency alone has kept the limit at its floor
	Latency time.Duration // the mean latency of what was done, in the last windows
	Every   int           // one in so many calls is measured
	Classes []ClassStats  // unmarked calls first, then the classes in the order of the configuration
	Windows uint64        // windows judged
	Samples uint64        // measured calls that they rest on
	Errors  uint64        // of these, overload signals and timeouts
	Changes CauseCounts   // changes by cause
	Last    Change        // what the last window said, whether it changed anything or not
	Recent  []Change      // the last changes, the oldest first
}

// ClassStats is what is known of a class.
type ClassStats struct {
	Name      string        // empty for calls that are marked with no class
	Target    time.Duration // what was configured; 0 if it is learned
	Reference time.Duration // its latency while the backend has room; 0 if it isn't known yet
}

// Stats returns a snapshot. It may wait for an update under way, which takes
// microseconds.
func (c *Controller) Stats() Stats {
	if c.guard == nil {
		return Stats{Stopped: true}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.counts
	st.Name, st.Mode, st.Trusted, st.Broken, st.Stopped = c.name, c.mode, c.trusted, c.broken, c.released
	st.Static, st.Limit, st.Pace = c.static, c.state.limit, c.state.gap()
	st.Healthy, st.Held, st.Latency, st.Every = c.state.healthy, c.state.again.held, time.Duration(c.state.latency), c.every
	for i := range c.gather.cells {
		k := ClassStats{Target: time.Duration(c.rule.targets[i])}
		if i > 0 {
			k.Name = c.cfg.Classes[i-1].Name
		}
		k.Reference = time.Duration(c.rule.reference(&c.state, i))
		st.Classes = append(st.Classes, k)
	}
	st.Recent = slices.Concat(c.recent[c.oldest:], c.recent[:c.oldest])
	return st
}

// noteLocked counts a window that was judged.
func (c *Controller) noteLocked(w *window, ch Change) {
	c.counts.Windows++
	c.counts.Samples += uint64(w.ok + w.errors)
	c.counts.Errors += uint64(w.errors)
	c.counts.Last = ch
	c.noticeLocked(ch)
}

// noticeLocked counts a change and keeps it, if it is one.
func (c *Controller) noticeLocked(ch Change) {
	if ch.To != ch.From {
		c.keepLocked(ch)
	}
}

// keepLocked counts a change and keeps it.
func (c *Controller) keepLocked(ch Change) {
	c.counts.Changes[ch.Cause]++
	switch {
	case c.cfg.Recent == 0:
	case len(c.recent) < c.cfg.Recent:
		c.recent = append(c.recent, ch)
	default:
		c.recent[c.oldest] = ch
		c.oldest = (c.oldest + 1) % len(c.recent)
	}
}
