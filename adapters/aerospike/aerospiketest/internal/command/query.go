package command

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/sindex"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A place is where a record stands in a partition: in a scan by its digest alone,
// in a query by the value it is found by and then by the digest.
type place struct {
	store.Digest
	value int64
}

// compare is the order of places. Digests go down, as in the partition.
func (a *place) compare(b *place) int {
	return cmp.Or(cmp.Compare(a.value, b.value), bytes.Compare(b.Digest[:], a.Digest[:]))
}

// find puts the places of a partition's records into e.places, in order, from the
// one that follows after. A record that is found by several values has one place,
// that of the lowest, so it is sent once, on whatever page.
func (e *Executor) find(p *store.Partition, ns *store.Namespace, q *sindex.Query, after *place) {
	e.places = e.places[:0]
	p.Lock()
	defer p.Unlock()
	if q == nil {
		var from *store.Digest
		if after != nil {
			from = &after.Digest
		}
		e.digests = p.DigestsLocked(e.digests[:0], from)
		for i := range e.digests {
			e.places = append(e.places, place{Digest: e.digests[i]})
		}
		return
	}
	e.digests = p.DigestsLocked(e.digests[:0], nil)
	for i := range e.digests {
		r := p.GetLocked(&e.digests[i], ns.Clock)
		if r == nil {
			continue
		}
		at := place{Digest: e.digests[i]}
		found := false
		if at.value, found = q.Match(r); found && (after == nil || at.compare(after) > 0) {
			e.places = append(e.places, at)
		}
	}
	slices.SortFunc(e.places, func(a, b place) int { return a.compare(&b) })
}

// checkScan looks at a scan or query and finds its index, in the order of the
// real server.
func (e *Executor) checkScan(s *scan) wire.Code {
	m := s.m
	switch {
	case s.ns == nil:
		return wire.InvalidNamespace
	case m.UDFOp != nil, m.UDFPackage != nil: // not as an aggregation
		return wire.Unsupported
	case m.Info3&wire.Info3PartitionDone == 0:
		return wire.Unsupported
	}
	if c := checkPlaces(m); c != wire.OK {
		return c
	}
	var c wire.Code
	if s.query, c = e.indexQuery(s.ns, m); c != wire.OK {
		return c
	}
	if m.Info1&wire.Info1NoBins == 0 {
		s.ops = m.Ops
		if m.QueryBins != nil {
			var ok bool
			if s.ops, ok = queryBins(m.QueryBins); !ok {
				return wire.ParameterError
			}
		}
	}
	for i := range s.ops {
		if s.ops[i].Code != wire.OpRead {
			return wire.Unsupported
		}
	}
	if m.Filter != nil {
		return e.cat.Filter(m.Filter, nil)
	}
	return wire.OK
}

// checkPlaces looks at the set and at the partitions and digests, of which each
// partition must be named once.
func checkPlaces(m *wire.Message) wire.Code {
	digests := len(m.Digests) / wire.DigestSize
	switch {
	case len(m.Set) > wire.MaxSetName, len(m.PIDs)%2 != 0, len(m.Digests)%wire.DigestSize != 0,
		m.PIDs != nil && len(m.PIDs) == 0, m.Digests != nil && digests == 0,
		m.BVals != nil && m.Digests == nil,
		m.IndexRange != nil && len(m.BVals) != 8*digests:
		return wire.ParameterError
	case m.PIDs == nil && m.Digests == nil:
		return wire.Unsupported // scans of whole nodes, as old drivers sent them
	}
	var seen [store.Partitions]bool
	twice := func(pid int) bool {
		was := pid >= store.Partitions || seen[pid]
		if !was {
			seen[pid] = true
		}
		return was
	}
	for i := 0; i < len(m.PIDs); i += 2 {
		if twice(int(binary.LittleEndian.Uint16(m.PIDs[i:]))) {
			return wire.ParameterError
		}
	}
	for i := 0; i < len(m.Digests); i += wire.DigestSize {
		d := store.Digest(m.Digests[i:])
		if twice(d.Partition()) {
			return wire.ParameterError
		}
	}
	return wire.OK
}

// indexQuery reads what a message asks of an index and finds the index; nil is
// nothing.
func (e *Executor) indexQuery(ns *store.Namespace, m *wire.Message) (*sindex.Query, wire.Code) {
	if m.IndexRange == nil {
		return nil, wire.OK
	}
	q, c := sindex.Parse(m)
	if c != wire.OK {
		return nil, c
	}
	if e.cat.Indexes == nil {
		return nil, wire.IndexNotFound
	}
	var x sindex.Index
	ok := false
	if q.Name != "" {
		x, ok = e.cat.Indexes.Get(ns.Name, q.Name)
		ok = ok && q.Use(x)
	} else {
		x, ok = e.cat.Indexes.Find(ns.Name, q.Definition)
	}
	if !ok {
		return nil, wire.IndexNotFound
	}
	q.Name = x.Name
	return q, wire.OK
}

// queryBins reads the names of bins in the form of old drivers.
func queryBins(b []byte) ([]wire.Op, bool) {
	if len(b) == 0 {
		return nil, false
	}
	ops := make([]wire.Op, 0, b[0])
	n, b := int(b[0]), b[1:]
	for range n {
		if len(b) == 0 || len(b) < 1+int(b[0]) {
			return nil, false
		}
		end := 1 + int(b[0])
		ops = append(ops, wire.Op{Code: wire.OpRead, Name: b[1:end]})
		b = b[end:]
	}
	return ops, true
}
