package command

import (
	"encoding/binary"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A scan is the state of one scan.
type scan struct {
	stream
	ns   *store.Namespace
	m    *wire.Message
	left uint64 // records that may still be sent
	each int    // records after which to flush, for the sake of pacing; 0 for no limit
}

// Scan carries out a scan of partitions. owns says which partitions the node
// serves; the others are answered as unavailable. The rest is as with
// [Executor.Batch].
func (e *Executor) Scan(m *wire.Message, owns func(int) bool, out []byte, sink Sink) ([]byte, wire.Code, error) {
	s := scan{stream: stream{sink: sink, out: out, at: -1}, ns: e.cat.Namespace(m.Namespace), m: m, left: limit(m.MaxRecords)}
	if c := e.checkScan(&s); c != wire.OK {
		return s.last(c), c, nil
	}
	if rps := RecordsPerSecond(m); rps > 0 {
		s.each = max(1, rps/20)
	}
	for i := 0; i < len(m.PIDs); i += 2 {
		pid := int(binary.LittleEndian.Uint16(m.PIDs[i:]))
		if c, err := e.scanPart(&s, pid, nil, owns); c != wire.OK || err != nil {
			return s.last(c), c, err
		}
	}
	for i := 0; i < len(m.Digests); i += wire.DigestSize {
		after := store.Digest(m.Digests[i:])
		if c, err := e.scanPart(&s, after.Partition(), &after, owns); c != wire.OK || err != nil {
			return s.last(c), c, err
		}
	}
	return s.last(wire.OK), wire.OK, nil
}

// limit reads the field of the number of records; 0 is no limit.
func limit(b []byte) uint64 {
	if len(b) == 8 {
		if n := binary.BigEndian.Uint64(b); n > 0 {
			return n
		}
	}
	return 1<<64 - 1
}

// RecordsPerSecond returns the rate a scan asks for; 0 is none.
func RecordsPerSecond(m *wire.Message) int {
	if len(m.RPS) != 4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(m.RPS))
}

func (e *Executor) checkScan(s *scan) wire.Code {
	m := s.m
	switch {
	case s.ns == nil:
		return wire.InvalidNamespace
	case len(m.Set) > wire.MaxSetName, len(m.PIDs)%2 != 0, len(m.Digests)%wire.DigestSize != 0:
		return wire.ParameterError
	case m.Info2&wire.Info2Write != 0, m.UDFOp != nil, m.UDFPackage != nil, m.IndexRange != nil:
		return wire.Unsupported // background work, aggregation, queries by index
	case m.PIDs == nil && m.Digests == nil:
		return wire.Unsupported // scans of whole nodes, which no current driver sends
	}
	for i := range m.Ops {
		if m.Ops[i].Code != wire.OpRead {
			return wire.Unsupported
		}
	}
	for i := 0; i < len(m.PIDs); i += 2 {
		if binary.LittleEndian.Uint16(m.PIDs[i:]) >= store.Partitions {
			return wire.ParameterError
		}
	}
	if m.Filter != nil {
		return e.cat.Filter(m.Filter, nil)
	}
	return wire.OK
}

// scanPart sends the records of a partition. The lock is taken for each record
// anew, so that a slow client doesn't hold it.
func (e *Executor) scanPart(s *scan, pid int, after *store.Digest, owns func(int) bool) (wire.Code, error) {
	if !owns(pid) {
		s.open()
		s.out = wire.AppendHeader(s.out, wire.Header{Info3: wire.Info3PartitionDone, Code: wire.PartitionUnavailable, Generation: uint32(pid)})
		return wire.OK, nil
	}
	p := s.ns.Part(pid)
	p.Lock()
	e.digests = p.DigestsLocked(e.digests[:0], after)
	p.Unlock()
	for i := range e.digests {
		if s.left == 0 {
			return wire.OK, nil
		}
		p.Lock()
		c := wire.OK
		if r := p.GetLocked(&e.digests[i], s.ns.Clock); r != nil {
			c = e.scanRecord(s, r)
		}
		p.Unlock()
		if c != wire.OK {
			return c, nil
		}
		if len(s.out) >= frameSize || s.each > 0 && s.records >= s.each {
			if err := s.flush(); err != nil {
				return wire.OK, err
			}
		}
	}
	return wire.OK, nil
}

// scanRecord appends a record, if it belongs to the answer.
func (e *Executor) scanRecord(s *scan, r *store.Record) wire.Code {
	if len(s.m.Set) > 0 && r.Set != string(s.m.Set) {
		return wire.OK
	}
	if s.m.Filter != nil {
		if c := e.cat.Filter(s.m.Filter, r); c != wire.OK {
			if c == wire.FilteredOut {
				return wire.OK
			}
			return c
		}
	}
	bare := s.m.Info1&wire.Info1NoBins != 0
	if !bare && len(s.m.Ops) > 0 && !hasAny(r, s.m.Ops) {
		return wire.OK // none of the bins that were asked for
	}
	s.open()
	at := len(s.out)
	h := wire.Header{Generation: r.Generation, VoidTime: r.VoidTime(s.ns.Clock.Ahead(), wire.Epoch), Fields: 2}
	b := wire.AppendHeader(s.out, h)
	b = wire.AppendFieldString(b, wire.FieldNamespace, s.ns.Name)
	b = wire.AppendField(b, wire.FieldDigest, r.Digest[:])
	if r.Set != "" {
		h.Fields++
		b = wire.AppendFieldString(b, wire.FieldSet, r.Set)
	}
	if len(r.Key) > 0 {
		h.Fields++
		b = wire.AppendField(b, wire.FieldKey, r.Key)
	}
	if !bare {
		b, h.Ops = appendBins(b, r, s.m.Ops)
	}
	s.out = b
	wire.SetHeader(s.out, at, h)
	s.records++
	s.left--
	return wire.OK
}

func hasAny(r *store.Record, ops []wire.Op) bool {
	for i := range ops {
		if store.Find(r.Bins, ops[i].Name) >= 0 {
			return true
		}
	}
	return false
}

// appendBins appends the bins that are asked for, or all.
func appendBins(b []byte, r *store.Record, ops []wire.Op) ([]byte, int) {
	n := 0
	if len(ops) == 0 {
		for i := range r.Bins {
			b = appendBin(b, &r.Bins[i])
			n++
		}
		return b, n
	}
	for i := range ops {
		if at := store.Find(r.Bins, ops[i].Name); at >= 0 {
			b = appendBin(b, &r.Bins[at])
			n++
		}
	}
	return b, n
}
