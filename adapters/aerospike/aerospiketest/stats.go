package aerospiketest

import (
	"sync/atomic"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Stats are the counters of a node or of all. They are a snapshot: each number
// is right, but they may be of slightly different times. The zero value is that
// of a server that was never used.
type Stats struct {
	OpenConns     int    // connections that are open now
	PeakConns     int    // most connections open at a time
	AcceptedConns uint64 // connections accepted in all, those refused at once too

	InFlight     int // data commands that have been read and not yet answered
	PeakInFlight int

	Commands map[Kind]uint64 // commands read, by kind (of one bit)
	Results  map[Code]uint64 // answers to data commands, and to each record of a batch
	BytesIn  uint64
	BytesOut uint64
}

// Count returns the number of commands of the kinds of a set. Zero means
// [KindsData].
func (s Stats) Count(k Kind) uint64 {
	if k == 0 {
		k = KindsData
	}
	n := uint64(0)
	for kind, c := range s.Commands {
		if kind&k != 0 {
			n += c
		}
	}
	return n
}

// A gauge is a number with its highest value.
type gauge struct{ now, peak atomic.Int64 }

func (g *gauge) up() {
	n := g.now.Add(1)
	for {
		p := g.peak.Load()
		if n <= p || g.peak.CompareAndSwap(p, n) {
			return
		}
	}
}

func (g *gauge) down() { g.now.Add(-1) }

// counters are what Stats is made of.
type counters struct {
	conns, flight     gauge
	accepted, in, out atomic.Uint64
	kinds             [kindCount]atomic.Uint64
	codes             [256]atomic.Uint64
}

func (c *counters) snapshot() Stats {
	s := Stats{
		OpenConns: int(c.conns.now.Load()), PeakConns: int(c.conns.peak.Load()), AcceptedConns: c.accepted.Load(),
		InFlight: int(c.flight.now.Load()), PeakInFlight: int(c.flight.peak.Load()),
		BytesIn: c.in.Load(), BytesOut: c.out.Load(),
		Commands: make(map[Kind]uint64), Results: make(map[Code]uint64),
	}
	for i := range c.kinds {
		if n := c.kinds[i].Load(); n > 0 {
			s.Commands[1<<i] = n
		}
	}
	for i := range c.codes {
		if n := c.codes[i].Load(); n > 0 {
			s.Results[Code(i)] = n
		}
	}
	return s
}

// meters are the counters that an event is counted in: the node's and the
// server's.
type meters struct{ node, all *counters }

func (m meters) each(f func(*counters)) {
	f(m.node)
	f(m.all)
}

func (m meters) result(c wire.Code) {
	m.node.codes[c].Add(1)
	m.all.codes[c].Add(1)
}

func (m meters) kind(k Kind) {
	m.node.kinds[k.index()].Add(1)
	m.all.kinds[k.index()].Add(1)
}
