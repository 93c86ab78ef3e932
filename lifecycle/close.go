package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-go/spillway/internal/cause"
)

// closing is one close under way, which any number of calls may wait for.
type closing struct {
	err  error         // set before done is closed
	done chan struct{} // closed when the machine is Disconnected again
}

// Close ends what the machine is about and leaves it Disconnected. It may be called
// in any state, any number of times, from anywhere; calls during a close wait for
// that one and return the same.
//
// Disconnected, there is nothing to close. Connecting, the dial is cancelled and
// its Connect returns ErrConnectAborted; should the dial still bring a connection,
// it is closed. Connected, no further lease is given, Config.Draining is called, the
// leases that are out are waited for, and the connection is closed.
//
// Close returns within Config.DrainTimeout + Config.CloseTimeout, or as soon as ctx
// ends, but for the 100 ms of an observer that hangs. If leases are still out by then,
// the error matches ErrOrphaned and the last of them closes the connection; if the Close
// function or a cancelled dial is still at work, the error matches ErrStillClosing, and
// it goes on without anybody waiting. An error or a panic of the Close function is
// returned as well. Whatever the error, the machine is Disconnected and may be connected
// anew.
func (m *Machine[C]) Close(ctx context.Context) error {
	done, began := ctx.Done(), time.Now() // the caller's code: not halfway
	m.mu.Lock()
	switch m.State() {
	case Disconnected:
		m.mu.Unlock()
		return m.awaitIdle(ctx)
	case Connecting, Connected:
	case Closing:
		c := m.closing
		m.mu.Unlock()
		select {
		case <-c.done:
			return c.err
		case <-done:
			return cause.Of(ctx)
		}
	}
	c := &closing{done: make(chan struct{})}
	m.closing = c
	g, a := m.current.Swap(nil), m.attempt
	waits := !m.delivering
	m.moveLocked(Closing, nil)
	if a != nil {
		m.attempt = nil
		m.stats.failed++
		m.decideLocked(a, fmt.Errorf("lifecycle %q: %w", m.cfg.Name, ErrConnectAborted))
		a.cancel()
	}
	m.mu.Unlock()

	// Nothing may keep the machine from ending Disconnected. What isn't ours runs on other
	// goroutines, but for the context's own code when it is asked for its cause.
	var last uint64
	guarded(m.cfg.Name, func() error { return m.wind(ctx, done, g) }, func(err error) { last = m.finish(c, err) })
	if waits {
		m.awaitTold(last, done, m.cfg.DrainTimeout+m.cfg.CloseTimeout-time.Since(began))
	}
	return c.err
}

// wind does the work of a close: it drains and closes g, or waits for the dial that
// was cancelled if there is no g.
func (m *Machine[C]) wind(ctx context.Context, done <-chan struct{}, g *generation[C]) error {
	if g == nil {
		return m.awaitIdle(ctx)
	}
	g.shut()
	start := time.Now()
	if m.cfg.Draining != nil {
		m.draining(done, g.conn)
	}
	if left := g.drain(done, m.cfg.DrainTimeout-time.Since(start)); left > 0 {
		return fmt.Errorf("lifecycle %q: %w: %d", m.cfg.Name, ErrOrphaned, left)
	}
	return m.closeConn(ctx, g.conn)
}

// draining calls the user's function, and waits for it as for the leases; whatever it
// does, it must not keep the connection open.
func (m *Machine[C]) draining(done <-chan struct{}, conn C) {
	count := func(n int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.drainings += n
	}
	count(1)
	ended := apart(func() {
		defer count(-1)
		m.cfg.Draining(conn)
	})
	timer := time.NewTimer(m.cfg.DrainTimeout)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	case <-done:
	}
}

// finish makes the machine Disconnected and lets everybody go who waits for it. It returns
// the number of the notice that tells so.
func (m *Machine[C]) finish(c *closing, err error) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.err = err
	m.closing = nil
	m.moveLocked(Disconnected, err)
	close(c.done)
	return m.announced
}

// drain waits until no lease is out, and returns 0; or for as long as it may, and
// returns how many there are: then the connection is an orphan.
func (g *generation[C]) drain(done <-chan struct{}, limit time.Duration) int {
	select {
	case <-g.drained:
		return 0
	default:
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-g.drained:
		return 0
	case <-timer.C:
	case <-done:
	}
	// Counted before the last lease can see that it is an orphan's.
	m := g.machine
	m.mu.Lock()
	defer m.mu.Unlock()
	if !g.fate.CompareAndSwap(fateOpen, fateOrphaned) {
		return 0 // drained in this very moment
	}
	m.stats.orphans++
	m.stats.orphaned++
	return max(1, int(g.word.Load()&leasesMask))
}

// closeOrphan closes the connection of a generation whose last lease came back
// after Close had gone.
func (m *Machine[C]) closeOrphan(g *generation[C]) {
	m.mu.Lock()
	m.stats.orphans--
	m.mu.Unlock()
	m.startClose(context.Background(), g.conn) //nolint:forbidigo // whoever called Close has gone
}

// closeConn calls the Close function and waits for it as long as it may.
func (m *Machine[C]) closeConn(ctx context.Context, conn C) error {
	done := m.startClose(ctx, conn)
	timer := time.NewTimer(m.cfg.CloseTimeout)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("lifecycle %q: %w: %v", m.cfg.Name, ErrStillClosing, m.cfg.CloseTimeout)
	case <-ctx.Done():
		return &causedError{m.cfg.Name, ErrStillClosing, cause.Of(ctx)}
	}
}

// startClose runs the Close function on a goroutine of the machine, under a context
// that only its own timeout ends, and sends its error once.
func (m *Machine[C]) startClose(ctx context.Context, conn C) <-chan error {
	done := make(chan error, 1)
	m.mu.Lock()
	m.background++
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.cfg.CloseTimeout)
	go func() {
		defer cancel()
		guarded(m.cfg.Name, func() error { return m.cfg.Close(ctx, conn) }, func(err error) {
			if err != nil {
				err = &causedError{m.cfg.Name, errClose, err}
			}
			m.closedConn(err)
			done <- err
		})
	}()
	return done
}

func (m *Machine[C]) closedConn(err error) {
	m.mu.Lock()
	m.stats.closed++
	if err != nil {
		m.stats.closeErrors++
		m.lastErr = err
	}
	m.mu.Unlock()
	m.endBackground()
}

// endBackground notes that a goroutine of the machine is about to end.
func (m *Machine[C]) endBackground() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.background--
	if m.background == 0 && m.idle != nil {
		close(m.idle)
		m.idle = nil
	}
}

// awaitIdle waits, as long as it may, for the goroutines of cancelled dials and of
// late closes.
func (m *Machine[C]) awaitIdle(ctx context.Context) error {
	m.mu.Lock()
	if m.background == 0 {
		m.mu.Unlock()
		return nil
	}
	if m.idle == nil {
		m.idle = make(chan struct{})
	}
	idle := m.idle
	m.mu.Unlock()
	timer := time.NewTimer(m.cfg.CloseTimeout)
	defer timer.Stop()
	var why error
	select {
	case <-idle:
		return nil
	case <-timer.C:
		why = errors.New(m.cfg.CloseTimeout.String())
	case <-ctx.Done():
		why = cause.Of(ctx)
	}
	return &causedError{m.cfg.Name, ErrStillClosing, why}
}
