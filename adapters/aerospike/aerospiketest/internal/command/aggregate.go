package command

import (
	"errors"
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/jobs"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// errStopped ends a stream whose job was aborted.
var errStopped = errors.New("query was aborted")

// An aggregation is the state of a query whose records go through a function.
type aggregation struct {
	scan
	host *Host
	exec *Executor

	part  int         // the partition that is next
	at    int         // the place in exec.places that is next
	first *udf.Record // of the partition, until it was passed on
	err   error
}

// Aggregate carries out a query that sends what a function makes of the records of
// each partition that the host has and that has any: the client brings the parts
// together. The rest is as with [Executor.Scan].
func (e *Executor) Aggregate(m *wire.Message, host *Host, out []byte, sink Sink) ([]byte, wire.Code, error) {
	a := aggregation{scan: scan{stream: stream{sink: sink, out: out, at: -1}, ns: e.cat.Namespace(m.Namespace), m: m, left: limit(nil)}, host: host, exec: e}
	args, c := e.checkAggregate(&a.scan)
	if c == wire.OK {
		a.job = newJob(m, jobs.Aggregation, host, a.query)
		a.job.Partitions = store.Partitions
		if !host.Jobs.Start(a.job) {
			c = wire.ParameterError
		}
	}
	if c != wire.OK {
		return wire.AppendResult(a.out, wire.Header{Code: c}), c, nil
	}
	e.places = e.places[:0]
	err := e.functions().Stream(string(m.UDFPackage), string(m.UDFFunction), a.parts, args, a.emit)
	switch {
	case a.err != nil:
		host.Jobs.Finish(a.job, jobs.Unanswered)
		return a.out, wire.OK, a.err
	case a.job.Stopped():
		host.Jobs.Finish(a.job, jobs.Aborted)
		return a.last(wire.ScanAbort), wire.ScanAbort, nil
	case err != nil:
		host.Jobs.Finish(a.job, jobs.Failed)
		a.answer(binFailure, store.Value{Type: wire.ParticleString, Data: []byte(err.Error())})
		return a.last(wire.OK), wire.OK, nil
	}
	host.Jobs.Finish(a.job, jobs.OK)
	return a.last(wire.OK), wire.OK, nil
}

func (e *Executor) checkAggregate(s *scan) ([]any, wire.Code) {
	m := s.m
	args, ok := udf.Arguments(m.UDFArgs)
	switch {
	case s.ns == nil:
		return nil, wire.InvalidNamespace
	case m.Filter != nil: // nor by a real server
		return nil, wire.Unsupported
	case !ok, len(m.Set) > wire.MaxSetName:
		return nil, wire.ParameterError
	case len(m.Set) > 0 && !s.ns.HasSet(m.Set):
		return nil, wire.NotFound
	}
	var c wire.Code
	s.query, c = e.indexQuery(s.ns, m)
	return args, c
}

// stopped reports whether the stream is to end: because its job was aborted, or nobody
// is there to be answered.
func (a *aggregation) stopped() bool {
	if a.err == nil && a.exec.ended() {
		a.err = errEnded
	}
	return a.err != nil || a.job.Stopped()
}

// parts goes on to the next partition that has records, and returns them.
func (a *aggregation) parts() udf.Records {
	for ; a.part < store.Partitions && !a.stopped(); a.part++ {
		a.job.Visited.Add(1)
		if !a.host.Owns(a.part) {
			continue
		}
		a.exec.find(a.ns.Part(a.part), a.ns, a.query, nil)
		a.at = 0
		if a.first = a.next(); a.first != nil {
			a.part++
			return a.next
		}
	}
	return nil
}

// next returns the next record of the partition, or nil at its end.
func (a *aggregation) next() *udf.Record {
	if r := a.first; r != nil {
		a.first = nil
		return r
	}
	for a.at < len(a.exec.places) && !a.stopped() {
		d := a.exec.places[a.at].Digest
		a.at++
		if r := a.record(&d); r != nil {
			a.job.Succeeded.Add(1)
			return r
		}
	}
	return nil
}

// record returns a copy of a record that the query is for.
func (a *aggregation) record(d *store.Digest) *udf.Record {
	p := a.ns.Part(d.Partition())
	p.Lock()
	defer p.Unlock()
	rec := p.GetLocked(d, a.ns.Clock)
	if rec == nil || len(a.m.Set) > 0 && rec.Set != string(a.m.Set) {
		return nil
	}
	if a.query != nil {
		if _, ok := a.query.Match(rec); !ok {
			return nil
		}
	}
	return udf.NewRecord(headerOf(a.ns, rec), slices.Clone(rec.Bins))
}

// emit sends a value.
func (a *aggregation) emit(v any) error {
	if a.stopped() {
		return errStopped
	}
	value, err := udf.Result(v)
	if err != nil {
		return err
	}
	a.answer(binSuccess, value)
	if len(a.out) >= frameSize {
		a.err = a.flush()
	}
	return a.err
}

func (a *aggregation) answer(name string, v store.Value) {
	a.open()
	a.out = wire.AppendHeader(a.out, wire.Header{Ops: 1})
	a.out = wire.AppendOp(a.out, wire.OpRead, v.Type, name, v.Data)
}
