package policy

import (
	"context"
	"sync"
	"time"
)

// The defaults of the Aerospike Go client, v7.
const (
	driverPool    = 100              // connections to a node
	driverTotal   = time.Second      // TotalTimeout
	driverRetries = 2                // MaxRetries
	driverSleep   = time.Millisecond // SleepBetweenRetries, and between two looks for a free connection
)

// driver is a model of that client: who finds no connection sleeps 1 ms and looks again, until the
// total timeout, without that counting as an attempt. It knows no context, so it isn't told the
// deadline of its caller.
//
// A million sleeps a second would be all that the lab does. So a waiter is drawn when a connection
// is free: of W waiters that each look once in a millisecond, at times that have nothing to do with
// each other, the next to look is any of them, and it looks after 1/(W+1) ms on average. Until then
// a newcomer may find the connection.
type driver struct {
	random func() float64

	mu      sync.Mutex
	free    int
	waiting []*looker
	looking bool // whether a look is due
}

// looker is a caller without a connection.
type looker struct {
	at  int // in waiting; -1 once it has one
	got chan struct{}
}

func newDriver(e Env) Client { return &driver{free: driverPool, random: seeded(e.Seed)} }

func (d *driver) Limit() float64 { return driverPool }
func (d *driver) Close()         {}

func (d *driver) Do(ctx context.Context, _ Call, op Op) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), driverTotal)
	defer cancel()
	for retries := 0; ; retries++ {
		if !d.connect(ctx) {
			return ctx.Err()
		}
		err := op(ctx)
		d.release()
		if err == nil || retries == driverRetries || !worthAnother(err) || !sleep(ctx, driverSleep) {
			return err
		}
	}
}

func (d *driver) connect(ctx context.Context) bool {
	d.mu.Lock()
	if d.free > 0 {
		d.free--
		d.mu.Unlock()
		return true
	}
	l := &looker{at: len(d.waiting), got: make(chan struct{})}
	d.waiting = append(d.waiting, l)
	d.mu.Unlock()
	select {
	case <-l.got:
		return true
	case <-ctx.Done():
		d.mu.Lock()
		defer d.mu.Unlock()
		if l.at < 0 {
			return true // it got one at the same moment, and will notice on the way
		}
		d.removeLocked(l)
		return false
	}
}

func (d *driver) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free++
	d.lookLocked()
}

// lookLocked has the next look happen when it is due.
func (d *driver) lookLocked() {
	if d.looking || d.free == 0 || len(d.waiting) == 0 {
		return
	}
	d.looking = true
	time.AfterFunc(driverSleep/time.Duration(len(d.waiting)+1), d.look)
}

func (d *driver) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looking = false
	if d.free > 0 && len(d.waiting) > 0 {
		l := d.waiting[int(d.random()*float64(len(d.waiting)))]
		d.removeLocked(l)
		d.free--
		close(l.got)
	}
	d.lookLocked()
}

func (d *driver) removeLocked(l *looker) {
	last := d.waiting[len(d.waiting)-1]
	d.waiting[l.at], last.at = last, l.at
	d.waiting = d.waiting[:len(d.waiting)-1]
	l.at = -1
}
