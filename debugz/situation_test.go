package debugz_test

import (
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/retry"
)

const ms = time.Millisecond

// script is components whose numbers follow from the time.
type script struct {
	began time.Time
	play  func(d time.Duration) []observe.Snapshot
}

func play(f func(d time.Duration) []observe.Snapshot) *script { return &script{time.Now(), f} }

func (s *script) Observe(yield func(observe.Snapshot) bool) {
	for _, o := range s.play(time.Since(s.began)) {
		if !yield(o) {
			return
		}
	}
}

// at is how often something happened after d, that happened before times before, and now
// perSecond times a second.
func at(d time.Duration, before, perSecond float64) uint64 {
	return uint64(before + perSecond*d.Seconds())
}

// took is n things that took d each.
func took(dist spillway.Distribution, n uint64, d time.Duration) spillway.Distribution {
	dist.Count += n
	dist.Sum += time.Duration(n) * d
	dist.Buckets[spillway.DistributionBucket(d)] += n
	return dist
}

// laneOf is a lane with so many of its permits in use, that has admitted n calls.
func laneOf(limit, inUse int, n uint64, hold time.Duration) *lane.Stats {
	s := &lane.Stats{Limit: limit, InUse: inUse, Available: limit - inUse, Admitted: n, MaxWaiting: 2 * limit, Hold: took(spillway.Distribution{}, n/16, hold)}
	s.Ended[spillway.OutcomeOK] = n - uint64(inUse)
	return s
}

func held(n int, site string, class spillway.Class, age time.Duration) (all []spillway.Holder) {
	for i := range n {
		all = append(all, spillway.Holder{Site: site, Class: class, Weight: 1, Age: age - time.Duration(i)*ms/2})
	}
	return all
}

// shop is a shop at three in the morning: a refresh of profiles holds permits and doesn't give them
// back, search is refused more than it needs to be, and one node of the cluster is slow.
func shop(d time.Duration) []observe.Snapshot {
	profiles := laneOf(16, 16, 1_240_816, 4*ms)
	profiles.Waiting, profiles.OldestWait = 27, d+38*time.Second
	profiles.Refused[spillway.ReasonQueueFull] = at(d, 2000, 52)
	holders := append(held(3, "shop/profiles.(*Cache).refresh /src/shop/profiles/cache.go:118", spillway.Bulk, d+214*time.Second),
		held(13, "shop/api.(*Server).profile /src/shop/api/profile.go:57", spillway.Normal, d+39*time.Second)...)

	search := &limiter.Stats{Name: "search", Limit: 8, InUse: 8, Admitted: at(d, 9e6, 2400), Hold: took(spillway.Distribution{}, at(d, 9e6, 2400)/64, 3*ms)}
	search.Ended[spillway.OutcomeOK] = search.Admitted - 8
	search.Refused[spillway.ReasonLimit] = at(d, 5e4, 700)

	all := []observe.Snapshot{
		{Component: "lane", Name: "profiles", Laned: profiles, Holders: func() []spillway.Holder { return holders }},
		{Component: "limiter", Name: "search", Limiter: search},
	}
	for _, l := range []struct {
		name   string
		limit  int
		inUse  int
		perSec float64
	}{{"critical", 8, 1, 90}, {"interactive", 20, 7, 1900}, {"bulk", 4, 2, 120}} {
		s := laneOf(l.limit, l.inUse, at(d, 1e6, l.perSec), 3*ms)
		s.Wait = took(s.Wait, at(d, 1000, l.perSec/20), 2*ms)
		if l.name == "bulk" {
			s.Mode = spillway.Shadow
		}
		all = append(all, observe.Snapshot{Component: "lane", Name: "db", Lane: l.name, Laned: s})
	}
	all = append(all, cluster(d)...)
	return append(all, rest(d)...)
}

// cluster is the lane of reads of three nodes, of which the second has become slow.
func cluster(d time.Duration) []observe.Snapshot {
	sum := laneOf(96, 44, at(d, 6e6, 5100), 2*ms)
	sum.Waiting, sum.OldestWait = 9, 61*ms
	all := []observe.Snapshot{{Component: "lane", Name: "cluster", Lane: "read", Laned: sum}}
	for i := range 3 {
		s := laneOf(32, 6+i, at(d, 2e6, 2400), 2*ms)
		if i == 1 {
			s = laneOf(32, 32, at(d, 2e6, 320), 2*ms)
			s.Hold = took(took(spillway.Distribution{}, 2e6/16, 2*ms), at(d, 0, 320)/16, 97*ms)
			s.Waiting, s.OldestWait = 9, 61*ms
			s.Refused[spillway.ReasonPredicted] = at(d, 300, 44)
		}
		all = append(all, observe.Snapshot{Component: "lane", Name: "cluster", Lane: "read", Node: fmt.Sprintf("10.0.0.%d:3000", i+1), Detail: true, Laned: s})
	}
	return all
}

// rest is what is well.
func rest(d time.Duration) []observe.Snapshot {
	jobs := &deadline.Stats{Name: "thumbnails", Workers: 4, Busy: 3, Idle: 1, Capacity: 64, Depth: 5, Oldest: 12 * ms, Submitted: at(d, 1e5, 210)}
	jobs.Ended[spillway.OutcomeOK] = jobs.Submitted - 8
	jobs.Run, jobs.Wait = took(jobs.Run, at(d, 1e5, 210), 14*ms), took(jobs.Wait, at(d, 1e5, 210), 6*ms)
	reads := &retry.Stats{Name: "reads", Originals: at(d, 8e6, 5200), Retries: at(d, 9000, 41), BackingOff: 2}
	reads.Ended[retry.StopSuccess] = reads.Originals - 2
	reads.Delays = took(reads.Delays, reads.Retries, 9*ms)
	budget := &retry.BudgetStats{Burst: 100, Available: 71, Granted: at(d, 9000, 41)}
	up := &lifecycle.Stats{Name: "cluster", State: lifecycle.Connected, Since: time.Now().Add(-26 * time.Hour), Generation: 2, Leases: 44, Connected: 2, Opened: 2, Closed: 1}
	return []observe.Snapshot{
		{Component: "executor", Name: "thumbnails", Executor: jobs},
		{Component: "retry", Name: "reads", Retry: reads},
		{Component: "budget", Name: "reads", Budget: budget},
		{Component: "lifecycle", Name: "cluster", Lifecycle: up},
	}
}
