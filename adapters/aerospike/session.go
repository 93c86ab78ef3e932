package aerospike

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// session is one generation: the driver's client and the lanes that belong to it.
// Calls reach both through one lease, so a call can't take a permit of one
// generation and the connection of another.
type session struct {
	owner   *core
	client  *as.Client
	admin   *lane.Lane[struct{}] // of the whole client
	cluster string               // the cluster's name; empty if it has none

	// guards finds a node's guard by the driver's node. It is replaced as a whole
	// when a node is seen for the first time, so that reading it takes no lock.
	guards atomic.Pointer[map[*as.Node]*guard]

	tables   atomic.Pointer[[]nodeTable] // see nodeTable; replaced as a whole
	refusals atomic.Uint64               // by the table alone

	watchers watchers // of Recordsets that a Compat has handed out

	mu     sync.Mutex           // guards what follows, and the replacing of guards and tables
	byName map[string]*guard    // a node that left and came back has a new *as.Node
	gone   map[string]time.Time // those of byName that have left, and since when: see forget
	shut   bool                 // whether the lanes are closed
}

// guard is the lanes of one node.
type guard struct {
	name        string
	peer        as.Host                // where it is, as the driver knows it; for telemetry
	lanes       []*lane.Lane[struct{}] // as in the lane table; that of LaneAdmin is nil
	controllers []*adaptive.Controller // of the lanes; nil where the limit doesn't move
}

func (c *core) newSession(client *as.Client) (*session, error) {
	s := &session{owner: c, client: client, byName: map[string]*guard{}, gone: map[string]time.Time{}}
	s.guards.Store(&map[*as.Node]*guard{})
	s.tables.Store(new([]nodeTable))
	var err error
	if s.admin, err = c.newLane("", c.lanes.admin); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live = append(c.live, s)
	return s, nil
}

// newLane makes the lane i at a node, or of the client if node is empty.
func (c *core) newLane(node string, i int) (*lane.Lane[struct{}], error) {
	now := c.inForce.Load()
	l := now.lanes[i]
	cfg := l.options(node, c.cfg)
	cfg.Mode = now.modes[i]
	cfg.Hooks = c.laneHooks()
	if c.lanes.hooks != nil {
		cfg.Hooks = append(cfg.Hooks, c.lanes.hooks[i])
	}
	made, err := lane.New[struct{}](cfg)
	if err != nil {
		return nil, fmt.Errorf("aerospike: lane %s of node %q: %w", l.Name, node, err)
	}
	return made, nil
}

// guard returns the guard of a node.
func (s *session) guard(node *as.Node) (*guard, error) {
	if g := (*s.guards.Load())[node]; g != nil {
		return g, nil
	}
	defer s.owner.forgetGone(s) // a node is new: another may be gone
	return s.addGuard(node)
}

// addGuard makes the guard of a node that wasn't seen before.
func (s *session) addGuard(node *as.Node) (*guard, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.byName[node.GetName()]
	if g == nil {
		var err error
		if g, err = s.owner.newGuard(node.GetName()); err != nil {
			return nil, err
		}
		s.byName[g.name] = g
		if s.shut {
			g.shut()
		}
	}
	if peer := node.GetHost(); peer != nil && *peer != g.peer { // it is new, or came back elsewhere
		moved := *g
		moved.peer = *peer
		g = &moved
		s.byName[g.name] = g
	}
	next := map[*as.Node]*guard{node: g}
	for _, n := range s.client.Cluster().GetNodes() {
		if old := (*s.guards.Load())[n]; old != nil {
			next[n] = old
		}
	}
	s.guards.Store(&next)
	return g, nil
}

// newGuard makes the lanes of a node, and what moves their limits.
func (c *core) newGuard(node string) (*guard, error) {
	g := &guard{name: node}
	for i := range c.lanes.configs {
		var made *lane.Lane[struct{}]
		var ctl *adaptive.Controller
		if i != c.lanes.admin {
			var err error
			if made, err = c.newLane(node, i); err != nil {
				return nil, err
			}
			if a := c.inForce.Load().lanes[i].Adaptive; a != nil {
				if ctl, err = adaptive.Drive(made, *a); err != nil {
					return nil, fmt.Errorf("aerospike: lane %s: %w", made.Name(), err)
				}
			}
		}
		g.lanes = append(g.lanes, made)
		g.controllers = append(g.controllers, ctl)
	}
	return g, nil
}

// drain closes the lanes: whoever waits for a permit is sent away, instead of keeping
// Close from what it waits for, and nobody gets one any more. Permits that are out stay
// good.
func (s *session) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = true
	shut(s.admin)
	for _, g := range s.byName {
		g.shut()
	}
}

func (g *guard) shut() {
	for _, l := range g.lanes {
		shut(l)
	}
}

// shut closes a lane without waiting for its permits; nil is none.
func shut(l *lane.Lane[struct{}]) {
	if l == nil {
		return
	}
	over, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // nothing is waited for
	cancel()
	_ = l.Close(over) // says only that permits are out
}

// refusal returns an error of a lane as the caller sees it: a lane that is closed means
// that the connection is being closed.
func (c *core) refusal(err error) error {
	if _, closed := err.(*spillway.ClosedError); closed { //nolint:errorlint // lanes return it as it is
		return &lifecycle.StateError{Name: c.cfg.Name, Op: "lease", State: lifecycle.Closing}
	}
	return err
}

// warmUpStep is how many connections a node is asked for at once. The driver's own
// WarmUp opens all it is told at once, whatever OpeningConnectionThreshold says.
const warmUpStep = 4

// warmUp opens n connections per node, in steps. Failing to open some is no error:
// the calls will open them.
func (s *session) warmUp(ctx context.Context, n int) {
	for n > 0 && ctx.Err() == nil {
		step := min(n, warmUpStep)
		if _, err := s.client.WarmUp(step); err != nil {
			return
		}
		n -= step
	}
}
