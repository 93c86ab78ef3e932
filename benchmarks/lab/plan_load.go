package lab

import (
	"math/rand/v2"
	"time"

	"github.com/spillway-go/spillway/benchmarks/lab/model"
)

// healthy is W0: no overload. What protects must not cost.
func healthy() []Workload {
	var all []Workload
	for _, load := range []struct {
		name string
		of   float64
	}{{"0.7", .7}, {"0.95", .95}} {
		all = append(all, Workload{
			ID: "W0", Variant: load.name, About: "no overload: " + load.name + "C for 4 s",
			Nodes: []model.Config{standard()}, Clients: 1, Streams: one(steady(load.of*capacity), 100*time.Millisecond),
			Length: 4 * time.Second, From: 500 * time.Millisecond, To: 4 * time.Second,
			Targets: []Target{{Metric: Success, Bound: 1, Over: "static 1.5c"}},
		})
	}
	return all
}

// steps is W1: load far above capacity.
func steps() []Workload {
	var all []Workload
	for _, over := range []struct {
		name    string
		times   float64
		lasts   time.Duration
		goodput float64
	}{{"1.2x", 1.2, 4 * time.Second, .98}, {"2x", 2, 3 * time.Second, .98}, {"10x", 10, 1500 * time.Millisecond, .98}, {"50x", 50, 300 * time.Millisecond, .95}} {
		end := lead + over.lasts
		all = append(all, Workload{
			ID: "W1", Variant: over.name, About: "0.7C, then " + over.name + " for " + over.lasts.String() + ", then 0.7C",
			Nodes: []model.Config{standard()}, Clients: 1,
			Streams: one(profile(capacity, phase{lead, .7}, phase{over.lasts, over.times}, phase{time.Hour, .7}), 100*time.Millisecond),
			Length:  end + tail, From: lead, To: end, Ends: end, Picture: over.times == 10,
			Targets: []Target{
				{Metric: Goodput, Bound: over.goodput},
				{Metric: P99, Bound: .021},
				{Metric: Recovery, Bound: .2},
				{Metric: Waste, Bound: .01},
			},
		})
	}
	return all
}

// mixes is W5: the mix of calls changes, without an overload.
func mixes() []Workload {
	const heavy = 20
	rate := .9 * capacity / (.8 + .2*heavy)
	return []Workload{{
		ID: "W5", About: "heavy calls (20x) go from 5 % to 20 %, at 0.9 of what can then be served: no overload",
		Nodes: []model.Config{standard()}, Clients: 1,
		Streams: []Stream{{
			Name: "calls", Rate: steady(rate), Deadline: 500 * time.Millisecond, Times: heavy,
			Heavy: profile(1, phase{5 * time.Second, .05}, phase{time.Hour, .2}),
		}},
		Length: 20 * time.Second, From: 5 * time.Second, To: 20 * time.Second,
		Targets: []Target{{Metric: Success, Bound: .985, Cause: "at 0.9 with one call in five taking 20 times as long there are often more than 1.5c under way, and the wait of 10 ms is short beside calls of 40 ms", Moving: "what a right-sized static limit loses, too: heavy calls come in clumps, and the wait of 10 ms is short beside calls of 40 ms"}},
	}}
}

// bursts is W6: bursts after idle times, which must find neither a limit that has grown nor one
// that has to grow first.
func bursts() []Workload {
	cycle := []phase{}
	for range 3 {
		cycle = append(cycle, phase{9 * time.Second, .05}, phase{time.Second, 5})
	}
	return []Workload{
		{
			ID: "W6", Variant: "after idle", About: "30 s at 0.05C, then 5x for 2 s; judged from 0.2 s on",
			Nodes: []model.Config{standard()}, Clients: 1,
			Streams: one(profile(capacity, phase{30 * time.Second, .05}, phase{2 * time.Second, 5}, phase{time.Hour, .5}), 100*time.Millisecond),
			Length:  32*time.Second + tail, Idle: 30 * time.Second, From: 30200 * time.Millisecond, To: 32 * time.Second, Ends: 32 * time.Second,
			Targets: []Target{{Metric: Goodput, Bound: .98}, {Metric: IdleGrowth, Bound: 1}},
		},
		{
			ID: "W6", Variant: "on and off", About: "5x for 1 s in each 10 s, else 0.05C; the third burst is judged, from 0.2 s on",
			Nodes: []model.Config{standard()}, Clients: 1,
			Streams: one(profile(capacity, append(cycle, phase{time.Hour, .05})...), 100*time.Millisecond),
			Length:  32 * time.Second, From: 29200 * time.Millisecond, To: 30 * time.Second, Ends: 30 * time.Second,
			Targets: []Target{{Metric: Goodput, Bound: .98}},
		},
	}
}

// hours is W10, in minutes: nothing may drift. Only policies run whose limits move, and ours to
// compare.
func hours() []Workload {
	only := []string{"static 1.5c", "failsafe", "failsafe+queue", "gcl aimd", "gcl vegas", "gcl gradient2", "stack", "adaptive", "adaptive target"}
	slow, pareto, quick := standard(), standard(), standard()
	slow.Mean = 8 * time.Millisecond
	pareto.Mean, pareto.Service = slow.Mean, model.Pareto(1.5)
	quick.Slots, quick.Mean, quick.Net = 4, 200*time.Microsecond, 20*time.Microsecond
	long := func(variant, about string, node model.Config, deadline, length time.Duration) Workload {
		targets := []Target{{Metric: Goodput, Bound: .98}}
		if length >= time.Minute { // a limit that moves has no trend to speak of in seconds
			targets = append(targets, Target{Metric: LimitSlope, Bound: .01, Moving: movesNoise})
		}
		return Workload{
			ID: "W10", Variant: variant, About: about, Nodes: []model.Config{node}, Clients: 1,
			Streams: one(steady(3*node.Capacity()), deadline),
			Length:  length, From: length / 4, To: length, Targets: targets, Only: only, Picture: variant == "3x",
		}
	}
	return []Workload{
		long("3x", "3x for 2 min, with S = 8 ms so that there are fewer calls", slow, 400*time.Millisecond, 2*time.Minute),
		long("Pareto", "the same with service times of a heavy tail (Pareto 1.5)", pareto, 400*time.Millisecond, 2*time.Minute),
		long("200 µs", "3x for 3 s on a database in memory: c = 4, S = 200 µs", quick, 20*time.Millisecond, 3*time.Second),
	}
}

// hotKey is W11: half of the writes are for one record.
func hotKey() []Workload {
	node := standard()
	node.KeyPending = 20
	return []Workload{{
		ID: "W11", About: "0.7C, half of it for one key, which the server serves one at a time and refuses (KEY_BUSY) when 20 wait; the other half is judged",
		Nodes: []model.Config{node}, Clients: 1, First: true,
		Streams: []Stream{
			{Name: "normal", Rate: steady(.35 * capacity), Deadline: 100 * time.Millisecond, Key: func(r *rand.Rand) int { return 2 + r.IntN(1_000_000) }},
			{Name: "hot", Rate: steady(.35 * capacity), Deadline: 100 * time.Millisecond, Key: func(*rand.Rand) int { return 1 }},
		},
		Length: 6 * time.Second, From: time.Second, To: 6 * time.Second,
		Targets: []Target{{Metric: Success, Bound: .995}, {Metric: LimitRange, Bound: .05, Moving: movesItself}},
	}}
}
