package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// The budget of an adapter's call over the driver's, and of an observer.
const (
	mostExtra       = time.Microsecond
	mostExtraAllocs = 2
	leastThroughput = 0.98
)

// sockets is the load of one caller on a connection: a stretch is some hundred calls.
func sockets() mode { return mode{name: "serial", callers: 1, chunk: 5 * time.Millisecond} }

// crowdedSockets is that of 32 readers, which is the adapter's default limit.
func crowdedSockets() mode {
	return mode{name: "32 callers", callers: aerospike.DefaultLimit, chunk: 40 * time.Millisecond}
}

// adapter is what the adapter's calls cost over the driver's, on the same server and the
// same connections. A call takes a hundred times as long as what is looked for, so it is
// looked for in pairs: each short stretch of the one is compared with that of the other
// next to it, and the median of the differences counts.
func adapter(o *opened, rounds int, r *report) error {
	rig, err := newRig(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(o.ctx, time.Hour)
	defer cancel()
	rawGet, rawPut := rig.rawGet(), rig.rawPut()
	get, observed := rig.get(ctx, rig.client), rig.get(ctx, rig.observed)
	for _, w := range []work{rawGet, get} {
		crowdedSockets().run(w, 64*aerospike.DefaultLimit) // opens the connections
	}
	one, all := sockets(), crowdedSockets()
	r.lines = append(r.lines,
		inPairs("adapter `Get`", "driver `Get`", get, rawGet, one, 5*rounds).extra(mostExtraAllocs),
		inPairs("adapter `Put`", "driver `Put`", rig.put(ctx), rawPut, one, 5*rounds).extra(mostExtraAllocs),
		inPairs("adapter `Get`", "driver `Get`", get, rawGet, all, 2*rounds).throughput(),
		inPairs("adapter `Get`, observer that counts", "adapter `Get`", observed, get, one, 5*rounds).extra(0),
	)
	return rig.err()
}

// rig is a server in the process, the driver's client, and two of ours around it.
type rig struct {
	driver           *as.Client
	client, observed *aerospike.Client
	key              *as.Key
	read             *as.BasePolicy
	write            *as.WritePolicy
	bins             as.BinMap
	failed           atomic.Pointer[error] // the first error of any call: nothing may fail here
}

func newRig(o *opened) (*rig, error) {
	server, err := aerospiketest.Start(aerospiketest.Config{})
	if err != nil {
		return nil, err
	}
	o.onClose(func() error { server.Close(); return nil })
	r := &rig{read: as.NewPolicy(), write: as.NewWritePolicy(0, 0), bins: as.BinMap{"a": 1}}
	if r.driver, err = dial(o, server, 0); err != nil {
		return nil, err
	}
	if r.client, err = wrap(o, r.driver, aerospike.DefaultConfig()); err != nil {
		return nil, err
	}
	cfg := aerospike.DefaultConfig()
	cfg.Observer = &counter{}
	if r.observed, err = wrap(o, r.driver, cfg); err != nil {
		return nil, err
	}
	if r.key, err = newKey(1); err != nil {
		return nil, err
	}
	return r, asError(r.driver.Put(r.write, r.key, r.bins))
}

// dial connects the driver; a pool of zero is the driver's own default.
func dial(o *opened, server *aerospiketest.Server, pool int) (*as.Client, error) {
	policy := as.NewClientPolicy()
	if pool > 0 {
		policy.ConnectionQueueSize = pool
	}
	hosts, err := as.NewHosts(server.Hosts()...)
	if err != nil {
		return nil, err
	}
	client, err := as.NewClientWithPolicyAndHost(policy, hosts...)
	if err != nil {
		return nil, err
	}
	o.onClose(func() error { client.Close(); return nil })
	return client, nil
}

func wrap(o *opened, driver *as.Client, cfg aerospike.Config) (*aerospike.Client, error) {
	client, err := aerospike.Wrap(driver, cfg)
	if err != nil {
		return nil, err
	}
	o.onClose(func() error { return client.Close(o.ctx) })
	return client, nil
}

func newKey(n int) (*as.Key, error) {
	key, err := as.NewKey("test", "bench", n)
	return key, asError(err)
}

// asError keeps a nil as.Error from becoming an error that isn't nil.
func asError(err as.Error) error {
	if err == nil {
		return nil
	}
	return err
}

func (r *rig) note(err error) {
	if err != nil {
		r.failed.CompareAndSwap(nil, &err)
	}
}

func (r *rig) err() error {
	if err := r.failed.Load(); err != nil {
		return fmt.Errorf("a call failed: %w", *err)
	}
	return nil
}

func (r *rig) rawGet() work {
	return func(times int) {
		for range times {
			_, err := r.driver.Get(r.read, r.key)
			r.note(asError(err))
		}
	}
}

func (r *rig) rawPut() work {
	return func(times int) {
		for range times {
			r.note(asError(r.driver.Put(r.write, r.key, r.bins)))
		}
	}
}

func (r *rig) get(ctx context.Context, client *aerospike.Client) work {
	return func(times int) {
		for range times {
			_, err := client.Get(ctx, r.read, r.key)
			r.note(err)
		}
	}
}

func (r *rig) put(ctx context.Context) work {
	return func(times int) {
		for range times {
			r.note(r.client.Put(ctx, r.write, r.key, r.bins))
		}
	}
}

// counter is an observer that does as little as one can.
type counter struct{ begun, ended atomic.Uint64 }

// Begin implements spillway.Observer.
func (c *counter) Begin(ctx context.Context, _ spillway.Call) (context.Context, spillway.Observation) {
	c.begun.Add(1)
	return ctx, c
}

// End implements spillway.Observation.
func (c *counter) End(spillway.CallResult) { c.ended.Add(1) }

// pairs are two things measured next to each other again and again.
type pairs struct {
	line
	extraNS     float64 // the median of the differences
	ratios      float64 // the median of the ratios
	extraAllocs float64
}

// inPairs measures two things in turn. Which of them goes first changes every time.
func inPairs(what, against string, ours, its work, m mode, rounds int) *pairs {
	n := m.size(its)
	var a, b, differences, ratios []float64
	for round := range rounds {
		var x, y float64
		if round%2 == 0 {
			x, y = float64(m.run(ours, n)), float64(m.run(its, n))
		} else {
			y, x = float64(m.run(its, n)), float64(m.run(ours, n))
		}
		x, y = x/float64(n), y/float64(n)
		a, b = append(a, x), append(b, y)
		differences, ratios = append(differences, x-y), append(ratios, x/y)
	}
	oursAllocs, itsAllocs := m.countAllocs(ours), m.countAllocs(its)
	p := &pairs{extraNS: median(differences), ratios: median(ratios), extraAllocs: oursAllocs - itsAllocs}
	p.line = line{
		what: what, against: against, load: m.name, ours: median(a), its: median(b),
		ratio: times(p.ratios), allocs: count(oursAllocs) + " / " + count(itsAllocs),
	}
	return p
}

// extra judges what the one costs more than the other.
func (p *pairs) extra(mostAllocs int) line {
	p.ratio = fmt.Sprintf("%+.0f ns", p.extraNS)
	p.budget = fmt.Sprintf("≤ +%v, +%s", mostExtra, plural(mostAllocs))
	p.judge(p.extraNS <= float64(mostExtra))
	p.judge(allocates(p.extraAllocs, mostAllocs))
	return p.line
}

// throughput judges how many calls the one gets done for those of the other.
func (p *pairs) throughput() line {
	p.ratio = fmt.Sprintf("%.1f %% of the calls", 100/p.ratios)
	p.budget = fmt.Sprintf("≥ %.0f %%", 100*leastThroughput)
	p.judge(1/p.ratios >= leastThroughput)
	return p.line
}
