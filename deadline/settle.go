package deadline

import "github.com/spillway-go/spillway"

// fallout is what an operation under the lock brings about outside of it.
type fallout struct {
	dead, last *job          // left without having run, linked by next: their ends are to be told
	woken      *worker       // to be woken, linked by next
	hired      *worker       // to be started, linked by next
	answered   *job          // of kindDo, whose caller is to be woken
	over       chan struct{} // of a future, to be closed
	stop       func() bool   // of a future, to be called
	gone       bool          // whether the last goroutine has left after Close
}

// unlockAside unlocks and does what came of it, on a goroutine of ours that is no worker. If it
// has to tell somebody of the dead Close waits for it, as for a worker.
func (c *core) unlockAside(out *fallout) {
	tells := out.dead != nil && c.tells
	if tells {
		c.tellers++
	}
	c.checkLocked()
	c.mu.Unlock()
	if tells {
		c.tellAside(func() { c.fire(out) })
		return
	}
	c.fire(out)
}

// tellAside calls a function that calls sink and hooks, on a goroutine that is counted in
// tellers. They may end it.
func (c *core) tellAside(tell func()) {
	number := goroutine()
	c.mu.Lock()
	c.settleLocked(number, nil)
	c.mu.Unlock()
	defer func() {
		var out fallout
		c.mu.Lock()
		delete(c.homes, number)
		c.tellers--
		out.gone = c.isOverLocked()
		c.mu.Unlock()
		c.fire(&out)
	}()
	tell()
}

func (o *fallout) add(j *job) {
	j.next = nil
	if o.dead == nil {
		o.dead = j
	} else {
		o.last.next = j
	}
	o.last = j
}

// none reports whether there is nothing to do, as after most jobs.
func (o *fallout) none() bool {
	return o.woken == nil && o.hired == nil && o.answered == nil && o.over == nil && o.dead == nil && o.stop == nil && !o.gone
}

// fire does it. Answers come before functions of the user's, which may take their
// time.
func (c *core) fire(o *fallout) {
	if !o.none() {
		c.fireSome(o)
	}
}

func (c *core) fireSome(o *fallout) {
	for w := o.woken; w != nil; {
		next := w.next
		w.next = nil
		w.wake <- struct{}{} // never blocks: capacity 1, and the worker is no longer in idle
		w = next
	}
	for w := o.hired; w != nil; {
		next := w.next
		w.next = nil
		go c.work(w)
		w = next
	}
	if o.answered != nil {
		o.answered.wake <- true // from here on it is its caller's
	}
	o.end()
	if o.gone {
		close(c.gone)
	}
	if o.dead != nil {
		c.bury(o.dead)
	}
}

// end tells those who wait for a future.
func (o *fallout) end() {
	if o.over != nil {
		close(o.over)
	}
	if o.stop != nil {
		o.stop()
	}
}

// resolveLocked settles a future: its value and error are final.
func (c *core) resolveLocked(j *job, out *fallout) {
	j.ctx, j.done = nil, nil
	if j.state == settled {
		return // Close gave it up before
	}
	j.state = settled
	out.over, out.stop = j.over, j.stop
	j.stop = nil
}

// bury gives jobs that have left without having run their error, and tells whom it
// concerns: first those who wait, then hooks and sink.
func (c *core) bury(dead *job) { callAll(c.answer(dead)) }

// answer tells those who wait for jobs that have left without having run, and returns the
// calls of hooks and sink that are left to make.
func (c *core) answer(dead *job) (calls []func()) {
	for j := dead; j != nil; {
		next := j.next
		j.next = nil
		ctx, waited := j.ctx, j.waited()
		err := c.errorOf(ctx, j.verdict, waited)
		if _, ok := reasonOf(j.verdict); ok {
			r := refusalIn(err)
			for _, h := range c.hooks {
				if h.Rejected != nil {
					calls = append(calls, func() { h.Rejected(ctx, r) })
				}
			}
		}
		if c.sink != nil && j.kind == kindGo {
			f := Failure{Err: err, Items: int(j.items), Wait: waited}
			calls = append(calls, func() { c.sink(ctx, f) })
		}
		j.task.forget()
		c.conclude(j, err)
		j = next
	}
	return calls
}

func (c *core) conclude(j *job, err error) {
	switch j.kind {
	case kindGo:
		c.mu.Lock()
		c.husks.recycleLocked(j)
		c.mu.Unlock()
	case kindDo:
		j.err = err
		j.ctx, j.done = nil, nil
		j.wake <- true // from here on it is its caller's
	case kindFuture:
		var out fallout
		c.mu.Lock()
		j.err = err
		c.resolveLocked(j, &out)
		awaited := j.awaited
		j.awaited = false
		c.mu.Unlock()
		out.end()
		if awaited {
			j.wake <- false
		}
	}
}

// refusalIn finds the Rejection that errorOf has made.
func refusalIn(err error) *spillway.Rejection {
	switch e := err.(type) { //nolint:errorlint // nobody has wrapped it yet
	case *spillway.Rejection:
		return e
	case *ExpiredError:
		return &e.Rejection
	}
	return nil
}

// callAll calls one after the other, and the rest too if one panics or calls Goexit.
func callAll(calls []func()) {
	if len(calls) == 0 {
		return
	}
	rest := calls
	defer func() { callAll(rest) }()
	for len(rest) > 0 {
		call := rest[0]
		rest = rest[1:]
		quietly(call)
	}
}
