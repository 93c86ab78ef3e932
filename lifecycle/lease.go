package lifecycle

import (
	"context"
	"sync/atomic"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/internal/slot"
)

// The word of a generation, high bits to low:
//
//	63       62 ........... 32   31 ........... 0
//	closed   sequence            leases
//
// The sequence counts the leases taken, and spreads them over the slots.
//
// Invariant: after the closed bit is set, leases only falls.
const (
	closedBit  = 1 << 63
	seqOne     = 1 << 32
	leasesMask = seqOne - 1
)

// The fate of a generation: what its last lease brings about.
const (
	fateOpen     = iota // Close waits for the last lease, or hasn't come yet
	fateDrained         // the last lease is back and Close goes on
	fateOrphaned        // Close has gone; the last lease closes the connection
)

// generation is one connection and those who use it.
type generation[C any] struct {
	machine *Machine[C]
	conn    C
	number  uint64
	word    atomic.Uint64
	slots   slot.Table
	fate    atomic.Uint32
	drained chan struct{} // closed when the fate becomes drained
}

func newGeneration[C any](m *Machine[C], conn C, number uint64) *generation[C] {
	g := &generation[C]{machine: m, conn: conn, number: number, drained: make(chan struct{})}
	g.slots.Reserve(64)
	return g
}

// enter takes a lease without a slot; ok is false once the close has begun.
func (g *generation[C]) enter() (seq uint64, ok bool) {
	for {
		s := g.word.Load()
		if s&closedBit != 0 {
			return 0, false
		}
		next := (s + seqOne + 1) &^ closedBit // the sequence wraps around
		if g.word.CompareAndSwap(s, next) {
			return next / seqOne, true
		}
	}
}

// leave gives a lease back, and does what the last one has to do.
func (g *generation[C]) leave() {
	if invariant.Enabled {
		invariant.Check(g.word.Load()&leasesMask != 0, "lifecycle: more leases released than taken")
	}
	if g.word.Add(^uint64(0))&(closedBit|leasesMask) == closedBit {
		g.last()
	}
}

// shut ends the taking of leases. (Not by Or: Go 1.24.0 loses what it returns.)
func (g *generation[C]) shut() {
	old := g.word.Load()
	for !g.word.CompareAndSwap(old, old|closedBit) {
		old = g.word.Load()
	}
	if old&leasesMask == 0 {
		g.last()
	}
}

// last is called once, when there are no leases any more and never will be.
func (g *generation[C]) last() {
	if g.fate.CompareAndSwap(fateOpen, fateDrained) {
		close(g.drained)
		return
	}
	g.machine.closeOrphan(g)
}

// Lease is the right to use a connection until it is released. It is a value: it
// may be copied and handed on, and the first Release of any copy counts. While a
// lease is out, the connection isn't closed, unless its machine's Close ran out of
// time: then it becomes an orphan, and its last lease closes it. The zero Lease
// has the zero connection, and releasing it does nothing.
type Lease[C any] struct {
	gen   *generation[C]
	token uint64
}

// Lease takes a lease of the connection. If the machine isn't Connected it returns
// the zero Lease and a *StateError that matches ErrNotConnected. It never blocks,
// takes no lock and allocates nothing. Whoever has a lease must release it.
func (m *Machine[C]) Lease() (Lease[C], error) {
	if g := m.current.Load(); g != nil {
		if seq, ok := g.enter(); ok {
			_, token := g.slots.Claim(seq, 1)
			return Lease[C]{gen: g, token: token}, nil
		}
	}
	return Lease[C]{}, m.notConnected()
}

// Conn returns the connection. It must not be used after the release.
func (l Lease[C]) Conn() (conn C) {
	if l.gen != nil {
		conn = l.gen.conn
	}
	return conn
}

// Generation returns the number of the connection; 0 for the zero Lease.
func (l Lease[C]) Generation() uint64 {
	if l.gen == nil {
		return 0
	}
	return l.gen.number
}

// Release gives the lease back. It never blocks: if it is the last of an orphan,
// the connection is closed on a goroutine of the machine.
func (l Lease[C]) Release() {
	if l.gen != nil && l.gen.slots.Free(l.token) {
		l.gen.leave()
	}
}

// Bind returns an operation that runs f with the machine's connection, under a
// lease that lasts as long as f. If the machine isn't Connected the operation fails
// with a *StateError and f isn't run. The lease comes back on every path, panic and
// Goexit included. Bind panics if m or f is nil.
func Bind[C, T any](m *Machine[C], f func(ctx context.Context, conn C) (T, error)) spillway.Op[T] {
	if m == nil || f == nil {
		panic("lifecycle: Bind: nil machine or function")
	}
	return func(ctx context.Context) (v T, err error) {
		g := m.current.Load()
		if g == nil {
			return v, m.notConnected()
		}
		if _, ok := g.enter(); !ok {
			return v, m.notConnected()
		}
		defer g.leave()
		return f(ctx, g.conn)
	}
}

// notConnected is the error of a lease that can't be had. Between two looks at the
// machine it may have connected again; the error then says closing, as it was.
func (m *Machine[C]) notConnected() error {
	m.stats.unleased.Add(1)
	state := m.State()
	if state == Connected {
		state = Closing
	}
	return &StateError{Name: m.cfg.Name, Op: opLease, State: state}
}
