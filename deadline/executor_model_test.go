//go:build go1.25

package deadline_test

import (
	"slices"
	"time"

	"github.com/spillway-go/spillway/deadline"
)

// model is an executor without goroutines, clocks and locks: lists, and what has to
// hold after each step. Times are since the start.
type model struct {
	cfg     deadline.Config
	shed    bool // mode RefuseAll
	running []*modelJob
	queue   []*modelJob
	parked  []*modelJob
}

type modelJob struct {
	number   int
	deadline time.Duration
	end      string // how it ended; empty until then
}

func (m *model) free() int { return max(m.cfg.Workers-len(m.running), 0) }

func (m *model) room() bool { return len(m.queue) < m.cfg.Queue+m.free() }

// settle starts what can start and lets in who can get in.
func (m *model) settle() {
	for {
		switch {
		case len(m.parked) > 0 && m.room():
			m.queue = append(m.queue, m.parked[0])
			m.parked = m.parked[1:]
		case len(m.queue) > 0 && m.free() > 0:
			m.running = append(m.running, m.queue[0])
			m.queue = m.queue[1:]
		default:
			return
		}
	}
}

// come is a job that is handed in.
func (m *model) come(j *modelJob, waits bool) {
	switch {
	case m.shed:
		j.end = "refuse_all"
	case m.room():
		m.queue = append(m.queue, j)
	case m.cfg.Overflow == deadline.DropOldest:
		m.queue[0].end = "dropped"
		m.queue = append(m.queue[1:], j)
	case waits && len(m.parked) < m.cfg.MaxSubmitters:
		m.parked = append(m.parked, j)
	default:
		j.end = "queue_full"
	}
	m.settle()
}

// leave takes a job out, wherever it is.
func (m *model) leave(j *modelJob, running, waiting string) {
	for _, l := range []*[]*modelJob{&m.running, &m.queue, &m.parked} {
		if i := slices.Index(*l, j); i >= 0 {
			*l = slices.Delete(*l, i, i+1)
			j.end = waiting
			if l == &m.running {
				j.end = running
			}
		}
	}
	m.settle()
}

// advance lets time pass: deadlines come one by one, and each changes what is next.
func (m *model) advance(to time.Duration) {
	for {
		var first *modelJob
		for _, j := range slices.Concat(m.running, m.queue, m.parked) {
			if j.deadline <= to && (first == nil || j.deadline < first.deadline) {
				first = j
			}
		}
		if first == nil {
			return
		}
		m.leave(first, "timeout", "deadline_exceeded")
	}
}

// clear ends all jobs of a list.
func (m *model) clear(l *[]*modelJob, end string) {
	for _, j := range *l {
		j.end = end
	}
	*l = nil
}
