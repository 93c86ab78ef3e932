package aerospike

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/lane"
)

// BudgetOf shows budget.allot to the tests.
func BudgetOf(ctx context.Context, policy, otherwise, least time.Duration) (total, socket time.Duration, ok bool) {
	var b budget
	ok = b.allot(ctx, time.Time{}, policy, otherwise, least)
	return b.total, b.socket(policy), ok
}

// CompatType is the type of what Compat returns.
func CompatType() reflect.Type { return reflect.TypeFor[*compat]() }

// AgeDriverStats has the driver be asked again at the next look.
func (c *Client) AgeDriverStats() {
	c.driver.mu.Lock()
	defer c.driver.mu.Unlock()
	for _, r := range c.driver.last {
		r.at = time.Time{}
	}
}

// InfoCode shows infoCode to the tests.
func InfoCode(answer string) (code int, failed bool) {
	c, failed := infoCode(answer)
	return int(c), failed
}

// Poison gives the client's connection a driver that panics whatever it is asked, until
// heal is called. Nothing may be under way meanwhile.
func Poison(c *Client) (heal func()) { return Replace(c, new(as.Client)) }

// Replace gives the client's connection another driver, until back is called. Nothing may
// be under way meanwhile.
func Replace(c *Client, driver *as.Client) (back func()) {
	s, _ := c.machine.Current()
	good := s.client
	s.client = driver
	return func() { s.client = good }
}

// WaitsForProducers reports whether a Recordset, as this driver has it, can be waited for;
// LookUntilInactive is what is done where it can't.
func WaitsForProducers(rs any) bool { return waitGroupOf(rs) != nil }

// LookUntilInactive shows lookUntilInactive to the tests.
func LookUntilInactive(active func() bool) { lookUntilInactive(active) }

// Steadily sends a batch as the adapter does, where each sending ends with the error: how long
// each was given. allotted is what the first is given, left what there is of it at its end;
// nodes is how many it goes to, unsent what the records say then, and nil stands for a batch of
// reads.
func Steadily(err as.Error, allotted, left time.Duration, nodes int, unsent func() bool) (given []time.Duration) {
	c := &core{cfg: DefaultConfig("x:1")}
	cl := call{client: c, attempt: attempt{nodes: nodes, budget: budget{total: allotted, last: time.Now().Add(left)}}}
	p := as.NewPolicy()
	p.TotalTimeout = allotted
	_ = cl.steadily(p, func() as.Error {
		given = append(given, p.TotalTimeout)
		return err
	}, unsent)
	return given
}

// AgeGone has nodes that are known to be gone be so for long enough to be forgotten.
func AgeGone(c *Client) {
	s, _ := c.machine.Current()
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.gone {
		s.gone[name] = time.Time{}
	}
}

// Remembered returns the nodes that the connection has lanes of, in order.
func Remembered(c *Client) []string {
	s, _ := c.machine.Current()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.byName))
}

// Outlive has the client keep what a lane of a node has counted.
func Outlive(c *Client, node, name string, stats lane.Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keepLocked(map[laneKey]lane.Stats{{node, name}: stats})
}

// AddCounts shows addCounts to the tests.
func AddCounts(s, t lane.Stats) lane.Stats { return addCounts(s, t) }
