package main

import "time"

// scenario is a load, and what happens to the cluster under it.
type scenario struct {
	name, what string
	nodes      int
	parallel   int           // commands that a node serves at once; 0: no bound
	service    time.Duration // of each
	load       spec
	turns      int // how often every side has its turn; 0 is once
	processes  int // that make the load, each its part of it
	events     []event
	counters   []int   // permits of the bare counters to try
	sized      int     // Spillway's limit per node, on a side of its own; 0: only the default
	capacity   float64 // calls a second that the cluster should be able to do; 0: not bounded
	does       float64 // calls a second that it was seen to do
}

// event is something that happens to the cluster.
type event struct {
	at time.Duration
	order
}

// The cluster of all scenarios but the first: three nodes that do 2,000 calls a second
// each, which two cores carry easily, so that what is seen is the guard and not the CPU.
const (
	nodes    = 3
	parallel = 8
	service  = 4 * time.Millisecond
	capacity = float64(nodes) * parallel / (float64(service) / float64(time.Second))
	deadline = 200 * time.Millisecond
)

func bounded(name, what string, share float64, events ...event) scenario {
	return scenario{
		name: name, what: what, nodes: nodes, parallel: parallel, service: service, capacity: capacity,
		load:      spec{Callers: 512, Rate: share * capacity, Deadline: deadline},
		processes: 1, events: events, counters: []int{24, 48},
	}
}

// scenarios are the shapes of the overload lab that a real driver can be shown.
func scenarios() []scenario {
	var all []scenario
	for _, callers := range []int{16, 64, 256, 1024, 4096} {
		turns := 3
		if callers == 4096 {
			turns = 7 // which is what the design's figures are about
		}
		all = append(all, scenario{
			name: "callers", what: "callers that read as fast as they can; a refused one comes back as retry would", nodes: 1,
			load: spec{Callers: callers}, processes: 1, counters: []int{16, 32, 64}, turns: turns,
		})
	}
	for _, share := range []float64{0.6, 1.2, 2, 10} {
		all = append(all, bounded("open load", "reads at a fixed rate, a deadline of 200 ms", share))
	}
	stall := bounded("stall", "60 % load; one node of three stalls for a second", 0.6,
		event{time.Second, order{Do: "pause", Node: 1}}, event{2 * time.Second, order{Do: "resume", Node: 1}})
	slow := bounded("slow node", "60 % load; one node of three is ten times slower for a second", 0.6,
		event{time.Second, order{Do: "slow", Node: 1, Parallel: parallel, Service: 10 * service}},
		event{2 * time.Second, order{Do: "slow", Node: 1, Parallel: parallel, Service: service}})
	kill := bounded("node kill", "writes at 50 % load; one node of three dies and is back after two seconds", 0.5,
		event{time.Second, order{Do: "kill", Node: 1}}, event{3 * time.Second, order{Do: "restart", Node: 1}})
	kill.load.Writes = true
	hot := bounded("hot key", "reads at 60 % load, half of them of one record", 0.6)
	hot.load.Hot = 0.5
	critical := bounded("critical", "critical reads at 15 % load beside bulk reads at 20 times the capacity, on nodes of two slots", 0.15)
	critical.parallel, critical.capacity = 2, capacity*2/parallel // or the refusals alone would take a core
	critical.load.Rate, critical.load.Bulk, critical.load.Limit = 0.15*critical.capacity, 20*critical.capacity, 4
	critical.counters = []int{6, 12}
	all = append(all, stall, slow, kill, hot, critical)
	for _, n := range []int{2, 8} {
		several := bounded("processes", "processes that share the cluster, together at three times its capacity", 3)
		several.processes, several.sized = n, max(1, parallel*3/2/n)
		all = append(all, several)
	}
	return all
}
