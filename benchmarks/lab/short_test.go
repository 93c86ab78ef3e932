//go:build go1.25

package lab_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/benchmarks/lab"
	"github.com/spillway-go/spillway/benchmarks/lab/model"
	"github.com/spillway-go/spillway/benchmarks/lab/policy"
)

// band is what a figure of the short form may be. It is wider than the target: the run is short,
// and there is one seed.
type band struct {
	policy   string
	metric   lab.Metric
	from, to float64
}

// short runs some of the workloads in a form that takes a second or so, each with a policy that
// must hold and one that must not: a lab in which everything holds would show nothing.
func short(t *testing.T) {
	never := math.Inf(1)
	for _, c := range []struct {
		w     lab.Workload
		bands []band
	}{
		{shortStep(), []band{
			{"none", lab.Goodput, 0, .3},
			{"none", lab.Recovery, never, never},
			{"failsafe+queue", lab.Goodput, .9, 1.1},
			{"stack", lab.Goodput, .95, 1.1},
			{"stack", lab.P99, .005, .024},
			{"stack", lab.RefuseP50, 0, 0},
			{"stack", lab.Waste, 0, .01},
			{"stack", lab.Recovery, 0, .3},
			{"adaptive", lab.Goodput, .95, 1.1},
			{"adaptive", lab.Recovery, 0, .3},
			{"stack 8c", lab.Goodput, 0, .6},
			{"adaptive 8c", lab.Goodput, .95, 1.1},
		}},
		{shortDrop(), []band{
			{"adaptive", lab.Goodput, .9, 1.1}, // without its floor 0.1
			{"adaptive target", lab.Goodput, .9, 1.1},
		}},
		{shortOutage(), []band{
			{"stack", lab.SendRate, 1000, never},
			{"adaptive", lab.SendRate, 2, 20},
			{"adaptive", lab.Recovery, 0, 1},
		}},
		{shortFleet(), []band{
			{"gcl gradient2", lab.Goodput, .5, 1.1}, // with its default of 20 in each process 0.1
			{"gcl gradient2 8c", lab.Goodput, 0, .8},
			{"adaptive target", lab.Goodput, .9, 1.1},
			{"adaptive target", lab.Fairness, .9, 1},
		}},
		{shortStorm(), []band{
			{"none", lab.Recovery, never, never},
			{"none", lab.Goodput, 0, .2},
			{"none", lab.Amplification, 2, 3},
			{"budget", lab.Amplification, 1, 1.25},
			{"stack", lab.Recovery, 0, .5},
			{"stack", lab.Goodput, .97, 1.05},
			{"stack", lab.Amplification, 1, 1.1},
		}},
		{shortLanes(), []band{
			{"lane", lab.Success, 0, .5},
			{"gcl aimd", lab.Success, .6, 1}, // without its partitions 0.1
			{"failsafe+queue", lab.Success, .2, 1},
			{"stack", lab.Success, .99, 1},
			{"stack", lab.Utilisation, .65, .9},
		}},
		{shortKey(), []band{
			{"lane", lab.Success, 0, .95},
			{"stack", lab.Success, .99, 1},
			{"stack", lab.LimitRange, 0, 0},
			{"adaptive", lab.Success, .99, 1},
		}},
	} {
		t.Run(c.w.Name(), func(t *testing.T) {
			done := map[string]*lab.Figures{}
			for _, b := range c.bands {
				if done[b.policy] == nil {
					done[b.policy] = in(t, c.w, policy.Find(b.policy)[0], 1)
				}
				v := done[b.policy].Of(b.metric)
				require.True(t, v >= b.from && v <= b.to, "%s with %s: %v isn't from %v to %v", b.metric.Name(), b.policy, v, b.from, b.to)
			}
		})
	}
}

// planned returns a workload of the plan.
func planned(name string) lab.Workload {
	all := lab.Plan()
	return all[slices.IndexFunc(all, func(w lab.Workload) bool { return w.Name() == name })]
}

func shortStep() lab.Workload {
	w := planned("W1 2x")
	w.Streams[0].Rate = model.Profile{{Value: 5600}, {At: 200 * time.Millisecond, Value: 16000}, {At: 600 * time.Millisecond, Value: 5600}}
	w.From, w.To, w.Ends, w.Length = 200*time.Millisecond, 600*time.Millisecond, 600*time.Millisecond, 1900*time.Millisecond
	return w
}

func shortDrop() lab.Workload {
	w := planned("W2 step")
	w.Nodes[0].Speed = model.Profile{{Value: 1}, {At: 600 * time.Millisecond, Value: .3}}
	w.From, w.To, w.Ends, w.Length = 600*time.Millisecond, 1600*time.Millisecond, 0, 1600*time.Millisecond
	return w
}

func shortOutage() lab.Workload {
	w := planned("W12 outage")
	w.Nodes[0].Up = model.Profile{{Value: 1}, {At: 300 * time.Millisecond}, {At: 1500 * time.Millisecond, Value: 1}}
	w.From, w.To, w.Ends, w.Length = 500*time.Millisecond, 1500*time.Millisecond, 1500*time.Millisecond, 3500*time.Millisecond
	return w
}

func shortFleet() lab.Workload {
	w := planned("W8b 20")
	w.Streams[0].Rate = model.Profile{{Value: 5600}, {At: 400 * time.Millisecond, Value: 24000}}
	w.From, w.To, w.Ends, w.Length = 400*time.Millisecond, 1400*time.Millisecond, 0, 1400*time.Millisecond
	return w
}

func shortStorm() lab.Workload {
	w := planned("W7 0.6 κ 0.5")
	w.Nodes[0].Speed = model.Profile{{At: 100 * time.Millisecond}, {At: 500 * time.Millisecond, Value: 1}}
	w.Ends, w.From, w.To, w.Length = 500*time.Millisecond, time.Second, 1900*time.Millisecond, 2*time.Second
	return w
}

func shortLanes() lab.Workload {
	w := planned("W9 25x")
	w.Streams[0].Rate = model.Profile{{Value: 2400}}
	w.From, w.To, w.Length = 200*time.Millisecond, 900*time.Millisecond, 900*time.Millisecond
	return w
}

func shortKey() lab.Workload {
	w := planned("W11")
	w.From, w.To, w.Length = 200*time.Millisecond, time.Second, time.Second
	return w
}

// Every policy serves a load that the backend can bear, with classes, keys and retries, by several
// processes and over several nodes, and leaves nothing running: or the bubble wouldn't end.
func TestPoliciesServeWhatFits(t *testing.T) {
	w := lab.Workload{
		ID: "fits", Nodes: []model.Config{node(), node()}, Clients: 2, Attempts: 3, Timeout: 100 * time.Millisecond,
		Streams: []lab.Stream{
			{Class: spillway.Critical, Rate: model.Profile{{Value: 800}}, Deadline: time.Second, Key: nil},
			{Class: spillway.Bulk, Rate: model.Profile{{Value: 800}}, Deadline: time.Second},
		},
		Length: 300 * time.Millisecond, To: 300 * time.Millisecond,
	}
	for _, p := range policy.All() {
		t.Run(p.Name, func(t *testing.T) {
			f := in(t, w, p, 7)
			require.Greater(t, f.Of(lab.Success), .95)
			require.Zero(t, f.Of(lab.Waste))
			require.NotPanics(t, func() { policy.Find(p.Name) })
		})
	}
}

func node() model.Config {
	return model.Config{Slots: 16, Mean: 2 * time.Millisecond, Net: 200 * time.Microsecond, Kappa: .5}
}

// One call after the other is one at a time.
func TestPeakPendingCountsOperationsOnly(t *testing.T) {
	w := lab.Workload{
		ID: "one by one", Nodes: []model.Config{{Slots: 1, Mean: time.Microsecond}}, Clients: 1,
		Streams: []lab.Stream{{Rate: model.Profile{{Value: 10}}, Deadline: time.Second}}, Length: time.Second, To: time.Second,
	}
	require.Equal(t, 1.0, in(t, w, policy.Find("none")[0], 1).Of(lab.PeakPending))
}

// Equal seeds offer equal loads, whatever the policy; other seeds offer others.
func TestSeedsMakeTheLoad(t *testing.T) {
	w := shortKey()
	w.Streams, w.First = w.Streams[:1], false
	offered := func(p string, seed uint64) float64 {
		f := in(t, w, policy.Find(p)[0], seed)
		return f.Of(lab.Goodput) / f.Of(lab.Success) // answers cancel out: calls by the ideal, which is of the rate
	}
	require.InDelta(t, offered("none", 1), offered("limiter", 1), 1e-9)
	require.NotEqual(t, offered("none", 1), offered("none", 2))
}

// The plan is whole: names differ, windows fit, relative targets name policies that are run, and
// there are hold-outs.
func TestPlanIsWhole(t *testing.T) {
	names, holdOuts := map[string]bool{}, 0
	for _, w := range lab.Plan() {
		require.False(t, names[w.Name()], w.Name())
		names[w.Name()] = true
		if w.HoldOut {
			holdOuts++
		}
		require.Less(t, w.From, w.To, w.Name())
		require.LessOrEqual(t, w.To, w.Length, w.Name())
		require.NotEmpty(t, w.Targets, w.Name())
		if w.Ends > 0 {
			require.LessOrEqual(t, w.Ends+2*time.Second, w.Length, "%s: a recovery takes a second to be seen", w.Name())
		}
		for _, target := range w.Targets {
			if target.Over != "" {
				require.True(t, w.Runs(policy.Find(target.Over)[0]), "%s: %s", w.Name(), target.Over)
			}
			if target.Metric == lab.Recovery {
				require.Positive(t, w.Ends, w.Name())
			}
		}
		for _, s := range w.Streams {
			require.Zero(t, s.Rate[0].At, "%s: a rate starts at the beginning", w.Name())
			require.Positive(t, s.Deadline, w.Name())
		}
	}
	for _, id := range []string{"W1 10x", "W2 step", "W3 stall", "W4", "W5", "W6 after idle", "W7 0.6 κ 0", "W8a 20", "W9 1x", "W10 3x", "W11", "W12 outage"} {
		require.True(t, names[id], id)
	}
	require.GreaterOrEqual(t, holdOuts, 3)
}
