package lab

import (
	"time"

	"github.com/spillway-go/spillway/benchmarks/lab/model"
)

// slowdowns is W2: the backend loses most of its capacity for a while.
func slowdowns() []Workload {
	targets := []Target{{Metric: Goodput, Bound: .95}, {Metric: Recovery, Bound: .3}}
	slow := func(variant, about string, nodes ...model.Config) Workload {
		return Workload{
			ID: "W2", Variant: variant, About: about, Nodes: nodes, Clients: 1,
			Streams: one(steady(.7*capacity*float64(len(nodes)*nodes[0].Slots)/16), 100*time.Millisecond),
			Length:  6*time.Second + tail, From: 2 * time.Second, To: 6 * time.Second, Ends: 6 * time.Second, Targets: targets, Picture: variant == "step",
		}
	}
	step, ramp := standard(), standard()
	step.Speed = dent(2*time.Second, 6*time.Second, .3)
	for at := 2 * time.Second; at < 4*time.Second; at += 100 * time.Millisecond {
		ramp.Speed = append(ramp.Speed, model.Step{At: at, Value: 1 - .7*(at-2*time.Second).Seconds()/2})
	}
	ramp.Speed = append(ramp.Speed, model.Step{At: 4 * time.Second, Value: .3}, model.Step{At: 6 * time.Second, Value: 1})
	var three []model.Config
	for _, speed := range []float64{1, .6, .3} {
		n := standard()
		n.Slots, n.Speed = 6, dent(2*time.Second, 6*time.Second, speed)
		three = append(three, n)
	}
	// What is slower for good, and could do all the same what is asked of it.
	good := standard()
	good.Speed = model.Profile{{At: 2 * time.Second, Value: .3}}
	forGood := slow("for good", "0.25C, and the capacity falls to 30 % and stays there, which would do", good)
	forGood.Streams = one(steady(.25*capacity), 100*time.Millisecond)
	forGood.To, forGood.Ends, forGood.Length = 22*time.Second, 0, 22*time.Second
	forGood.Targets = []Target{{Metric: Goodput, Bound: .85, Moving: movesSeconds}}
	return []Workload{
		forGood,
		slow("step", "0.7C, and the capacity falls to 30 % for 4 s", step),
		slow("ramp", "0.7C, and the capacity falls to 30 % within 2 s, for 4 s", ramp),
		slow("3 nodes", "0.7C over three nodes, of which one falls to 60 % and one to 30 % for 4 s", three...),
	}
}

// stalls is W3: nothing is answered for a while.
func stalls() []Workload {
	once, often := standard(), standard()
	once.Speed = dent(2*time.Second, 3*time.Second, 0)
	for at := 2 * time.Second; at < 6*time.Second; at += time.Second {
		often.Speed = append(often.Speed, dent(at, at+100*time.Millisecond, 0)...)
	}
	stall := func(variant, about string, node model.Config, end time.Duration) Workload {
		return Workload{
			ID: "W3", Variant: variant, About: about, Nodes: []model.Config{node}, Clients: 1, Attempts: 3, Timeout: 100 * time.Millisecond,
			Streams: one(steady(.8*capacity), time.Second),
			Length:  10 * time.Second, From: 2 * time.Second, To: 9 * time.Second, Ends: end, Picture: variant == "stall",
			Targets: []Target{
				{Metric: Recovery, Bound: .3},
				{Metric: Amplification, Bound: 1.1},
				{Metric: Waste, Bound: .01, Cause: causeStall},
			},
		}
	}
	return []Workload{
		stall("stall", "0.8C, a stall of 1 s, 3 attempts of 100 ms within 1 s", once, 3*time.Second),
		stall("flicker", "0.8C, a stall of 100 ms in each second, four times, 3 attempts of 100 ms within 1 s", often, 5100*time.Millisecond),
	}
}

// foreign is W4: others overload the backend, and nothing that we do helps.
func foreign() []Workload {
	node := standard()
	node.DropExpired = true
	streams := one(steady(.5*capacity), 100*time.Millisecond)
	streams = append(streams, Stream{
		Name: "foreign", Foreign: true, Deadline: 100 * time.Millisecond,
		Rate: profile(capacity, phase{2 * time.Second, 0}, phase{10 * time.Second, 3}, phase{time.Hour, 0}),
	})
	return []Workload{{
		ID: "W4", About: "0.5C of ours, and 3x of others, uncontrolled, for 10 s; the server drops what expired in its queue",
		Nodes: []model.Config{node}, Clients: 1, Streams: streams,
		Length: 12*time.Second + tail, From: 2 * time.Second, To: 12 * time.Second, Ends: 12 * time.Second,
		Targets: []Target{
			{Metric: LimitAfter, Bound: .1, Cause: causeStatic},
			{Metric: Recovery, Bound: 1},
		},
	}}
}

// storms is W7: retries that outlive what caused them.
func storms() []Workload {
	var all []Workload
	for _, load := range []struct {
		name string
		of   float64
	}{{"0.6", .6}, {"0.85", .85}} {
		for _, kappa := range []struct {
			name string
			is   float64
		}{{"κ 0", 0}, {"κ 0.5", .5}} {
			node := standard()
			node.Kappa = kappa.is
			node.Speed = dent(2*time.Second, 3*time.Second, 0)
			all = append(all, Workload{
				ID: "W7", Variant: load.name + " " + kappa.name, About: load.name + "C, a stall of 1 s, 3 attempts of 50 ms within 1 s; " + kappa.name + "; judged from 0.5 s after the stall",
				Nodes: []model.Config{node}, Clients: 1, Attempts: 3, Timeout: 50 * time.Millisecond,
				Streams: one(steady(load.of*capacity), time.Second),
				Length:  8 * time.Second, From: 3500 * time.Millisecond, To: 7 * time.Second, Ends: 3 * time.Second, Picture: load.of == .6,
				Targets: []Target{{Metric: Recovery, Bound: .5}, {Metric: Goodput, Bound: .99}},
			})
		}
	}
	return all
}

// outages is W12: a backend that answers no, or not at all.
func outages() []Workload {
	dead, refusing := standard(), standard()
	dead.Up = dent(2*time.Second, 12*time.Second, 0)
	refusing.Queue = 8
	return []Workload{
		{
			ID: "W12", Variant: "outage", About: "0.7C, and the node is down for 10 s: connections are refused; 3 attempts within 1 s",
			Nodes: []model.Config{dead}, Clients: 1, Attempts: 3, Streams: one(steady(.7*capacity), time.Second),
			Length: 12*time.Second + tail, From: 3 * time.Second, To: 12 * time.Second, Ends: 12 * time.Second, First: true,
			Targets: []Target{{Metric: SendRate, Bound: 20, Cause: causeThrottle}, {Metric: Recovery, Bound: 1}},
		},
		{
			ID: "W12", Variant: "refusals", About: "10x for 1 s by 4 processes, on a backend that refuses what finds 8 waiting",
			Nodes: []model.Config{refusing}, Clients: 4,
			Streams: one(profile(capacity, phase{2 * time.Second, .7}, phase{time.Second, 10}, phase{time.Hour, .7}), 100*time.Millisecond),
			Length:  3*time.Second + tail, From: 2 * time.Second, To: 3 * time.Second, Ends: 3 * time.Second,
			Targets: []Target{{Metric: SendsPerGood, Bound: 2.2}, {Metric: Recovery, Bound: 1, Cause: movesChance, Moving: movesChance}},
		},
	}
}
