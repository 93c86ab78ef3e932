package adaptive

import (
	"time"

	"github.com/spillway-go/spillway"
)

// Stats is a snapshot of a controller. Counts start with the controller and only grow.
type Stats struct {
	Name     string        // the name of the guard that is driven
	Mode     spillway.Mode // the mode in force
	Trusted  bool          // whether the limit may leave the neighbourhood of the static one
	Broken   bool          // whether the static limit is in force because the controller found itself broken
	Static   int           // the static limit
	Limit    float64       // the limit computed; in force in mode Enforce
	Pace     time.Duration // the gap between two calls that it stands for; 0 with a limit of one or more
	Healthy  float64       // permits in use on average while all was well
	Latency  time.Duration // the mean latency, of the last windows
	Classes  []ClassStats  // unmarked calls first, then the classes in the order of the configuration
	Updates  uint64        // windows judged
	Samples  uint64        // calls that they rest on
	Errors   uint64        // of these, overload signals
	Changes  CauseCounts   // changes by cause
	Recent   []Change      // the last changes, the oldest first
	LastRule Change        // what the last window said, whether it changed anything or not
}

// ClassStats is what is known of a class.
type ClassStats struct {
	Name      string        // empty for calls that are marked with no class
	Target    time.Duration // what was configured; 0 if it is learned
	Reference time.Duration // its latency while the backend has room; 0 if it isn't known yet
}

// Stats returns a snapshot. It waits for an update under way, which takes microseconds.
func (c *Controller) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.counts
	st.Name, st.Mode, st.Trusted, st.Broken = c.target.Name(), c.mode, c.trusted, c.broken
	st.Static, st.Limit, st.Pace = c.static, c.state.limit, c.state.gap()
	st.Healthy, st.Latency = c.state.healthy, time.Duration(c.state.latency)
	for i := range c.gather.cells {
		k := ClassStats{Target: c.cfg.Target}
		if i > 0 {
			k.Name, k.Target = c.cfg.Classes[i-1].Name, c.cfg.Classes[i-1].Target
		}
		k.Reference = time.Duration(c.state.refs[i].value)
		if k.Target > 0 {
			k.Reference = time.Duration(float64(k.Target) / targetOverReference)
		}
		st.Classes = append(st.Classes, k)
	}
	st.Recent = append(append([]Change(nil), c.recent[c.oldest:]...), c.recent[:c.oldest]...)
	return st
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
