package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/adapters/aerospike"
)

// curve is what a class got, and what follows from it.
type curve struct {
	class  string
	points []point
	ended  string // why there are no more points
	failed bool   // whether it was errors

	knee    int     // callers from which on throughput hardly grows
	slots   float64 // calls that the cluster works on at once, by Little's law
	limit   int     // permits per node and process; 0: none can be told
	reached bool    // whether the knee was passed: throughput stopped growing
	target  time.Duration
}

const (
	kneeShare  = 0.95 // of the largest throughput
	overSlots  = 1.5  // permits for each slot: full use with service times that vary
	overAlone  = 1.75 // how long a call takes at a backend that is as busy as it should be, over alone
	leastLimit = 1
)

// judge finds the knee and the limit. The cluster works on C·S calls at once, where C is
// its largest throughput and S what a call takes when it is alone; half as many more keep
// it busy while service times vary, and beyond that calls only queue in it.
func (c *curve) judge(nodes, processes int) {
	if len(c.points) < 2 {
		return // one number of callers is no curve
	}
	i, best := knee(c.points)
	if best == 0 {
		return
	}
	c.knee = c.points[i].callers
	last := c.points[len(c.points)-1]
	c.reached = c.knee < last.callers
	c.target = time.Duration(overAlone * float64(c.points[0].p50)).Round(10 * time.Microsecond)
	c.slots = best * c.points[0].mean.Seconds()
	// Never more than at the knee itself, as it was seen: with few callers a call alone
	// may be slower than it need be, on a client with its CPU asleep.
	want := min(math.Ceil(overSlots*c.slots), float64(c.knee))
	if c.failed && !c.reached {
		return // something went wrong, long before there was too much to do
	}
	c.limit = max(leastLimit, int(math.Ceil(want/float64(nodes)/float64(processes))))
}

// knee finds the first point that got almost as much as the best, and what that got.
func knee(points []point) (first int, best float64) {
	for _, p := range points {
		best = max(best, p.rate)
	}
	return slices.IndexFunc(points, func(p point) bool { return p.rate >= kneeShare*best }), best
}

// flat reports whether throughput grows no more: the knee was as far as half the callers
// ago, and two points. Going on would only make the cluster's queues longer.
func flat(points []point) bool {
	last := len(points) - 1
	i, _ := knee(points)
	return last-i >= 2 && points[last].callers >= 2*points[i].callers
}

func (c *curve) String() string {
	if c.limit == 0 {
		return fmt.Sprintf("%s: no limit found; ended by %s", c.class, c.ended)
	}
	note := ""
	if !c.reached {
		note = "; the knee may be higher, so this is a lower bound"
	}
	return fmt.Sprintf("%s: knee at %d callers, %.1f calls at work at once; limit %d per node and process; target for a limit that moves %v; ended by %s%s",
		c.class, c.knee, c.slots, c.limit, c.target, c.ended, note)
}

// printSettings prints what Client.Apply takes, for the lanes that were measured.
func printSettings(out io.Writer, curves []curve) error {
	settings := aerospike.Settings{Lanes: map[string]aerospike.LaneSettings{}}
	names := map[string]string{"read": aerospike.LaneRead, "write": aerospike.LaneWrite}
	for _, c := range curves {
		if c.limit > 0 {
			settings.Lanes[names[c.class]] = aerospike.LaneSettings{Limit: c.limit}
		}
	}
	if len(settings.Lanes) == 0 {
		return errors.New("there is nothing to apply")
	}
	text, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return err
	}
	pool := ""
	if need := connections(settings); need > as.NewClientPolicy().ConnectionQueueSize {
		pool = fmt.Sprintf(" (for clients with a ConnectionQueueSize of %d at least)", need)
	}
	_, err = fmt.Fprintf(out, "settings for Client.Apply, measured %s%s:\n%s\n", time.Now().Format(time.DateOnly), pool, text)
	return err
}

// connections is what a client's pool must hold so that Apply takes the settings: each
// lane's calls, those of the other lanes by default, and one that the driver needs.
func connections(settings aerospike.Settings) int {
	need := 1
	for _, l := range aerospike.DefaultLanes(aerospike.DefaultLimit) {
		if l.Name != aerospike.LaneAdmin { // which uses none of the pool
			need += cmp.Or(settings.Lanes[l.Name].Limit, l.Limit)
		}
	}
	return need
}
