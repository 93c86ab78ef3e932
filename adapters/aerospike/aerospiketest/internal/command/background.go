package command

import (
	"bytes"
	"slices"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/jobs"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/sindex"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// maxBackgroundRPS is the highest rate a background job may ask for, as by default
// on a real server.
const maxBackgroundRPS = 10000

// A Background is a job that changes records and that goes on after its command
// was answered. It belongs to one goroutine.
type Background struct {
	Job *jobs.Job

	exec  *Executor
	host  *Host
	ns    *store.Namespace
	query *sindex.Query // nil is every record of the set
	each  wire.Message  // what is done to each record
	out   []byte
}

// Background checks a message and puts its job in the host's table. The caller
// must run the job, or finish it in the table.
func (e *Executor) Background(m *wire.Message, host *Host) (*Background, wire.Code) {
	ns := e.cat.Namespace(m.Namespace)
	switch {
	case ns == nil:
		return nil, wire.InvalidNamespace
	case len(m.Set) > wire.MaxSetName, m.Info1&wire.Info1Short != 0, RecordsPerSecond(m) > maxBackgroundRPS:
		return nil, wire.ParameterError
	case len(m.Set) > 0 && !ns.HasSet(m.Set):
		return nil, wire.NotFound
	}
	q, c := e.indexQuery(ns, m)
	if c != wire.OK {
		return nil, c
	}
	if c := e.checkWork(m); c != wire.OK {
		return nil, c
	}
	kind := jobs.BackgroundOps
	if m.UDFPackage != nil {
		kind = jobs.BackgroundUDF
	}
	b := &Background{Job: newJob(m, kind, host, q), exec: &Executor{cat: e.cat, Done: e.Done, internal: true}, host: host, ns: ns, query: q, each: workOn(m)}
	b.Job.Partitions = store.Partitions
	if q != nil {
		b.exec.guard = func(r *store.Record) bool {
			_, ok := q.Match(r)
			return ok
		}
	}
	if !host.Jobs.Start(b.Job) {
		return nil, wire.ParameterError
	}
	return b, wire.OK
}

// checkWork looks at what a job is to do with each record.
func (e *Executor) checkWork(m *wire.Message) wire.Code {
	if m.Filter != nil {
		if c := e.cat.Filter(m.Filter, nil); c != wire.OK {
			return c
		}
	}
	if m.UDFPackage != nil {
		return wire.OK // one that isn't there fails record by record
	}
	if m.Info1&wire.Info1Read != 0 || len(m.Ops) == 0 {
		return wire.ParameterError
	}
	for i := range m.Ops {
		entry := &e.cat.Table[m.Ops[i].Code]
		if entry.Traits&Reads != 0 || entry.Check != nil && !entry.Check(&m.Ops[i]) {
			return wire.ParameterError
		}
	}
	return wire.OK
}

// workOn returns the message for a single record, with bytes of its own. Records
// that are gone meanwhile are not made again.
func workOn(m *wire.Message) wire.Message {
	w := wire.Message{
		Info2:     wire.Info2Write | m.Info2&wire.Info2DurableDelete,
		TTL:       m.TTL,
		Namespace: bytes.Clone(m.Namespace), Set: bytes.Clone(m.Set), Filter: bytes.Clone(m.Filter),
		UDFPackage: bytes.Clone(m.UDFPackage), UDFFunction: bytes.Clone(m.UDFFunction), UDFArgs: bytes.Clone(m.UDFArgs),
		Ops: slices.Clone(m.Ops),
	}
	if m.UDFPackage == nil {
		w.Info3 = wire.Info3UpdateOnly | m.Info3&wire.Info3ReplaceOnly
	}
	for i := range w.Ops {
		w.Ops[i].Name, w.Ops[i].Data = bytes.Clone(w.Ops[i].Name), bytes.Clone(w.Ops[i].Data)
	}
	return w
}

// Run goes through the partitions that the host has, and ends the job in the
// host's table. It ends early when done is closed.
func (b *Background) Run(done <-chan struct{}) {
	result := jobs.Failed // as it stays if a function ends the goroutine
	defer func() { b.host.Jobs.Finish(b.Job, result) }()
	for pid := range store.Partitions {
		b.Job.Visited.Add(1)
		if !b.host.Owns(pid) {
			continue
		}
		if !b.part(b.ns.Part(pid), done) {
			return
		}
	}
	result = jobs.OK
}

// pause waits for a time. It reports whether to go on.
func (b *Background) pause(d time.Duration, done <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-b.Job.Aborted():
		return false
	case <-done:
		return false
	case <-t.C:
	}
	return true
}

// goOn reports whether the job has not been ended.
func (b *Background) goOn(done <-chan struct{}) bool {
	select {
	case <-b.Job.Aborted():
		return false
	case <-done:
		return false
	default:
		return true
	}
}

// part works on a partition. It reports whether to go on.
func (b *Background) part(p *store.Partition, done <-chan struct{}) bool {
	e := b.exec
	e.find(p, b.ns, b.query, nil)
	for i := range e.places {
		if !b.goOn(done) {
			return false
		}
		d := e.places[i].Digest
		p.Lock()
		r := p.GetLocked(&d, b.ns.Clock)
		mine := r != nil && (len(b.each.Set) == 0 || r.Set == string(b.each.Set))
		p.Unlock()
		if !mine {
			continue
		}
		if b.Job.RPS > 0 {
			b.Job.Throttled.Add(1)
			if !b.pause(time.Second/time.Duration(b.Job.RPS), done) {
				return false
			}
		}
		m := b.each
		m.Digest = d[:]
		var c wire.Code
		b.out, c = e.Single(&m, b.out[:0], 0)
		switch c {
		case wire.OK:
			b.Job.Succeeded.Add(1)
		case wire.FilteredOut, wire.NotFound:
			b.Job.Filtered.Add(1)
		default:
			b.Job.Failures.Add(1)
		}
	}
	return true
}
