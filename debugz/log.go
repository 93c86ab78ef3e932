package debugz

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/spillway-go/spillway"
)

// Log keeps what happened last, for a page to show: refusals, retries and what was given up
// are counted by component, reason and class; what is rare (a change of state, of a limit,
// of a mode; a permit held too long) is kept one by one. It is filled by the hooks that its
// methods return, and nobody else's. Each call of a hook costs a lock and a reading of the
// clock, a tenth of a microsecond, and allocates nothing where it counts: it is for those
// who want to know.
//
// All its methods are safe for concurrent use and never block. A nil Log and the zero Log
// keep nothing.
type Log struct {
	size int

	mu     sync.Mutex // guards what follows
	counts map[counted]*tallied
	events []event // a ring
	next   int     // where the next event goes, once the ring is full
}

// counted is what is told apart when something is counted.
type counted struct {
	component, name, what, why string // apart, because to join them would allocate
	class                      spillway.Class
}

// tallied is how often something happened.
type tallied struct {
	count       uint64
	first, last time.Time
}

// kept is a count with what it counts.
type kept struct {
	counted
	tallied
}

// maxLog bounds a log.
const maxLog = 4096

// NewLog returns a log that keeps the last size events, and as many counts, up to 4096.
// With less than one it keeps nothing.
func NewLog(size int) *Log { return &Log{size: min(max(size, 0), maxLog)} }

// tally is a count, as it is shown.
type tally struct {
	Component string  `json:"component"`
	Name      string  `json:"name"`
	What      string  `json:"what"`
	Class     string  `json:"class,omitempty"`
	Count     uint64  `json:"count"`
	Last      seconds `json:"last_seconds"`  // how long ago
	First     seconds `json:"first_seconds"` // how long ago
}

// event is something rare that happened.
type event struct {
	At        time.Time `json:"at"`
	Ago       seconds   `json:"ago_seconds"`
	Component string    `json:"component"`
	Name      string    `json:"name"`
	What      string    `json:"what"`
	Error     string    `json:"error,omitempty"` // its type and class, or its text if that may be shown

	text string // the error's
}

// count counts something that may happen often.
func (l *Log) count(k counted) {
	if l == nil || l.size == 0 {
		return
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.counts[k]
	if t == nil {
		t = &tallied{first: now}
		l.admitLocked(k, t)
	}
	t.count++
	t.last = now
}

// admitLocked makes room for a new count by forgetting the one that has been still for
// longest. Names of classes are meant to be few; where they aren't, this is what bounds them.
func (l *Log) admitLocked(k counted, t *tallied) {
	if l.counts == nil {
		l.counts = map[counted]*tallied{}
	}
	if len(l.counts) >= l.size {
		var stale counted
		var at time.Time
		for k, t := range l.counts {
			if at.IsZero() || t.last.Before(at) {
				stale, at = k, t.last
			}
		}
		delete(l.counts, stale)
	}
	l.counts[k] = t
}

// note keeps something rare.
func (l *Log) note(e event) {
	if l == nil || l.size == 0 {
		return
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.events) < l.size {
		l.events = append(l.events, e)
		return
	}
	l.events[l.next] = e
	l.next = (l.next + 1) % l.size
}

// read returns the counts, what happened last first, and the events, the newest first.
func (l *Log) read(now time.Time, errorTexts bool) ([]tally, []event) {
	all, events := l.copy()
	counts := make([]tally, 0, len(all))
	for _, k := range all {
		counts = append(counts, tally{
			Component: printable(k.component), Name: printable(k.name), What: printable(k.what + k.why), Class: printable(string(k.class)),
			Count: k.count, Last: ago(now, k.last), First: ago(now, k.first),
		})
	}
	slices.SortFunc(counts, func(a, b tally) int {
		return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Component+a.Name+a.What+a.Class, b.Component+b.Name+b.What+b.Class))
	})
	slices.Reverse(events)
	for i := range events {
		e := &events[i]
		e.Ago = ago(now, e.At)
		e.Component, e.Name, e.What = printable(e.Component), printable(e.Name), printable(e.What)
		if errorTexts {
			e.Error = e.text
		}
	}
	return counts, events
}

// copy returns what is kept, the events in their order. What is done to it for those who look
// must not hold up those who are refused.
func (l *Log) copy() ([]kept, []event) {
	counts := make([]kept, 0, l.size)
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, t := range l.counts {
		counts = append(counts, kept{k, *t})
	}
	return counts, append(slices.Clone(l.events[l.next:]), l.events[:l.next]...)
}

func ago(now, then time.Time) seconds { return secondsOf(max(now.Sub(then), 0)) }
