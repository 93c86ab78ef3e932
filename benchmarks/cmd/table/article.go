package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/group"
	"github.com/spillway-go/spillway/lane"
)

// The founding article's own cases, on this server: many writes with a limit of 20, a few
// long simulations with a limit of 4, and the memory of a great many tasks.
const (
	writes       = 10_000
	writeLimit   = 20
	writeTime    = 2 * time.Millisecond
	sims         = 500
	simLimit     = 4
	simTime      = 8 * time.Millisecond
	tasks        = 2_700_000
	tasksAtOnce  = 200_000 // as many as a machine of this size bears at once
	mostOverhead = 1.2

	writePatience = 500 * time.Millisecond
	simPatience   = 400 * time.Millisecond
)

// tale is one way to do one of the article's cases.
type tale struct {
	work, how     string
	wall          time.Duration
	of            float64 // the wall clock of the case's first, as a ratio; 0: it is the first
	done, failed  int64
	goroutines    int
	memory        float64 // MB
	budget        string
	judged, fails bool
}

func (t tale) row() string {
	of, verdict := "", ""
	if t.of > 0 {
		of = fmt.Sprintf("%+.0f %%", 100*(t.of-1))
	}
	if t.judged {
		verdict = (&line{judged: true, missed: t.fails}).result()
	}
	return fmt.Sprintf("| %s | %s | %v | %s | %d | %d | %d | %.0f MB | %s | %s |\n",
		t.work, t.how, t.wall.Round(time.Millisecond), of, t.done, t.failed, t.goroutines, t.memory, t.budget, verdict)
}

// article runs the cases.
func article(o *opened, _ int, r *report) error {
	for _, tell := range []func(*opened, *report) error{tellWrites, tellSims, tellDriver, tellTasks} {
		if err := tell(o, r); err != nil {
			return err
		}
	}
	return nil
}

// tellWrites has the pool of the standard library, of as many connections as the database
// serves at once. A caller has so much patience, which the one at the end of ten thousand
// would need more of.
func tellWrites(o *opened, r *report) error {
	write := func(o *opened, patience time.Duration) (task, error) {
		db := database(o, writeTime, writeLimit)
		return func(ctx context.Context, _ int) error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			_, err := db.ExecContext(ctx, "write")
			return err
		}, nil
	}
	return tell(o, r, story{
		work: fmt.Sprintf("%d writes, pool of %d", writes, writeLimit), n: writes, limit: writeLimit,
		patience: writePatience, do: write,
	})
}

// tellSims has a node that does four simulations at once, over the network, and as many
// connections as callers.
func tellSims(o *opened, r *report) error {
	simulate := func(o *opened, patience time.Duration) (task, error) {
		client, err := backend(o, simLimit, simTime, sims+16)
		if err != nil {
			return nil, err
		}
		policy := as.NewPolicy()
		policy.TotalTimeout, policy.SocketTimeout, policy.MaxRetries = patience, patience, 0
		return func(_ context.Context, i int) error {
			key, err := newKey(i)
			if err != nil {
				return err
			}
			_, failure := client.Exists(policy, key)
			return asError(failure)
		}, nil
	}
	return tell(o, r, story{
		work: fmt.Sprintf("%d simulations", sims), n: sims, limit: simLimit, patience: simPatience, do: simulate,
	})
}

// story is a case with a backend.
type story struct {
	work     string
	n, limit int
	patience time.Duration // what a caller has of it, in practice
	// do makes a backend, for one way alone, and closed before the next one begins: abandoned
	// work would be in that one's way, and the backend's goroutines would be counted.
	do func(o *opened, patience time.Duration) (task, error)
}

// task does the work number i.
type task func(ctx context.Context, i int) error

// tell has it done without a limit by callers who wait for ever, which shows what the
// backend can do; without a limit in practice; and with one.
func tell(o *opened, r *report, s story) error {
	with := func(patience time.Duration, run func(*opened, task) (tale, error)) (told tale, err error) {
		err = o.scope(func(o *opened) error {
			t, err := s.do(o, patience)
			if err != nil {
				return err
			}
			told, err = run(o, t)
			return err
		})
		return told, err
	}
	first, err := with(time.Minute, func(o *opened, t task) (tale, error) {
		return unbounded(o, s.work, "all at once, callers that wait for ever", s.n, t), nil
	})
	if err != nil {
		return err
	}
	lost, err := with(s.patience, func(o *opened, t task) (tale, error) {
		return unbounded(o, s.work, fmt.Sprintf("all at once, time-out %v", s.patience), s.n, t), nil
	})
	if err != nil {
		return err
	}
	ours, err := with(s.patience, func(o *opened, t task) (tale, error) {
		return bounded(o, s.work, fmt.Sprintf("`group.Each`, limit %d, time-out %v", s.limit, s.patience), s.n, s.limit, t)
	})
	if err != nil {
		return err
	}
	lost.of = float64(lost.wall) / float64(first.wall)
	ours.against(first)
	r.story = append(r.story, first, lost, ours)
	return nil
}

// tellDriver has the Aerospike driver with a pool of 64 connections before a node that
// serves 20 commands at once. Who finds no connection looks for one until his time is up.
func tellDriver(o *opened, r *report) error {
	put := func(o *opened) (task, error) {
		client, err := backend(o, writeLimit, writeTime, 64)
		if err != nil {
			return nil, err
		}
		policy := as.NewWritePolicy(0, 0)
		policy.TotalTimeout, policy.SocketTimeout = time.Second, time.Second
		return func(_ context.Context, i int) error {
			key, err := newKey(i)
			if err != nil {
				return err
			}
			return asError(client.Put(policy, key, as.BinMap{"a": i}))
		}, nil
	}
	work := fmt.Sprintf("%d writes, Aerospike driver", writes)
	var lost, ours tale
	err := o.scope(func(o *opened) error {
		alone, err := put(o)
		if err == nil {
			lost = unbounded(o, work, "all at once, time-out 1s", writes, alone)
		}
		return err
	})
	if err != nil {
		return err
	}
	err = o.scope(func(o *opened) error {
		limited, err := put(o)
		if err == nil {
			ours, err = bounded(o, work, "`group.Each`, limit 20, time-out 1s", writes, writeLimit, limited)
		}
		return err
	})
	if err != nil {
		return err
	}
	ours.budget, ours.judged, ours.fails = "none failed", true, ours.failed > 0
	r.story = append(r.story, lost, ours)
	return nil
}

// backend is a server that serves so many commands at once, each for so long, and the
// driver's client with a pool of so many connections.
func backend(o *opened, parallel int, each time.Duration, pool int) (*as.Client, error) {
	server, err := aerospiketest.Start(aerospiketest.Config{Capacity: aerospiketest.Capacity{
		Parallel: parallel, ServiceTime: each, Queue: 1 << 20,
	}})
	if err != nil {
		return nil, err
	}
	o.onClose(func() error { server.Close(); return nil })
	return dial(o, server, pool)
}

// tellTasks has no backend: what it costs to have tasks is all that there is.
func tellTasks(o *opened, r *report) error {
	work := func(context.Context, int) error { runtime.Gosched(); return nil }
	gate := make(chan struct{}, writeLimit)
	first := unbounded(o, fmt.Sprintf("%d tasks", tasksAtOnce), "a goroutine each, 20 at work", tasksAtOnce, func(ctx context.Context, i int) error {
		gate <- struct{}{}
		defer func() { <-gate }()
		return work(ctx, i)
	})
	ours, err := bounded(o, fmt.Sprintf("%d tasks", tasks), "`group.Each`, limit 20", tasks, writeLimit, work)
	if err != nil {
		return err
	}
	ours.budget = "less memory than the first"
	ours.judged, ours.fails = true, ours.failed > 0 || ours.memory >= first.memory
	r.story = append(r.story, first, ours)
	return nil
}

// against judges a tale by the first of its case.
func (t *tale) against(first tale) {
	t.of = float64(t.wall) / float64(first.wall)
	t.budget = fmt.Sprintf("≤ %+.0f %%, none failed", 100*(mostOverhead-1))
	t.judged, t.fails = true, t.of > mostOverhead || t.failed > 0
}

// unbounded starts a goroutine for each of n tasks.
func unbounded(o *opened, work, how string, n int, f task) tale {
	var failed atomic.Int64
	g := watchProcess()
	began := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if f(o.ctx, i) != nil {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	t := tale{work: work, how: how, wall: time.Since(began), done: int64(n) - failed.Load(), failed: failed.Load()}
	t.goroutines, t.memory = g.end()
	return t
}

// bounded has a permit for each task before it has a goroutine.
func bounded(o *opened, work, how string, n, limit int, f task) (tale, error) {
	l, err := lane.New[int](lane.Config{Name: "article", Limit: limit, MaxWaiting: 1, MaxWait: time.Minute})
	if err != nil {
		return tale{}, err
	}
	g := watchProcess()
	began := time.Now()
	stats, err := group.Each(o.ctx, l, group.Config{Name: "article"}, upTo(n), f)
	var failures *group.Error
	if err != nil && !errors.As(err, &failures) {
		return tale{}, err
	}
	t := tale{work: work, how: how, wall: time.Since(began), done: int64(stats.Succeeded())}
	t.failed = int64(n) - t.done
	t.goroutines, t.memory = g.end()
	return t, nil
}

// upTo yields the numbers below n.
func upTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}
