package lab

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway/benchmarks/lab/model"
	"github.com/spillway-go/spillway/benchmarks/lab/policy"
)

// run is a workload under way.
type run struct {
	w       *Workload
	start   time.Time
	nodes   []*model.Backend
	clients [][]policy.Client // by process and node
	record  *record
	idle    chan struct{} // closed when the last operation has ended
	pending atomic.Int64  // operations under way, and 1 while more may come
	peak    atomic.Int64  // of the operations under way
	work    [2]model.Work // at the beginning and the end of the judged window
}

// Run runs a workload with a policy and returns its figures. It must be called in a
// testing/synctest bubble, where it returns with nothing left running.
func Run(ctx context.Context, w Workload, p policy.Policy, seed uint64) *Figures {
	r := &run{w: &w, start: time.Now(), record: newRecord(&w), idle: make(chan struct{})}
	r.pending.Store(1)
	for i, cfg := range w.Nodes {
		cfg.Seed = seed*31 + uint64(i)
		r.nodes = append(r.nodes, model.New(cfg))
	}
	alone, heavy := w.alone()
	env := policy.Env{
		Slots: w.Nodes[0].Slots, Mean: w.Nodes[0].Mean, Alone: alone, Heavy: heavy, Clients: w.Clients, Attempts: max(w.Attempts, 1), Timeout: w.Timeout,
		Deadline: w.shortest(), Classes: w.classes(), Keys: w.keys(), Seed: seed,
	}
	for range w.Clients {
		var of []policy.Client
		for range w.Nodes {
			env.Seed++
			of = append(of, p.New(env))
		}
		r.clients = append(r.clients, of)
	}
	var all sync.WaitGroup
	for i := range w.Streams {
		start(&all, func() { r.generate(ctx, i, rand.New(rand.NewPCG(seed, uint64(i)+100))) })
	}
	start(&all, r.sample)
	all.Wait()
	r.leave()
	<-r.idle
	f := r.figures()
	for _, of := range r.clients {
		for _, c := range of {
			c.Close()
		}
	}
	for _, n := range r.nodes {
		n.Close()
	}
	return f
}

// start runs f on a goroutine of the group.
func start(g *sync.WaitGroup, f func()) {
	g.Go(func() {
		f()
	})
}

func (r *run) now() time.Duration { return time.Since(r.start) }

// generate has the calls of a stream arrive: a Poisson process whose rate changes in steps. At a
// step it is drawn anew, which a process without memory doesn't notice.
func (r *run) generate(ctx context.Context, stream int, rng *rand.Rand) {
	s := &r.w.Streams[stream]
	for at := time.Duration(0); at < r.w.Length; {
		rate := s.Rate.At(at)
		until := r.w.Length
		for _, step := range s.Rate {
			if step.At > at {
				until = min(until, step.At)
				break
			}
		}
		next := until
		if rate > 0 {
			next = at + time.Duration(rng.ExpFloat64()/rate*1e9)
		}
		if next >= until {
			at = until
			continue
		}
		at = next
		if d := at - r.now(); d > 0 {
			time.Sleep(d)
		}
		r.arrive(ctx, stream, at, rng)
	}
	if d := r.w.Length - r.now(); d > 0 {
		time.Sleep(d)
	}
}

// arrive starts a call.
func (r *run) arrive(ctx context.Context, stream int, at time.Duration, rng *rand.Rand) {
	s := &r.w.Streams[stream]
	node, client := rng.IntN(len(r.nodes)), rng.IntN(r.started(at))
	if s.Foreign {
		r.nodes[node].Offer(s.Deadline)
		return
	}
	call := model.Call{Cost: s.draw(rng, at)}
	if s.Key != nil {
		call.Key = s.Key(rng)
	}
	for now, peak := r.pending.Add(1)-1, r.peak.Load(); now > peak && !r.peak.CompareAndSwap(peak, now); {
		peak = r.peak.Load()
	}
	go r.operate(ctx, stream, client, node, at, call)
}

// started returns how many processes have started.
func (r *run) started(at time.Duration) int {
	if r.w.Stagger == 0 || at >= r.w.Stagger {
		return r.w.Clients
	}
	return 1 + int(float64(r.w.Clients-1)*float64(at)/float64(r.w.Stagger))
}

// operate is the life of a call.
func (r *run) operate(parent context.Context, stream, client, node int, at time.Duration, call model.Call) {
	defer r.leave()
	s := &r.w.Streams[stream]
	cc := &callContext{parent: parent, deadline: r.start.Add(at + s.Deadline)}
	defer cc.end()
	e := ended{stream: stream, client: client, meant: at}
	err := r.clients[client][node].Do(cc, policy.Call{Class: s.Class, Key: call.Key, Heavy: call.Cost > 1}, func(ctx context.Context) error {
		e.sends++
		r.record.send(r.now())
		return r.nodes[node].Send(ctx, call)
	})
	e.took = r.now() - at
	e.good = err == nil && e.took <= s.Deadline
	r.record.add(e)
}

// leave ends an operation, and the time in which more may come.
func (r *run) leave() {
	if r.pending.Add(-1) == 0 {
		close(r.idle)
	}
}

// sample looks at the limit and what is under way, once in each bin, and at the work when the
// window begins and ends.
func (r *run) sample() {
	for i := range r.record.bins {
		if d := time.Duration(i)*binWidth - r.now(); d > 0 {
			time.Sleep(d)
		}
		limit, inside := 0.0, 0
		for _, of := range r.clients {
			for _, c := range of {
				limit += c.Limit()
			}
		}
		for _, n := range r.nodes {
			inside += n.Inside()
		}
		b := &r.record.bins[i]
		r.record.mu.Lock()
		b.limit, b.inside, b.pending = limit, inside, int(r.pending.Load())-1
		r.record.mu.Unlock()
		at := time.Duration(i) * binWidth
		if at <= r.w.From {
			r.work[0] = r.total()
		}
		if at <= r.w.To {
			r.work[1] = r.total()
		}
	}
}

// total is the work of all nodes.
func (r *run) total() (sum model.Work) {
	for _, n := range r.nodes {
		w := n.Work()
		sum.Useful += w.Useful
		sum.Served += w.Served
		sum.Wasted += w.Wasted
		sum.Calls += w.Calls
	}
	return sum
}
