package aerospiketest

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// RecorderLimit is how many commands a [Recorder] keeps.
const RecorderLimit = 10_000

// A Recorder is a log of the commands that a server got, in the order in which
// they arrived. It keeps the first RecorderLimit of them. A command is in the log
// from the moment it was read, even if a gate holds it, and it is done in the log
// before its client has the answer. All methods are safe for concurrent use.
type Recorder struct {
	srv     *Server
	matches []Match

	mu      sync.Mutex
	log     []Served      // guarded by mu
	epoch   int           // guarded by mu; how often the log was emptied
	missed  int           // guarded by mu; commands that came when it was full
	over    bool          // guarded by mu; no more commands come
	changed chan struct{} // guarded by mu; closed and made anew at every change
}

// Record starts a log of the commands that match at least one of some matches,
// and are read from now on. Without any, and with the zero value of a match, those
// are all data commands. It panics if a match is faulty or the server is closed.
func (s *Server) Record(matches ...Match) *Recorder {
	if len(matches) == 0 {
		matches = []Match{{}}
	}
	r := &Recorder{srv: s, matches: slices.Clone(matches), changed: make(chan struct{})}
	for i := range r.matches {
		if err := r.matches[i].check(len(list(&s.nodes)), kindsCommands); err != nil {
			panic(err)
		}
		r.matches[i].Nodes = slices.Clone(r.matches[i].Nodes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustBeOpenLocked()
	with(&s.logs, r)
	return r
}

// Stop ends the log. What is in it stays, and commands in it still get done.
func (r *Recorder) Stop() {
	r.srv.mu.Lock()
	without(&r.srv.logs, r)
	r.srv.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.notifyLocked()
}

// Served returns the commands in the log.
func (r *Recorder) Served() []Served {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.log)
}

// Len returns how many commands are in the log.
func (r *Recorder) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.log)
}

// Missed returns how many commands are not in the log because it was full.
func (r *Recorder) Missed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.missed
}

// Reset empties the log.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log, r.missed = nil, 0
	r.epoch++
	r.notifyLocked()
}

// Wait returns nil once n commands in the log are done. It fails with the context's
// cause, or when no more can come: all in the log are done, and it was stopped or the
// server was closed.
func (r *Recorder) Wait(ctx context.Context, n int) error {
	for {
		r.mu.Lock()
		done, all, over, changed := 0, len(r.log), r.over, r.changed
		for i := range r.log {
			if r.log[i].Done {
				done++
			}
		}
		r.mu.Unlock()
		switch {
		case done >= n:
			return nil
		case over && done == all:
			return fmt.Errorf("aerospiketest: log stopped with %d of %d commands", done, n)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("aerospiketest: %d of %d commands done: %w", done, n, causeOf(ctx))
		}
	}
}

func (r *Recorder) notifyLocked() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// A logged is a place in a log for a command that is not done.
type logged struct {
	r         *Recorder
	epoch, at int
}

// arrive puts a command into the log.
func (r *Recorder) arrive(s Served) (logged, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return logged{}, false
	}
	if len(r.log) >= RecorderLimit {
		r.missed++
		return logged{}, false
	}
	r.log = append(r.log, s)
	r.notifyLocked()
	return logged{r, r.epoch, len(r.log) - 1}, true
}

// finish marks the command as done, unless it is in the log no more.
func (l logged) finish(answered bool, code Code) {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	if l.epoch != l.r.epoch {
		return
	}
	s := &l.r.log[l.at]
	s.Done, s.Answered = true, answered
	if answered {
		s.Code = code
	}
	l.r.notifyLocked()
}

// record puts the command that is being served into the logs that it matches.
func (c *conn) record() {
	logs := list(&c.node.srv.logs)
	if len(logs) == 0 {
		return
	}
	var s Served
	for _, r := range logs {
		if !slices.ContainsFunc(r.matches, func(m Match) bool { return m.matches(&c.cmd) }) {
			continue
		}
		if s == (Served{}) {
			s = c.served()
		}
		if l, ok := r.arrive(s); ok {
			c.logged = append(c.logged, l)
		}
	}
}

// recorded marks the command as done in all logs.
func (c *conn) recorded(answered bool) {
	for _, l := range c.logged {
		l.finish(answered, Code(c.code))
	}
	c.logged = c.logged[:0]
}
