package jobs

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// maxDone is how many jobs that are done are remembered, as by default on a real
// server.
const maxDone = 100

// A Table has the jobs of a node. All methods are safe for concurrent use. The
// zero value has none.
type Table struct {
	mu     sync.Mutex
	last   uint64 // guarded by mu; the number that was given last
	active []*Job // guarded by mu; in the order in which they were started
	done   []*Job // guarded by mu; the newest last
}

// Start adds a job. It reports false, and adds nothing, if an active one has the
// number.
func (t *Table) Start(j *Job) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if j.ID == 0 {
		j.ID = t.freeLocked()
	} else if find(t.active, j.ID) >= 0 {
		return false
	}
	j.started, j.abort = time.Now(), make(chan struct{})
	t.active = append(t.active, j)
	return true
}

// freeLocked returns a number that no active job has, and was not given before.
func (t *Table) freeLocked() uint64 {
	for {
		if t.last++; find(t.active, t.last) < 0 {
			return t.last
		}
	}
}

// Finish ends a job of the table. One that was asked to abort has the result
// [Aborted].
func (t *Table) Finish(j *Job, r Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	j.mu.Lock()
	j.finished, j.result = time.Now(), r
	if j.asked {
		j.result = Aborted
	}
	j.mu.Unlock()
	t.active = slices.DeleteFunc(t.active, func(x *Job) bool { return x == j })
	t.done = append(t.done, j)
	if len(t.done) > maxDone {
		t.done = slices.Delete(t.done, 0, len(t.done)-maxDone)
	}
}

// Abort asks an active job to end. It reports whether there is one.
func (t *Table) Abort(id uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := find(t.active, id)
	if i >= 0 {
		t.active[i].ask()
	}
	return i >= 0
}

// AbortAll asks every active job to end and returns how many there are.
func (t *Table) AbortAll() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.active {
		j.ask()
	}
	return len(t.active)
}

func (j *Job) ask() {
	j.mu.Lock()
	j.asked = true
	j.mu.Unlock()
	j.stop()
}

// Show returns what is shown of a job: of the active one, or else of the newest
// that is done.
func (t *Table) Show(id uint64) (line string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := find(t.active, id); i >= 0 {
		return t.active[i].Line(), true
	}
	for _, v := range slices.Backward(t.done) {
		if v.ID == id {
			return v.Line(), true
		}
	}
	return "", false
}

// ShowAll shows all jobs, those that are active first.
func (t *Table) ShowAll() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var l []string
	for _, j := range t.active {
		l = append(l, j.Line())
	}
	for _, v := range slices.Backward(t.done) {
		l = append(l, v.Line())
	}
	return strings.Join(l, ";")
}

func find(l []*Job, id uint64) int {
	return slices.IndexFunc(l, func(j *Job) bool { return j.ID == id })
}
