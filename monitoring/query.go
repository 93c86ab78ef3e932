package monitoring

import (
	"fmt"
	"strings"
	"time"

	"github.com/spillway-go/spillway/observe"
)

// The labels that tell one component from another, in one process. The lane is empty for
// a limiter without lanes.
const (
	byLimiter  = "job, instance, spillway_limiter_name, spillway_lane_name"
	byExecutor = "job, instance, spillway_executor_name"
	byRetry    = "job, instance, spillway_retry_name"
	byBudget   = "job, instance, spillway_retry_budget_name"
	byMachine  = "job, instance, spillway_component_name"
)

// series returns the name of a metric of the table in Prometheus. Asking for one that
// isn't there is a fault of this package, which its tests find.
func series(name string) string {
	for _, m := range observe.Table() {
		if m.Name == name {
			return m.PrometheusName()
		}
	}
	panic("monitoring: no metric " + name + " in the table")
}

// promDuration writes a duration as Prometheus reads it.
func promDuration(d time.Duration) string {
	for _, unit := range []struct {
		d    time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d >= unit.d && d%unit.d == 0 {
			return fmt.Sprintf("%d%s", d/unit.d, unit.name)
		}
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}

// expand fills a query in: a $name.with.dots is the series of that metric, and each of
// the given pairs of a name in braces and its text.
func expand(query string, pairs ...string) string {
	var b strings.Builder
	for rest := strings.NewReplacer(pairs...).Replace(query); ; {
		before, after, found := strings.Cut(rest, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(after, func(r rune) bool { return r != '.' && (r < 'a' || r > 'z') })
		if end < 0 {
			end = len(after)
		}
		b.WriteString(series(after[:end]))
		rest = after[end:]
	}
}
