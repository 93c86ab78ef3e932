package aerospiketest

import (
	"errors"
	"os"
	"time"
)

// errDone ends a command whose node went down or whose client hung up.
var errDone = errors.New("aerospiketest: node down or client gone")

// ended reports whether the node has gone down.
func (c *conn) ended() bool {
	select {
	case <-c.life.done:
		return true
	default:
		return false
	}
}

// sleep waits for a time, or fails when the node goes down.
func (c *conn) sleep(d time.Duration) error { return c.sleepUntil(d, nil) }

// sleepUntil is sleep that an event ends.
func (c *conn) sleepUntil(d time.Duration, event <-chan struct{}) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-event:
		return nil
	case <-c.life.done:
		return errDone
	}
}

// hold waits until free is closed. It fails when the node goes down or the
// client hangs up first.
func (c *conn) hold(free <-chan struct{}) error {
	gone := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		// Bytes of a next command end the watch too; they stay in the buffer.
		if _, err := c.br.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			close(gone)
		}
	}()
	var err error
	select {
	case <-free:
	case <-gone:
		err = errDone
	case <-c.life.done:
		err = errDone
	}
	// The reader must be free again before the connection reads on: a deadline
	// in the past wakes the watch. If that fails the connection is closed, and
	// the watch has ended as well.
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	<-watched
	_ = c.nc.SetReadDeadline(time.Time{})
	return err
}
