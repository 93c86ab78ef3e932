package aerospiketest

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/jobs"
)

// A Node is one node of a [Server]: a listener of its own. All nodes share the
// records, and each serves any of them, unless it is strict, so the loss of a
// node loses nothing.
// All methods are safe for concurrent use.
type Node struct {
	srv   *Server
	index int
	name  string
	addr  string // host:port, the same for all its lives

	mu   sync.Mutex  // held while a life begins or ends, which may take as long as a command
	life *life       // guarded by mu; nil while the node is down
	port func()      // guarded by mu; gives back the port that is kept while the node is down, or nil
	up   atomic.Bool // whether there is a life, for those that must not wait for one to end

	removed  atomic.Bool
	strict   atomic.Bool
	rack     atomic.Int64
	jobs     jobs.Table
	pause    atomic.Pointer[chan struct{}] // closed on resume; nil when not paused
	station  atomic.Pointer[station]
	accept   atomic.Pointer[Accept]
	counters counters
}

// Accept says how a node treats new connections. The zero value is at once.
type Accept struct {
	// Delay is waited before the first byte of a connection is read. The kernel
	// completes the connection itself, so what is late is what a client waits for
	// first: the handshake of TLS, the login if there are users, and otherwise the
	// answer to its first command. Drivers count a connection as open after
	// handshake and login, so with one of them connecting is slow for them. A gate
	// for KindConnect does the same, until the test says otherwise.
	Delay time.Duration
	// Refuse resets every new connection. A node that was killed has no
	// listener, so its connections are refused by the kernel.
	Refuse bool
}

// A life is the time between the start of a node and its end.
type life struct {
	ln   net.Listener
	done chan struct{} // closed at the end
	wg   sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{} // guarded by mu; nil after the end
}

// Addr returns the node's address as host:port. It stays the same.
func (n *Node) Addr() string { return n.addr }

// Name returns the name by which drivers know the node.
func (n *Node) Name() string { return n.name }

// Index returns the node's place in [Server.Nodes].
func (n *Node) Index() int { return n.index }

// Stats returns the node's counters. They go on over a restart.
func (n *Node) Stats() Stats { return n.counters.snapshot() }

// Up reports whether the node is running. One that is going down isn't.
func (n *Node) Up() bool { return n.up.Load() }

// SetAccept changes how new connections are treated. It panics if the delay is
// negative.
func (n *Node) SetAccept(a Accept) {
	if a.Delay < 0 {
		panic(fmt.Errorf("aerospiketest: Accept.Delay is %v, want 0 or more", a.Delay))
	}
	n.accept.Store(&a)
}

// SetCapacity changes the node's capacity. Commands that wait or are served
// stay under the old one. A faulty capacity is an error and changes nothing.
func (n *Node) SetCapacity(c Capacity) error {
	if err := c.validate("Capacity"); err != nil {
		return err
	}
	n.station.Store(&station{Capacity: c})
	return nil
}

// Pause stalls the node: every command, info too, is read and not answered
// until [Node.Resume]. Commands that are being carried out are answered. A
// second call does nothing.
func (n *Node) Pause() {
	c := make(chan struct{})
	n.pause.CompareAndSwap(nil, &c)
}

// Resume ends a pause. Without one it does nothing.
func (n *Node) Resume() {
	if c := n.pause.Swap(nil); c != nil {
		close(*c)
	}
}

// Kill takes the node down: its listener is closed, its connections are reset,
// commands end unanswered, and the other nodes take over its partitions, which
// drivers see at their next look. It returns when all of that is done. A second
// call does nothing.
func (n *Node) Kill() {
	if n.stop() {
		n.srv.changeMembers()
	}
}

// Restart brings a killed node back on the same port, and nodes as drivers see
// them change again. It fails, and the node stays down, if the port was taken
// by someone else, from whom it is kept but on Windows, the node was removed or
// the server is closed. On a running node it does nothing.
func (n *Node) Restart() error {
	ok, err := n.start(n.addr)
	if ok {
		n.srv.changeMembers()
	}
	return err
}

func (n *Node) meters() meters { return meters{&n.counters, &n.srv.counters} }

// start begins a life. ok says whether it did.
func (n *Node) start(addr string) (ok bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.life != nil:
		return false, nil
	case n.removed.Load():
		return false, fmt.Errorf("aerospiketest: start node %d: it was removed", n.index)
	case n.srv.closed.Load():
		return false, fmt.Errorf("aerospiketest: start node %d: server closed", n.index)
	}
	n.freePortLocked()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return false, fmt.Errorf("aerospiketest: start node %d: %w", n.index, err)
	}
	n.beginLocked(ln)
	return true, nil
}

func (n *Node) beginLocked(ln net.Listener) {
	n.life = &life{ln: ln, done: make(chan struct{}), conns: make(map[net.Conn]struct{})}
	n.life.wg.Add(1)
	n.up.Store(true)
	go n.acceptLoop(n.life)
}

// stop ends the node's life and waits for all its goroutines. It reports
// whether there was one.
func (n *Node) stop() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer n.keepPortLocked()
	l := n.life
	if l == nil {
		return false
	}
	n.life = nil
	n.up.Store(false)
	close(l.done)
	_ = l.ln.Close()
	l.mu.Lock()
	for c := range l.conns {
		reset(c)
		_ = c.Close() // unblocks its goroutine, which takes no notice of errors
	}
	l.conns = nil
	l.mu.Unlock()
	l.wg.Wait()
	return true
}

// keepPortLocked keeps the port of a node that may come back, and gives that of another
// back.
func (n *Node) keepPortLocked() {
	switch {
	case n.removed.Load() || n.srv.closed.Load():
		n.freePortLocked()
	case n.port == nil:
		n.port = keepPort(n.addr)
	}
}

func (n *Node) freePortLocked() {
	if n.port != nil {
		n.port()
		n.port = nil
	}
}

// acceptLoop serves each connection in a goroutine of its own. It ends with the
// listener; life.wg counts it and all of them.
func (n *Node) acceptLoop(l *life) {
	defer l.wg.Done()
	for {
		nc, err := l.ln.Accept()
		if err != nil {
			select {
			case <-l.done:
				return
			case <-time.After(time.Millisecond): // out of file descriptors, or a client that was quicker
				continue
			}
		}
		n.meters().each(func(s *counters) { s.accepted.Add(1) })
		if a := n.accept.Load(); a.Refuse || !l.add(nc) {
			reset(nc)
			_ = nc.Close()
			continue
		}
		l.wg.Add(1)
		go n.serve(l, nc)
	}
}

// serve is the goroutine of a connection.
func (n *Node) serve(l *life, nc net.Conn) {
	defer l.wg.Done()
	n.meters().each(func(s *counters) { s.conns.up() })
	defer func() {
		n.meters().each(func(s *counters) { s.conns.down() })
		n.srv.gone.notify()
	}()
	defer l.remove(nc)
	c := newConn(n, l, nc)
	if c.sleep(n.accept.Load().Delay) == nil && n.connected(l) {
		c.serve()
	}
}

// connected holds a new connection at the gates for such. It reports false if the life
// ends meanwhile. That the client has hung up is found out afterwards: nothing may be read
// yet, for the first bytes may be those of TLS.
func (n *Node) connected(l *life) bool {
	t := target{node: n.index, kind: KindConnect}
	for _, g := range n.srv.gateList() {
		if !g.match.matches(&t) {
			continue
		}
		if ch := g.arrive(); ch != nil {
			select {
			case <-ch:
			case <-l.done:
				g.leave(ch)
				return false
			}
		}
	}
	return true
}

// add makes a connection part of the life, unless that has ended.
func (l *life) add(nc net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns == nil {
		return false
	}
	l.conns[nc] = struct{}{}
	return true
}

// remove closes a connection.
func (l *life) remove(nc net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, nc)
	_ = nc.Close()
}
