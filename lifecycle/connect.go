package lifecycle

import (
	"context"
	"reflect"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// attempt is one dial. It counts until the machine's attempt is another one: then
// it was abandoned, and whatever it brings is late.
type attempt struct {
	cancel context.CancelFunc
	err    error         // what Connect returns; set before done is closed
	last   uint64        // the notice that tells of the decision; set before done is closed
	done   chan struct{} // closed when the attempt is decided
}

// Connect has dial make the connection. It returns nil when the machine is
// Connected. Only one Connect is under way at a time; in any other state than
// Disconnected it returns a *StateError at once and changes nothing.
//
// dial runs on a goroutine of the machine, under a context that ends with ctx, with
// Config.ConnectTimeout, with Close, and when Connect returns. If dial fails,
// panics or calls runtime.Goexit, Connect returns its error (a
// *spillway.PanicError for the latter two) and the machine is Disconnected; a
// connection that dial returned along with an error is closed. If the context ends
// first, Connect returns its cause, which is a *[TimeoutError] after
// Config.ConnectTimeout, without waiting for dial, and the connection that dial may
// still bring is closed when it arrives. If Close is called meanwhile, Connect returns
// ErrConnectAborted. A nil dial, and a machine that wasn't made by [New], are a
// *spillway.ConfigError.
func (m *Machine[C]) Connect(ctx context.Context, dial func(context.Context) (C, error)) error {
	_, err := m.connect(ctx, dial)
	return err
}

// connect is Connect, and reports whether it was the state that didn't allow it. That can't
// be told from the error, which may be the dial's own.
func (m *Machine[C]) connect(ctx context.Context, dial func(context.Context) (C, error)) (refused bool, err error) {
	if m.cfg.Close == nil || dial == nil {
		e := &spillway.ConfigError{Component: "lifecycle", Name: m.cfg.Name}
		if m.cfg.Close == nil {
			e.Add("Machine", "zero", "must be made by New")
		} else {
			e.Add("dial", nil, "must not be nil")
		}
		return false, e
	}
	if ctx.Err() != nil {
		return false, cause.Of(ctx)
	}
	limit := m.cfg.ConnectTimeout
	dialCtx, cancel := context.WithTimeoutCause(ctx, limit, &TimeoutError{Name: m.cfg.Name, Limit: limit})
	defer cancel()
	a := &attempt{cancel: cancel, done: make(chan struct{})}

	m.mu.Lock()
	if state := m.State(); state != Disconnected {
		m.stats.refused++
		m.mu.Unlock()
		return true, &StateError{Name: m.cfg.Name, Op: opConnect, State: state}
	}
	m.attempt = a
	m.background++
	waits := !m.delivering
	m.moveLocked(Connecting, nil)
	m.mu.Unlock()

	go m.dial(dialCtx, a, dial)
	select {
	case <-a.done:
	case <-dialCtx.Done():
		m.abandon(a, cause.Of(dialCtx))
		<-a.done // decided by now: by abandon, by the dial or by Close
	}
	if waits {
		m.awaitTold(a.last, dialCtx.Done(), limit)
	}
	return false, a.err
}

// dial runs on its own goroutine.
func (m *Machine[C]) dial(ctx context.Context, a *attempt, dial func(context.Context) (C, error)) {
	var conn C
	guarded(m.cfg.Name, func() (err error) {
		conn, err = dial(ctx)
		return err
	}, func(err error) {
		m.dialled(ctx, a, conn, err)
		m.endBackground()
	})
}

// dialled decides an attempt by what its dial brought, if it still counts.
func (m *Machine[C]) dialled(ctx context.Context, a *attempt, conn C, err error) {
	if late, ours := cause.Of(ctx).(*TimeoutError); ours && err == context.DeadlineExceeded { //nolint:errorlint // ours alone, and no more than that
		err = late // a dial that was told first says no more than that
	}
	switch {
	case err == nil && isNil(conn):
		err = ErrNoConnection
	case err != nil && !reflect.ValueOf(&conn).Elem().IsZero():
		m.discard(ctx, conn) // before anybody may connect again
	}
	m.mu.Lock()
	if m.attempt != a {
		m.stats.late++
		m.mu.Unlock()
		if err == nil {
			m.discard(ctx, conn)
		}
		return
	}
	m.attempt = nil
	if err == nil {
		m.stats.connected++
		m.stats.opened++
		m.current.Store(newGeneration(m, conn, m.stats.connected))
		m.moveLocked(Connected, nil)
	} else {
		m.stats.failed++
		m.moveLocked(Disconnected, err)
	}
	m.decideLocked(a, err)
	m.mu.Unlock()
}

// decideLocked decides an attempt, which isn't the machine's any more.
func (m *Machine[C]) decideLocked(a *attempt, err error) {
	a.err, a.last = err, m.announced
	close(a.done)
}

// abandon decides an attempt whose caller won't wait any longer.
func (m *Machine[C]) abandon(a *attempt, cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.attempt != a {
		return
	}
	m.attempt = nil
	m.stats.failed++
	err := error(&causedError{m.cfg.Name, errConnect, cause})
	if late, ours := cause.(*TimeoutError); ours { //nolint:errorlint // a stranger's may wrap one
		err = late // which says all of that
	}
	m.moveLocked(Disconnected, err)
	m.decideLocked(a, err)
}

// discard closes a connection that was never anybody's.
func (m *Machine[C]) discard(ctx context.Context, conn C) {
	m.mu.Lock()
	m.stats.opened++
	m.mu.Unlock()
	_ = m.closeConn(context.WithoutCancel(ctx), conn) // counted there
}

// isNil reports whether conn is nil. What can't be nil, such as a struct that is a
// connection by value, is not.
func isNil[C any](conn C) bool {
	v := reflect.ValueOf(&conn).Elem()
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Chan, reflect.Func, reflect.Slice, reflect.UnsafePointer:
		return v.IsNil()
	default:
		return false
	}
}
