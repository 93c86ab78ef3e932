package command

import (
	"bytes"
	"errors"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/jobs"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// An Executor carries out commands one after the other, with scratch memory
// that is kept between them.
type Executor struct {
	cat *Catalog
	run Run
	sub wire.Message // an item of a batch

	digests []store.Digest // of a scan
	places  []place        // likewise
	job     *jobs.Job      // likewise

	// Refuses, unless nil, says whether the node does not serve a partition, for
	// reads or for writes.
	Refuses func(partition int, writes bool) bool
	// Permit, unless nil, says whether the user may do what a message for one
	// record asks for.
	Permit func(m *wire.Message) wire.Code
	// Done, unless nil, is closed when commands are to end, as nobody is there to be answered:
	// those of many records, and lists of operations, look at it on their way.
	Done <-chan struct{}
	// internal is set for the work of a background job, which takes records as it finds
	// them and makes none.
	internal bool
	// guard, unless nil, is a condition that a record must meet to be changed.
	guard func(*store.Record) bool
}

// NewExecutor returns an executor for one connection.
func NewExecutor(c *Catalog) *Executor { return &Executor{cat: c} }

// Single carries out a command on one record and appends its answer, a message
// without a frame, to out. index is the record's place in a batch. A code other
// than OK leaves the record's bins as they were.
func (e *Executor) Single(m *wire.Message, out []byte, index uint32) ([]byte, wire.Code) {
	at := len(out)
	h := wire.Header{Index: index}
	e.run = Run{Bins: e.run.Bins[:0], clock: e.cat.Clock, done: e.Done, msg: m, out: wire.AppendHeader(out, h)}
	h.Code = e.single(m, &h)
	out, e.run.out = e.run.out, nil
	if h.Code != wire.OK && h.Code != wire.UDFError { // which has a text
		out = out[:at+wire.HeaderSize]
	} else {
		h.Ops = e.run.ops
	}
	wire.SetHeader(out, at, h)
	e.forget()
	return out, h.Code
}

// errEnded ends a command because the executor is done.
var errEnded = errors.New("command: nobody is there to be answered")

func (e *Executor) ended() bool { return isClosed(e.Done) }

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Forget lets go of the last batch, whose bytes the executor otherwise keeps until the
// next.
func (e *Executor) Forget() { e.sub = wire.Message{} }

// forget lets go of the values of the last command, but not of the memory for
// the next, if that is not much.
func (e *Executor) forget() {
	clear(e.run.Bins)
	e.run.rec, e.run.msg = nil, nil
	if cap(e.run.Bins) > 1024 {
		e.run.Bins = nil
	}
}

func (e *Executor) single(m *wire.Message, h *wire.Header) wire.Code {
	if e.Permit != nil {
		if c := e.Permit(m); c != wire.OK {
			return c
		}
	}
	ns := e.cat.Namespace(m.Namespace)
	switch {
	case ns == nil:
		return wire.InvalidNamespace
	case m.Digest == nil:
		return wire.Unsupported
	case len(m.Digest) != wire.DigestSize:
		return wire.ParameterError
	case e.refused(m):
		return wire.PartitionUnavailable
	case m.UDFPackage != nil:
		return e.call(ns, m, h)
	case m.Info2&wire.Info2Delete != 0:
		return e.delete(ns, m, h)
	case m.Info2&wire.Info2Write != 0:
		return e.write(ns, m, h)
	case m.Info1&wire.Info1Read != 0:
		return e.read(ns, m, h)
	}
	return wire.ParameterError
}

func (e *Executor) refused(m *wire.Message) bool {
	if e.Refuses == nil {
		return false
	}
	d := store.Digest(m.Digest)
	return e.Refuses(d.Partition(), m.Info2&wire.Info2Write != 0 || m.UDFPackage != nil)
}

// filter returns OK if there is no filter or the record passes it.
func (e *Executor) filter(m *wire.Message, r *store.Record) wire.Code {
	if e.guard != nil && !e.guard(r) {
		return wire.FilteredOut
	}
	if m.Filter == nil {
		return wire.OK
	}
	return e.cat.Filter(m.Filter, r)
}

func badName(op *wire.Op) bool {
	return len(op.Name) > wire.MaxBinName || bytes.IndexByte(op.Name, 0) >= 0
}

func (e *Executor) read(ns *store.Namespace, m *wire.Message, h *wire.Header) wire.Code {
	d := store.Digest(m.Digest)
	p := ns.Part(d.Partition())
	p.Lock()
	defer p.Unlock()
	rec := p.GetLocked(&d, ns.Clock)
	if rec == nil {
		return wire.NotFound
	}
	h.Generation = rec.Generation
	if !mayRead(m, rec) {
		return wire.ParameterError
	}
	touches, c := touchesOnRead(ns.Clock, rec, m.TTL)
	if c != wire.OK {
		return c
	}
	if touches { // after the answer, whatever that is: a real server does it on its own time
		defer touchOnRead(ns.Clock, rec)
	}
	if c := e.filter(m, rec); c != wire.OK {
		return c
	}
	if !sameKey(m, rec) {
		return wire.KeyMismatch
	}
	if c := e.readBins(m, rec); c != wire.OK {
		return c
	}
	h.VoidTime = rec.VoidTime(ns.Clock.Ahead(), wire.Epoch)
	return wire.OK
}

func (e *Executor) readBins(m *wire.Message, rec *store.Record) wire.Code {
	r := &e.run
	r.rec = rec
	r.all = m.Info2&wire.Info2RespondAllOps != 0
	switch {
	case m.Info1&wire.Info1NoBins != 0:
		return wire.OK
	case m.Info1&wire.Info1GetAll != 0:
		r.answerAll(rec.Bins)
		return wire.OK
	case len(m.Ops) == 0, len(m.Ops) > wire.MaxOps:
		return wire.ParameterError
	}
	r.Bins = append(r.Bins, rec.Bins...)
	for i := range m.Ops {
		op := &m.Ops[i]
		entry := &e.cat.Table[op.Code]
		if entry.Traits&Reads == 0 {
			return wire.ParameterError
		}
		if badName(op) {
			return wire.BinName
		}
		if c := r.do(entry.Do, op); c != wire.OK {
			return c
		}
	}
	return wire.OK
}

// mayRead reports whether a message to read or delete a record names its set, or none.
func mayRead(m *wire.Message, rec *store.Record) bool {
	return len(m.Set) == 0 || rec.Set == string(m.Set)
}

// sameKey reports whether the key of a message is the one that is stored, if both are
// there.
func sameKey(m *wire.Message, rec *store.Record) bool {
	return m.Key == nil || rec.Key == nil || bytes.Equal(m.Key, rec.Key)
}

// touchesOnRead reports whether a read is to touch a record: no more than percent is left of
// the time to live that it had at its last update.
func touchesOnRead(c *store.Clock, rec *store.Record, percent uint32) (bool, wire.Code) {
	switch {
	case rec.Expires == 0, percent == 0, percent == wire.TTLNoTouch:
		return false, wire.OK
	case percent > 100:
		return false, wire.ParameterError
	}
	return rec.Expires-c.Now() <= (rec.Expires-rec.Changed)/100*int64(percent), wire.OK
}

// touchOnRead gives a record that time to live again. It is an update, but for the
// generation.
func touchOnRead(c *store.Clock, rec *store.Record) {
	now := c.Now()
	rec.Expires += now - rec.Changed
	rec.Updated, rec.Changed = now-c.Ahead(), now
}

func (e *Executor) delete(ns *store.Namespace, m *wire.Message, h *wire.Header) wire.Code {
	if m.Info2&wire.Info2DurableDelete != 0 {
		return wire.EnterpriseOnly
	}
	d := store.Digest(m.Digest)
	p := ns.Part(d.Partition())
	p.Lock()
	defer p.Unlock()
	rec := p.GetLocked(&d, ns.Clock)
	if rec == nil {
		return wire.NotFound
	}
	h.Generation = rec.Generation
	if !mayRead(m, rec) {
		return wire.ParameterError
	}
	if c := generation(m, rec.Generation); c != wire.OK {
		return c
	}
	if c := e.filter(m, rec); c != wire.OK {
		return c
	}
	if !sameKey(m, rec) {
		return wire.KeyMismatch
	}
	p.DeleteLocked(&d)
	h.Generation = 0
	return wire.OK
}

// generation applies the generation policy to a record's generation, which is
// 0 for a record that isn't there.
func generation(m *wire.Message, g uint32) wire.Code {
	switch {
	case m.Info2&wire.Info2Generation != 0 && m.Generation != g,
		m.Info2&wire.Info2GenerationGT != 0 && m.Generation <= g:
		return wire.GenerationError
	}
	return wire.OK
}
