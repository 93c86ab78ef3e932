package aerospiketest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/command"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/info"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/jobs"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/lua"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/security"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/sindex"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// TB is what [NewServer] needs of a *testing.T, B or F.
type TB interface {
	// Helper marks the caller as a helper.
	Helper()
	// Cleanup calls a function at the end of the test.
	Cleanup(func())
	// Fatalf fails the test and ends it.
	Fatalf(format string, args ...any)
}

// A Server is a cluster in this process, reached over loopback. All methods are
// safe for concurrent use. The zero value is of no use; see [NewServer] and
// [Start].
type Server struct {
	config  Config
	clock   *store.Clock
	catalog *command.Catalog
	info    *info.Server
	nodes   atomic.Pointer[[]*Node] // replaced under mu, never changed

	users  *security.Store // nil on a server without users
	view   atomic.Pointer[info.View]
	faults atomic.Pointer[[]*Injected] // replaced under mu, never changed
	gates  atomic.Pointer[[]*Gate]     // likewise
	logs   atomic.Pointer[[]*Recorder] // likewise
	closed atomic.Bool

	mu       sync.Mutex  // guards changes of nodes, view, faults, gates and logs
	layout   info.Layout // guarded by mu; what view is made of
	closing  sync.Mutex  // held while Close works, so that all callers wait
	growing  sync.Mutex  // held while AddNode works, so that nodes are added one by one
	counters counters
	gone     signal // a connection has ended
}

// NewServer starts a server that is closed when the test ends. It stops the
// test if the server can't start, or if there is more than one config. Without
// a config the zero value is used.
func NewServer(t TB, config ...Config) *Server {
	t.Helper()
	if len(config) > 1 {
		t.Fatalf("aerospiketest: NewServer got %d configs, want one at most", len(config))
		return nil
	}
	var c Config
	if len(config) == 1 {
		c = config[0]
	}
	s, err := Start(c)
	if err != nil {
		t.Fatalf("aerospiketest: can't start: %v", err)
		return nil
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server. It fails, and nothing is left running, if the config is
// faulty (with every fault of it) or no port can be had. The caller must close
// the server.
func Start(config Config) (*Server, error) {
	c := config.withDefaults()
	s := &Server{config: c, clock: new(store.Clock)}
	err := c.validate()
	if c.Security != nil {
		var faults error
		s.users, faults = c.Security.newStore(s.clock)
		err = errors.Join(err, faults)
	}
	if err != nil {
		return nil, err
	}
	s.catalog = &command.Catalog{
		Clock: s.clock, Table: command.NewTable(), Filter: command.NewFilter(s.clock), Indexes: new(sindex.Registry),
		Functions: udf.NewRegistry(lua.Compiler(lua.Log(c.UDFLog))),
	}
	for _, name := range c.Namespaces {
		s.catalog.Namespaces = append(s.catalog.Namespaces, store.NewNamespace(name, s.clock, c.DefaultTTL, c.MaxRecordSize))
	}
	s.info = &info.Server{
		Namespaces: s.catalog.Namespaces, ClusterName: c.ClusterName, Started: time.Now(), View: s.view.Load, TLS: c.TLS != nil, Enterprise: c.Security != nil,
		Indexes: s.catalog.Indexes, Functions: s.catalog.Functions, Counters: s.infoCounters, Jobs: func(node int) *jobs.Table { return &s.Node(node).jobs },
	}
	s.info.Init()
	s.layout = info.Layout{Factor: c.ReplicationFactor, Racks: len(c.Racks) > 0}
	if _, err := s.addNodes(c.Nodes); err != nil {
		return nil, fmt.Errorf("aerospiketest: start: %w", err)
	}
	return s, nil
}

func (s *Server) infoCounters(node int) info.Counters {
	c := &s.Node(node).counters
	open, all := uint64(c.conns.now.Load()), c.accepted.Load()
	return info.Counters{Connections: open, Opened: all, Closed: all - open, Infos: c.kinds[KindInfo.index()].Load()}
}

// Close ends the server: listeners and connections are closed, held commands
// end unanswered, gates and faults are gone, logs have ended. It returns when no goroutine of
// the server is left, for every caller. A second call does nothing.
func (s *Server) Close() {
	s.closing.Lock()
	defer s.closing.Unlock()
	// Under the lock, so that a fault or gate is either in the lists that are
	// cleared below or refused.
	s.mu.Lock()
	was := s.closed.Swap(true)
	s.mu.Unlock()
	if was {
		return
	}
	for _, n := range list(&s.nodes) {
		n.stop()
	}
	for _, g := range s.gateList() {
		g.Release()
	}
	for _, i := range s.faultList() {
		i.Remove()
	}
	for _, r := range list(&s.logs) {
		r.Stop()
	}
}

// Nodes returns the nodes, those that are down or were removed too.
func (s *Server) Nodes() []*Node { return slices.Clone(list(&s.nodes)) }

// Node returns a node by its index, from 0. It panics if there is none.
func (s *Server) Node(i int) *Node { return list(&s.nodes)[i] }

// Hosts returns the address of every node that was not removed, as host:port.
func (s *Server) Hosts() []string {
	var l []string
	for _, n := range list(&s.nodes) {
		if !n.removed.Load() {
			l = append(l, n.addr)
		}
	}
	return l
}

// Addr returns the address of the first node as host:port.
func (s *Server) Addr() string { return s.Node(0).addr }

// Stats returns the counters of all nodes together. Peaks are those of the
// whole, not sums of the nodes' peaks.
func (s *Server) Stats() Stats { return s.counters.snapshot() }

// Advance puts the clock by which records expire forward. Drivers count times to
// live by their own clock: they are shown as if the time had passed. It does
// not move the timers of faults and capacities. It panics if d is negative, or
// the clock would be more than a century ahead.
func (s *Server) Advance(d time.Duration) {
	if d < 0 || !s.clock.Advance(d) {
		panic(fmt.Errorf("aerospiketest: Advance by %v, want 0 or more, and a century at most in all", d))
	}
}

// Records returns how many records a set has that have not expired. An empty set
// counts all of the namespace. It is 0 for an unknown namespace.
func (s *Server) Records(namespace, set string) int {
	if n := s.catalog.Namespace([]byte(namespace)); n != nil {
		return n.Count(set)
	}
	return 0
}

// Truncate removes all records.
func (s *Server) Truncate() {
	for _, n := range s.catalog.Namespaces {
		n.Truncate("", 0)
	}
}

// errClosed is what Inject and Hold panic with after Close, for a fault that
// can't act is a mistake in a test.
var errClosed = errors.New("aerospiketest: server closed")
