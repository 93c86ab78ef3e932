package aerospike

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// The lanes that every client has, at each node. Operations go to them by kind: see
// [Operations].
const (
	LaneRead   = "read"   // one record, read
	LaneWrite  = "write"  // one record, written; also record UDFs and operate
	LaneBatch  = "batch"  // batches, at each node that one touches
	LaneStream = "stream" // scans, queries, background jobs
	LaneAdmin  = "admin"  // what goes over the driver's own connection; not per node
)

// defaultLanes are the lanes that every client has.
var defaultLanes = [...]string{LaneRead, LaneWrite, LaneBatch, LaneStream, LaneAdmin}

// LaneConfig are the settings of a lane.
type LaneConfig struct {
	// Name is the lane's name: one of the five, or another that Classes, Route or
	// With send calls to.
	Name string
	// Limit is how many calls the lane has in the driver at once, per node (LaneAdmin:
	// per client). Zero is an error.
	Limit int
	// MaxWaiting, MaxWait and Predict are the waiting room: see lane.Config. Zero
	// means that nobody waits.
	MaxWaiting int
	MaxWait    time.Duration
	Predict    bool
	// Track says what is kept of who holds the lane's permits, for LaneSnapshot.Holders and
	// the live page, and HoldWarn how long one may be held before the HeldLong of
	// Config.LaneHooks is told: see lane.Config. Zero means nothing, and never.
	Track    spillway.Track
	HoldWarn time.Duration
	// Adaptive moves the limit at each node by what is observed there: see package
	// limiter/adaptive. Limit is then where it comes from and goes back to, and
	// Adaptive.Max is what the lane needs of the pool. LaneAdmin can't have it, because
	// it isn't per node. Nil leaves the limit as it is.
	Adaptive *adaptive.Config
}

// cloneLanes returns a copy of lanes, with what they point to.
func cloneLanes(lanes []LaneConfig) []LaneConfig {
	lanes = slices.Clone(lanes)
	for i := range lanes {
		if a := copied(lanes[i].Adaptive); a != nil {
			a.Classes, a.Hooks = slices.Clone(a.Classes), slices.Clone(a.Hooks)
			lanes[i].Adaptive = a
		}
	}
	return lanes
}

// most is how many calls of a node the lane may ever have in the driver.
func (l LaneConfig) most() int {
	if l.Adaptive != nil {
		return max(l.Limit, l.Adaptive.Max)
	}
	return l.Limit
}

// DefaultLanes returns the five lanes in the proportions that fit most: as many
// writes as half of the reads, batches a quarter, streams an eighth, and two calls of
// administration.
func DefaultLanes(reads int) []LaneConfig {
	return []LaneConfig{
		{Name: LaneRead, Limit: reads},
		{Name: LaneWrite, Limit: max(1, reads/2)},
		{Name: LaneBatch, Limit: max(1, reads/4)},
		{Name: LaneStream, Limit: max(1, reads/8)},
		{Name: LaneAdmin, Limit: 2},
	}
}

// largestReads returns the largest number of reads, up to DefaultLimit, whose default
// lanes need no more than that many connections.
func largestReads(connections int) int {
	reads := 1
	for reads < DefaultLimit && perNode(DefaultLanes(reads+1)) <= connections {
		reads++
	}
	return reads
}

// perNode returns how many connections of a node the lanes can use. Limits that no lane
// can have are somebody else's to report, but must not make the sum a small one.
func perNode(lanes []LaneConfig) int {
	sum := 0
	for _, l := range lanes {
		if l.Name != LaneAdmin {
			sum += min(max(l.most(), 0), math.MaxInt-sum)
		}
	}
	return sum
}

// largest returns the largest number of calls of a node that a lane can have, at least 1.
func largest(lanes []LaneConfig) int {
	most := 1
	for _, l := range lanes {
		if l.Name != LaneAdmin {
			most = max(most, l.most())
		}
	}
	return most
}

// laneTable finds a call's lane. It never changes.
type laneTable struct {
	configs []LaneConfig
	index   map[string]int
	classes map[spillway.Class]int
	hooks   []lane.Hooks // of the user's, for each lane; nil if there are none
	admin   int
	// byOperation is the index of each default lane.
	byOperation [len(defaultLanes)]int
}

// laneTable validates the lanes and their routing.
func (c Config) laneTable(e *spillway.ConfigError) *laneTable {
	t := &laneTable{configs: c.Lanes, index: map[string]int{}, classes: map[spillway.Class]int{}}
	for i, l := range c.Lanes {
		field := fmt.Sprintf("Lanes[%d].", i)
		if strings.TrimSpace(l.Name) == "" {
			e.Add(field+"Name", l.Name, "must not be empty")
		}
		if _, twice := t.index[l.Name]; twice {
			e.Add(field+"Name", l.Name, "must be unique")
		}
		t.index[l.Name] = i
		if _, err := lane.New[struct{}](l.options("x", c)); err != nil {
			e.Include(field, err, "Mode", "RetryAfter")
		} else if l.Adaptive != nil {
			l.checkAdaptive(e, field)
		}
	}
	if c.Lanes == nil {
		return t // Limit is at fault, and says so
	}
	for _, name := range defaultLanes {
		if _, ok := t.index[name]; !ok {
			e.Add("Lanes", t.names(true), "must have a lane "+name)
		}
	}
	if c.LaneHooks != nil {
		for _, l := range c.Lanes {
			t.hooks = append(t.hooks, c.LaneHooks(l.Name))
		}
	}
	t.admin = t.index[LaneAdmin]
	for i, name := range defaultLanes {
		t.byOperation[i] = t.index[name]
	}
	for class, name := range c.Classes {
		i, ok := t.index[name]
		if !ok || name == LaneAdmin { // which isn't per node
			e.Add(fmt.Sprintf("Classes[%s]", class), name, "must be one of the lanes per node: "+t.names(false))
		}
		t.classes[class] = i
	}
	return t
}

// names lists the lanes for errors, with that of administration or without.
func (t *laneTable) names(admin bool) string {
	var all []string
	for _, l := range t.configs {
		if admin || l.Name != LaneAdmin {
			all = append(all, l.Name)
		}
	}
	return strings.Join(all, ", ")
}

// checkAdaptive validates what moves the lane's limit.
func (l LaneConfig) checkAdaptive(e *spillway.ConfigError, field string) {
	if l.Name == LaneAdmin {
		e.Add(field+"Adaptive", "set", "must be nil: the lane is not per node")
	}
	e.Include(field+"Adaptive.", l.Adaptive.Validate(l.Limit))
}

// options are the settings of the lane at one node.
func (l LaneConfig) options(node string, c Config) lane.Config {
	name := c.Name + "/" + l.Name
	if node != "" {
		name = c.Name + "/" + node + "/" + l.Name
	}
	return lane.Config{
		Name: name, Limit: l.Limit, MaxWaiting: l.MaxWaiting, MaxWait: l.MaxWait, Predict: l.Predict,
		Mode: c.Mode, RetryAfter: c.RetryAfter, Track: l.Track, HoldWarn: l.HoldWarn,
	}
}
