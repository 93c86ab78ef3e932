package lab

import (
	"fmt"
	"slices"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/benchmarks/lab/model"
)

// fleets is W8: many processes share the backend and know nothing of each other.
func fleets() []Workload {
	var all []Workload
	for _, fleet := range []struct {
		n             int
		goodput, back float64
		cause, moving string
		// Why those with a latency target lose, and why they share unevenly, if they start one
		// after the other; and why they share unevenly if they don't.
		lost, late, uneven string
	}{
		{2, .97, 1, causeShare, movesUp, movesStart, movesFirst, movesLuck},
		{20, .97, 1, causeShare, movesUp, movesStart, movesFirst, movesLuck},
		{100, .93, 2, causeWhole, movesPaced, movesCrowd, movesLuck, movesLuck},
		{1000, .90, 2, causeWhole, movesFew, movesFew, movesFew, movesFew},
	} {
		cold := []phase{}
		for i := range 10 { // all start within 1 s
			cold = append(cold, phase{100 * time.Millisecond, 3 * float64(i+1) / 10})
		}
		start := Workload{
			ID: "W8a", Variant: fmt.Sprint(fleet.n), About: fmt.Sprintf("%d processes start within 1 s, at 3x together", fleet.n),
			Nodes: []model.Config{standard()}, Clients: fleet.n, Stagger: time.Second,
			Streams: one(profile(capacity, append(cold, phase{time.Hour, 3})...), 100*time.Millisecond),
			Length:  3 * time.Second, From: 0, To: 3 * time.Second, Picture: fleet.n == 20,
			Targets: []Target{
				{Metric: Goodput, Bound: fleet.goodput, Cause: fleet.cause, Moving: movesBlind, Aimed: fleet.lost},
				{Metric: Fairness, Bound: .95, Learned: .8, Cause: fleet.cause, Moving: movesBlind, Aimed: fleet.late},
			},
		}
		if fleet.n < 1000 { // they have 1,000 permits for 16 slots in either form
			all = append(all, start)
		}
		all = append(all, Workload{
			ID: "W8b", Variant: fmt.Sprint(fleet.n), About: fmt.Sprintf("%d processes: 0.7C, then 3x for 2 s, then 0.7C", fleet.n),
			Nodes: []model.Config{standard()}, Clients: fleet.n,
			Streams: one(profile(capacity, phase{lead, .7}, phase{2 * time.Second, 3}, phase{time.Hour, .7}), 100*time.Millisecond),
			Length:  6200 * time.Millisecond, From: lead, To: 3 * time.Second, Ends: 3 * time.Second,
			Targets: []Target{
				{Metric: Goodput, Bound: fleet.goodput, Cause: causeWhole, Moving: fleet.moving},
				{Metric: Fairness, Bound: .95, Learned: .8, Cause: causeWhole, Moving: fleet.moving, Aimed: fleet.uneven},
				{Metric: Recovery, Bound: fleet.back, Cause: causeWhole, Moving: fleet.moving},
			},
		})
	}
	return all
}

// lanes is W9: what is critical beside twenty times the bulk that fits.
func lanes() []Workload {
	var critical []phase
	for range 4 {
		critical = append(critical, phase{time.Second, .15}, phase{time.Second, .45})
	}
	var all []Workload
	for _, bulk := range []struct {
		name                 string
		cost                 float64
		success, utilisation float64
	}{{"1x", 1, .9999, .97}, {"25x", 25, .999, .85}} {
		all = append(all, Workload{
			ID: "W9", Variant: bulk.name, About: "critical calls at 0.15C and 0.45C in turns, and bulk calls that take " + bulk.name + " as long at 20 times their third of C",
			Nodes: []model.Config{standard()}, Clients: 1, First: true,
			Streams: []Stream{
				{Name: "critical", Class: spillway.Critical, Rate: profile(capacity, critical...), Deadline: 50 * time.Millisecond},
				{Name: "bulk", Class: spillway.Bulk, Rate: steady(20 * capacity / 3 / bulk.cost), Deadline: 500 * time.Millisecond, Cost: bulk.cost},
			},
			Length: 5 * time.Second, From: time.Second, To: 5 * time.Second, Picture: bulk.cost == 1,
			Targets: []Target{
				{Metric: Success, Bound: bulk.success},
				{Metric: P999, Bound: 1.1, Over: "lanes"},
				{Metric: Utilisation, Bound: bulk.utilisation, Cause: causeHeavy, Moving: causeHeavy},
			},
		})
	}
	return all
}

// holdOuts are workloads that no constant was tuned on.
func holdOuts() []Workload {
	step := func(variant, about string, node model.Config, times float64, deadline time.Duration) Workload {
		return Workload{
			ID: "H", Variant: variant, About: about, HoldOut: true, Nodes: []model.Config{node}, Clients: 1,
			Streams: one(profile(node.Capacity(), phase{lead, .7}, phase{3 * time.Second, times}, phase{time.Hour, .7}), deadline),
			Length:  4*time.Second + tail, From: lead, To: 4 * time.Second, Ends: 4 * time.Second,
			Targets: []Target{{Metric: Goodput, Bound: .95}, {Metric: Waste, Bound: .01}, {Metric: Recovery, Bound: .5}},
		}
	}
	pareto, small, bimodal, large, slow := standard(), standard(), standard(), standard(), standard()
	pareto.Service = model.Pareto(1.5)
	small.Slots, small.Mean = 4, 10*time.Millisecond
	bimodal.Service = model.Bimodal(.05, 20)
	large.Slots, large.Mean, large.Net, large.Service = 64, 8*time.Millisecond, 2*time.Millisecond, model.Deterministic()
	slow.Speed, slow.DropExpired = dent(lead, 3*time.Second, .4), true
	uneven := step("uneven", "0.2C and 2x in turns of 0.2 s, for 2.8 s", standard(), 0, 100*time.Millisecond)
	rates := []phase{{lead, .7}}
	for range 7 {
		rates = append(rates, phase{200 * time.Millisecond, 2}, phase{200 * time.Millisecond, .2})
	}
	uneven.Streams[0].Rate = profile(capacity, append(rates, phase{time.Hour, .7})...)
	half := step("slow, retries", "0.8C, 40 % of the capacity for 2 s, 3 attempts of 50 ms within 500 ms; the server drops what expired", slow, 0, 500*time.Millisecond)
	half.Streams[0].Rate, half.Attempts, half.Timeout, half.Ends = steady(.8*capacity), 3, 50*time.Millisecond, 3*time.Second
	all := []Workload{
		step("Pareto", "3x with service times of a heavy tail (Pareto 1.5)", pareto, 3, 100*time.Millisecond),
		step("small", "5x on a small and slow backend: c = 4, S = 10 ms", small, 5, 250*time.Millisecond),
		step("bimodal", "2x, one call in 20 takes 20 times as long", bimodal, 2, 100*time.Millisecond),
		step("large", "3x on a large backend, with equal service times and a slow network: c = 64, S = 8 ms, 2 ms on the way", large, 3, 100*time.Millisecond),
		uneven, half,
	}
	all[0].Picture = true
	all[1].Targets[2].Moving = "0.7C is 28 calls in a tenth of a second here, so that a single refusal counts"
	all[1].Targets[2].Cause = "0.7C is 28 calls in a tenth of a second here, so that a single refusal counts, and chance alone fills 6 permits now and then, with a wait of no more than one service time"
	for _, i := range []int{0, 2} { // calls that take longer than their deadline are waste whatever is done
		all[i].Targets = slices.DeleteFunc(all[i].Targets, func(t Target) bool { return t.Metric == Waste })
	}
	return all
}
