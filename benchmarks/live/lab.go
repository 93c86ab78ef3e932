package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// row is what one side got in one scenario.
type row struct {
	scenario
	side    string
	limit   int // of a counter, or Spillway's per node
	results []result
}

// lab runs every scenario on every side and prints the table.
func lab(ctx context.Context, o options) (err error) {
	c := &cluster{hosts: o.hosts}
	if len(o.hosts) == 0 {
		if c.process, err = start(ctx, "server"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.process.end()) }()
	}
	var rows []row
	seen := capacities{}
	for _, s := range scenarios() {
		if !o.runs(s) {
			continue
		}
		if s.capacity > 0 {
			if s.does, err = seen.of(ctx, c, s); err != nil {
				return fmt.Errorf("%s: what the cluster does: %w", s.title(), err)
			}
		}
		s.load.Duration = max(o.duration, s.least())
		compared, err := s.compare(ctx, c)
		if err != nil {
			return err
		}
		rows = append(rows, compared...)
	}
	return report(rows, o)
}

// compare runs the scenario on every side. Where it is done in turns, each turn has every
// side once, so that all have their share of a machine's good and bad minutes; what counts
// is each side's median.
func (s scenario) compare(ctx context.Context, c *cluster) ([]row, error) {
	sides := s.sides()
	runs := make([][]row, len(sides))
	for range max(s.turns, 1) {
		for i, r := range sides {
			fmt.Fprintf(os.Stderr, "%s, %s\n", s.title(), r.label())
			if err := r.run(ctx, c); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", s.title(), r.label(), err)
			}
			runs[i] = append(runs[i], r)
		}
	}
	for i := range sides {
		sides[i] = middle(runs[i])
	}
	return sides, nil
}

// middle is the run with the median goodput, the lower of two.
func middle(runs []row) row {
	slices.SortFunc(runs, func(a, b row) int { return cmp.Compare(a.goodput(), b.goodput()) })
	return runs[(len(runs)-1)/2]
}

// capacities are what clusters were seen to do, by their nodes: a machine's timers are late,
// and the more so the busier it is, so that it is less than what it should be.
type capacities map[[2]int]float64

// of has twice as many callers as there are slots read as fast as they can, if that wasn't done yet.
func (seen capacities) of(ctx context.Context, c *cluster, s scenario) (float64, error) {
	key := [2]int{s.nodes, s.parallel}
	if seen[key] == 0 {
		s.load = spec{Callers: 2 * s.nodes * s.parallel, Duration: 3 * time.Second}
		s.processes, s.events = 1, nil
		r := row{scenario: s, side: sideRaw}
		if err := r.run(ctx, c); err != nil {
			return 0, err
		}
		seen[key] = r.goodput()
	}
	return seen[key], nil
}

// least is how long the scenario must run to show a recovery of ten bins.
func (s scenario) least() time.Duration {
	if len(s.events) == 0 {
		return 0
	}
	return s.events[len(s.events)-1].at + 25*bin
}

func (s scenario) sides() []row {
	rows := []row{{scenario: s, side: sideRaw}}
	for _, n := range s.counters {
		rows = append(rows, row{scenario: s, side: sideCounter, limit: n})
	}
	rows = append(rows, row{scenario: s, side: sideSpillway})
	if s.sized > 0 {
		rows = append(rows, row{scenario: s, side: sideSpillway, limit: s.sized}, row{scenario: s, side: sideAdaptive})
	}
	return rows
}

// run makes the load of one side, and lets happen what is to happen to the cluster.
func (r *row) run(ctx context.Context, c *cluster) error {
	if c.process != nil {
		if err := c.order(order{Do: "start", Nodes: r.nodes}); err != nil {
			return err
		}
	}
	children, err := r.clients(ctx, c.hosts)
	if err != nil {
		return err
	}
	if r.capacity > 0 { // after the clients have written their records
		for i := range r.nodes {
			if err := c.order(order{Do: "slow", Node: i, Parallel: r.parallel, Service: r.service}); err != nil {
				return err
			}
		}
	}
	begin := time.Now()
	for _, child := range children {
		if err := child.send("go"); err != nil {
			return err
		}
	}
	for _, e := range r.events {
		select {
		case <-time.After(time.Until(begin.Add(e.at))):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := c.order(e.order); err != nil {
			return err
		}
	}
	for _, child := range children {
		var res result
		if err := child.receive(&res); err != nil {
			return err
		}
		r.results = append(r.results, res)
		if err := child.end(); err != nil {
			return err
		}
	}
	return nil
}

// clients starts the processes that make the load, each with its part of it, and returns
// when all are ready.
func (r *row) clients(ctx context.Context, hosts []string) ([]*child, error) {
	s := r.load
	s.Hosts, s.Side = hosts, r.side
	switch {
	case r.side == sideCounter:
		s.Limit = max(1, r.limit/r.processes)
	case r.limit > 0:
		s.Limit = r.limit
	}
	s.Callers /= r.processes
	s.Rate /= float64(r.processes)
	var all []*child
	for range r.processes {
		c, err := start(ctx, "client")
		if err != nil {
			return nil, err
		}
		if err := c.send(s); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	for _, c := range all {
		var word string
		if err := c.receive(&word); err != nil {
			return nil, err
		}
	}
	return all, nil
}
