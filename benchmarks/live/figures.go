package main

import (
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
)

// title names the scenario with what is varied in it.
func (s scenario) title() string {
	switch {
	case s.name == "callers":
		return fmt.Sprintf("%d callers", s.load.Callers)
	case s.processes > 1:
		return fmt.Sprintf("%d processes", s.processes)
	case s.name == "open load":
		return fmt.Sprintf("open load %g×", s.load.Rate/s.capacity)
	}
	return s.name
}

func (r row) label() string {
	switch {
	case r.side == sideCounter:
		return fmt.Sprintf("%s of %d", r.side, r.limit)
	case r.limit > 0:
		return fmt.Sprintf("%s, %d a node", r.side, r.limit)
	}
	return r.side
}

// sum adds something up over the processes.
func (r row) sum(of func(result) int) (n int) {
	for _, res := range r.results {
		n += of(res)
	}
	return n
}

// goodput is successes a second, in time.
func (r row) goodput() (sum float64) {
	for _, res := range r.results {
		sum += float64(res.OK) / res.Seconds
	}
	return sum
}

// share is the goodput against what could be had: what was asked for, or what the cluster
// was seen to do, whichever is less.
func (r row) share() float64 {
	if r.capacity == 0 {
		return 0
	}
	return r.goodput() / min(r.load.Rate, r.does)
}

// quantile is that of the latencies of all processes.
func (r row) quantile(q float64) time.Duration {
	var all spillway.Distribution
	for _, res := range r.results {
		all = all.Add(res.Latencies)
	}
	return all.Quantile(q)
}

// jain is Jain's index of the processes' goodput: 1 is fair.
func (r row) jain() float64 {
	var sum, squares float64
	for _, res := range r.results {
		x := float64(res.OK)
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(r.results)) * squares)
}

// recovered is how many bins of success in a row are a recovery, and at which share.
const (
	recoveredBins  = 10
	recoveredShare = 0.99
)

// recovery is the time from the end of the last event to the first 100 ms from which on
// all goes well for a second; false if that never was.
func (r row) recovery() (time.Duration, bool) {
	if len(r.events) == 0 {
		return 0, false
	}
	over := r.events[len(r.events)-1].at
	ok, failed := r.bins()
	well := 0
	for i := int(over / bin); i < len(ok)-1; i++ { // the last bin isn't a whole one
		if float64(ok[i]) < recoveredShare*float64(ok[i]+failed[i]) || ok[i] == 0 {
			well = 0
			continue
		}
		if well++; well == recoveredBins {
			return time.Duration(i+1-recoveredBins)*bin - over, true
		}
	}
	return 0, false
}

// bins are successes, and all else, in each 100 ms, of all processes.
func (r row) bins() (ok, failed []int) {
	for _, res := range r.results {
		if ok == nil {
			ok, failed = make([]int, len(res.BinOK)), make([]int, len(res.BinOK))
		}
		for i := range res.BinOK {
			ok[i] += res.BinOK[i]
			failed[i] += res.BinFailed[i]
		}
	}
	return ok, failed
}
