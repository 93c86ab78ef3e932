package command

import (
	"encoding/binary"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/jobs"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/sindex"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A Host is the node that scans, queries and jobs run on.
type Host struct {
	Owns func(partition int) bool // says which partitions the node has
	Jobs *jobs.Table
	From string // the client's address
}

// A scan is the state of a scan or a query.
type scan struct {
	stream
	ns    *store.Namespace
	m     *wire.Message
	ops   []wire.Op     // the bins that are asked for; none is all
	query *sindex.Query // nil for a scan
	job   *jobs.Job
	left  uint64 // records that may still be sent
	each  int    // records after which to flush, for the sake of pacing; 0 for no limit
}

// Scan carries out a scan or a query of partitions. Those that the host doesn't
// have are answered as unavailable. The rest is as with [Executor.Batch].
func (e *Executor) Scan(m *wire.Message, host *Host, out []byte, sink Sink) ([]byte, wire.Code, error) {
	s := scan{stream: stream{sink: sink, out: out, at: -1}, ns: e.cat.Namespace(m.Namespace), m: m, left: limit(m.MaxRecords)}
	c := e.checkScan(&s)
	if c == wire.OK {
		s.job = newJob(m, jobs.Basic, host, s.query)
		if !host.Jobs.Start(s.job) {
			c = wire.ParameterError
		}
	}
	if c != wire.OK {
		return wire.AppendResult(s.out, wire.Header{Code: c}), c, nil
	}
	if rps := RecordsPerSecond(m); rps > 0 {
		s.each = max(1, rps/20)
	}
	e.job = s.job
	c, err := e.scanParts(&s, host)
	e.job = nil
	switch {
	case err != nil:
		host.Jobs.Finish(s.job, jobs.Unanswered)
		return s.out, c, err
	case c != wire.OK:
		host.Jobs.Finish(s.job, jobs.Failed)
	default:
		host.Jobs.Finish(s.job, jobs.OK)
	}
	return s.last(c), c, nil
}

// Aborted returns a channel that is closed when the scan that is being carried out
// is to end. It is nil when there is none.
func (e *Executor) Aborted() <-chan struct{} {
	if e.job == nil {
		return nil
	}
	return e.job.Aborted()
}

// scanParts goes through the partitions that the message names.
func (e *Executor) scanParts(s *scan, host *Host) (wire.Code, error) {
	m := s.m
	for i := 0; i < len(m.PIDs); i += 2 {
		pid := int(binary.LittleEndian.Uint16(m.PIDs[i:]))
		if c, err := e.scanPart(s, pid, nil, host); c != wire.OK || err != nil {
			return c, err
		}
	}
	for i := 0; i < len(m.Digests); i += wire.DigestSize {
		after := &place{Digest: store.Digest(m.Digests[i:])}
		if s.query != nil {
			after.value = int64(binary.LittleEndian.Uint64(m.BVals[i/wire.DigestSize*8:]))
		}
		if c, err := e.scanPart(s, after.Partition(), after, host); c != wire.OK || err != nil {
			return c, err
		}
	}
	return wire.OK, nil
}

// newJob describes a scan or query to the table of jobs.
func newJob(m *wire.Message, kind string, host *Host, q *sindex.Query) *jobs.Job {
	j := &jobs.Job{
		ID: m.Job(), Kind: kind, Namespace: string(m.Namespace), Set: string(m.Set), From: host.From, RPS: RecordsPerSecond(m),
		SocketTimeout: m.SocketTimeout(), PIDs: len(m.PIDs) / 2, Digests: len(m.Digests) / wire.DigestSize,
	}
	j.Partitions = j.PIDs + j.Digests
	if q != nil {
		j.Index = q.Name
	}
	return j
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

// scanPart sends the records of a partition that follow a place. The lock is
// taken for each record anew, so that a slow client doesn't hold it.
func (e *Executor) scanPart(s *scan, pid int, after *place, host *Host) (wire.Code, error) {
	s.job.Visited.Add(1)
	switch {
	case s.job.Stopped():
		return wire.ScanAbort, nil
	case e.ended():
		return wire.OK, errEnded
	}
	if !host.Owns(pid) {
		s.open()
		s.out = wire.AppendHeader(s.out, wire.Header{Info3: wire.Info3PartitionDone, Code: wire.PartitionUnavailable, Generation: uint32(pid)})
		return wire.OK, nil
	}
	p := s.ns.Part(pid)
	e.find(p, s.ns, s.query, after)
	for i := range e.places {
		switch {
		case s.left == 0:
			return wire.OK, nil
		case e.ended():
			return wire.OK, errEnded
		}
		p.Lock()
		c := wire.OK
		if r := p.GetLocked(&e.places[i].Digest, s.ns.Clock); r != nil {
			c = e.scanRecord(s, r)
		}
		p.Unlock()
		if c != wire.OK {
			return c, nil
		}
		if len(s.out) >= frameSize || s.each > 0 && s.records >= s.each {
			s.job.NetBytes.Add(int64(len(s.out)))
			if err := s.flush(); err != nil {
				return wire.OK, err
			}
			if s.job.Stopped() {
				return wire.ScanAbort, nil
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
	var value int64
	if s.query != nil {
		var found bool
		if value, found = s.query.Match(r); !found {
			return wire.OK
		}
	}
	if s.m.Filter != nil {
		if c := e.cat.Filter(s.m.Filter, r); c != wire.OK {
			if c == wire.FilteredOut {
				s.job.Filtered.Add(1)
				return wire.OK
			}
			return c
		}
	}
	s.job.Succeeded.Add(1)
	s.left-- // even if there is nothing of it to send
	bare := s.m.Info1&wire.Info1NoBins != 0
	if !bare && len(s.ops) > 0 && !hasAny(r, s.ops) {
		return wire.OK // none of the bins that were asked for
	}
	s.appendRecord(r, value, bare)
	s.records++
	return wire.OK
}

// appendRecord appends a record and, for a query, the value by which it was
// found.
func (s *scan) appendRecord(r *store.Record, value int64, bare bool) {
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
	if s.query != nil {
		h.Fields++
		b = wire.AppendFieldLittle(b, wire.FieldBValArray, value)
	}
	if !bare {
		b, h.Ops = appendBins(b, r, s.ops)
	}
	s.out = b
	wire.SetHeader(s.out, at, h)
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
