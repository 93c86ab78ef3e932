package aerospiketest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/info"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
)

// Partitions is the number of partitions of a namespace.
const Partitions = store.Partitions

// AddNode adds a node to the cluster, which takes over partitions at once, with
// the config's capacity. It fails, and nothing has changed, if no port can be had,
// there are too many nodes or the server is closed.
func (s *Server) AddNode() (*Node, error) {
	l, err := s.addNodes(1)
	if err != nil {
		return nil, fmt.Errorf("aerospiketest: add a node: %w", err)
	}
	return l[0], nil
}

func (s *Server) addNodes(count int) (added []*Node, err error) {
	s.growing.Lock()
	defer s.growing.Unlock()
	first := len(list(&s.nodes))
	if first+count > maxNodes {
		return nil, fmt.Errorf("there are %d, %d is the most", first, maxNodes)
	}
	var listeners []net.Listener
	defer func() {
		if err != nil {
			for _, ln := range listeners {
				_ = ln.Close()
			}
		}
	}()
	for i := first; i < first+count; i++ {
		addr, err := s.config.listenAddr(i)
		if err != nil {
			return nil, err
		}
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, err
		}
		listeners = append(listeners, ln)
		added = append(added, s.newNode(i, ln.Addr().String()))
	}
	if !s.begin(added, listeners) {
		return nil, errors.New("server closed")
	}
	s.changeMembers()
	return added, nil
}

func (s *Server) newNode(i int, addr string) *Node {
	n := &Node{srv: s, index: i, name: fmt.Sprintf("A%d", i+1), addr: addr}
	n.accept.Store(new(Accept))
	n.station.Store(&station{Capacity: s.config.Capacity})
	n.strict.Store(s.config.Strict)
	if i < len(s.config.Racks) {
		n.rack.Store(int64(s.config.Racks[i]))
	}
	return n
}

// begin makes nodes part of the server and lets them run, unless it is closed.
// Nodes answer with the view, so they are in it before they run.
func (s *Server) begin(nodes []*Node, listeners []net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return false
	}
	members := slices.Clone(s.layout.Members)
	for _, n := range nodes {
		with(&s.nodes, n)
		members = append(members, info.Member{Name: n.name, Addr: n.addr})
	}
	s.layout.Members = members
	s.showLocked()
	for i, n := range nodes {
		n.mu.Lock()
		n.beginLocked(listeners[i])
		n.mu.Unlock()
	}
	return true
}

// Remove takes the node out of the cluster for good: it is killed, and it can't be
// restarted. It stays in [Server.Nodes], so that the indexes of the others don't
// change. A second call does nothing.
func (n *Node) Remove() {
	n.removed.Store(true)
	n.Kill()
}

// SetStrict changes whether the node refuses, with CodePartitionUnavailable,
// commands on records of partitions that it doesn't have: reads when it has no
// copy, writes when it does not have the first. A node that isn't strict serves
// them, as a real one does that passes commands on to the node that they should
// have gone to. Scans and queries get only what the node has in any case.
func (n *Node) SetStrict(on bool) { n.strict.Store(on) }

// SetRack puts the node on a rack, and lets the cluster answer as one with racks.
// Copies of a partition go to as many racks as there are.
func (n *Node) SetRack(rack int) {
	n.rack.Store(int64(rack))
	n.srv.change(func(l *info.Layout) { l.Racks = true })
}

// Partitions returns the partitions of which the node has the first copy.
func (n *Node) Partitions() []int {
	v := n.srv.view.Load()
	var out []int
	for p := range Partitions {
		if v.Leads(n.index, p) {
			out = append(out, p)
		}
	}
	return out
}

// MovePartitions gives a node the first copies of partitions, for as long as it is
// up and they are not moved again. Records don't move, as all nodes share them,
// but drivers see it at their next look, and until then strict nodes refuse what
// is sent to the wrong one. It fails, and nothing has changed, if there is no such
// node or partition.
func (s *Server) MovePartitions(to int, partitions ...int) error {
	if n := len(list(&s.nodes)); to < 0 || to >= n {
		return fmt.Errorf("aerospiketest: move partitions to node %d, want 0 to %d", to, n-1)
	}
	if err := checkPartitions(partitions); err != nil {
		return err
	}
	s.change(func(l *info.Layout) {
		moved := maps.Clone(l.Moved)
		if moved == nil {
			moved = make(map[int]int, len(partitions))
		}
		for _, p := range partitions {
			moved[p] = to
		}
		l.Moved = moved
	})
	return nil
}

// Rebalance undoes all moves of partitions.
func (s *Server) Rebalance() { s.change(func(l *info.Layout) { l.Moved = nil }) }

// SetUnavailable makes partitions unavailable on every node, and those available
// that it names no more; without arguments all are. Clients still know where the
// partitions are, but every command on them is answered with
// CodePartitionUnavailable. It fails, and nothing has changed, if there is no such
// partition.
func (s *Server) SetUnavailable(partitions ...int) error {
	if err := checkPartitions(partitions); err != nil {
		return err
	}
	lost := make(map[int]bool, len(partitions))
	for _, p := range partitions {
		lost[p] = true
	}
	s.change(func(l *info.Layout) { l.Unavailable = lost })
	return nil
}

func checkPartitions(l []int) error {
	for _, p := range l {
		if p < 0 || p >= Partitions {
			return fmt.Errorf("aerospiketest: partition %d, want 0 to %d", p, Partitions-1)
		}
	}
	return nil
}

// changeMembers lets drivers see which nodes are up.
func (s *Server) changeMembers() { s.change(func(l *info.Layout) { l.Peers++ }) }

// change makes a new view, of a new generation, of a changed layout.
func (s *Server) change(f func(*info.Layout)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	members := make([]info.Member, len(list(&s.nodes)))
	for i, n := range list(&s.nodes) {
		members[i] = info.Member{Name: n.name, Addr: n.addr, TLSName: nameOf(s.config.TLS), Rack: int(n.rack.Load()), Up: n.Up()}
	}
	s.layout.Members = members
	s.layout.Balance++
	f(&s.layout)
	s.showLocked()
}

func (s *Server) showLocked() { s.view.Store(info.NewView(s.layout)) }

// hasCertificate reports whether a server with this config has something to show.
func hasCertificate(c *tls.Config) bool {
	return len(c.Certificates) > 0 || c.GetCertificate != nil || c.GetConfigForClient != nil
}

// nameOf returns the first name of the first certificate, or nothing.
func nameOf(c *tls.Config) string {
	if c == nil || len(c.Certificates) == 0 || len(c.Certificates[0].Certificate) == 0 {
		return ""
	}
	leaf := c.Certificates[0].Leaf
	if leaf == nil {
		var err error
		if leaf, err = x509.ParseCertificate(c.Certificates[0].Certificate[0]); err != nil {
			return ""
		}
	}
	if len(leaf.DNSNames) == 0 {
		return leaf.Subject.CommonName
	}
	return leaf.DNSNames[0]
}
