package command

import (
	"bytes"
	"slices"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

const (
	replaces = wire.Info3CreateOrReplace | wire.Info3ReplaceOnly
	onlyOld  = wire.Info3UpdateOnly | wire.Info3ReplaceOnly
	maxGen   = 0xffff // generations have 16 bits and start again at 1
)

// write carries out operations of which at least one may write.
func (e *Executor) write(ns *store.Namespace, m *wire.Message, h *wire.Header) wire.Code {
	create, c := e.check(m)
	if c != wire.OK {
		return c
	}
	d := store.Digest(m.Digest)
	p := ns.Part(d.Partition())
	p.Lock()
	defer p.Unlock()
	rec := p.GetLocked(&d, ns.Clock)
	if rec != nil {
		h.Generation = rec.Generation
	}
	if c := e.admit(m, rec, create); c != wire.OK {
		return c
	}
	r := &e.run
	r.rec, r.writes = rec, true
	r.all = m.Info2&wire.Info2RespondAllOps != 0
	r.whole = m.Info1&wire.Info1GetAll != 0
	r.bare = m.Info1&wire.Info1NoBins != 0
	if rec != nil && m.Info3&replaces == 0 {
		r.Bins = append(r.Bins, rec.Bins...)
	}
	for i := range m.Ops {
		if c := r.do(e.cat.Table[m.Ops[i].Code].Do, &m.Ops[i]); c != wire.OK {
			return c
		}
	}
	if len(r.Bins) == 0 {
		return dropEmpty(p, m, &d, rec, h)
	}
	return e.apply(ns, p, m, &d, rec, h)
}

// dropEmpty ends a write that left no bins: the record is deleted.
func dropEmpty(p *store.Partition, m *wire.Message, d *store.Digest, rec *store.Record, h *wire.Header) wire.Code {
	switch {
	case rec == nil:
		return wire.NotFound
	case m.Info2&wire.Info2DurableDelete != 0:
		return wire.EnterpriseOnly
	}
	p.DeleteLocked(d)
	h.Generation = 0
	return wire.OK
}

// check looks at the operations before the record is looked up. create says
// whether they may make a new record.
func (e *Executor) check(m *wire.Message) (create bool, c wire.Code) {
	if len(m.Ops) == 0 || len(m.Ops) > wire.MaxOps || len(m.Set) > wire.MaxSetName {
		return false, wire.ParameterError
	}
	create = true
	reads, named := 0, false
	for i := range m.Ops {
		op := &m.Ops[i]
		traits := e.cat.Table[op.Code].Traits
		if traits&Reads != 0 {
			reads++
			named = named || op.Code != wire.OpRead || len(op.Name) != 0
			if m.Info1&wire.Info1Read == 0 {
				return false, wire.ParameterError
			}
		}
		named = named || op.Code == wire.OpCDTModify || op.Code == wire.OpHLLModify // may have an answer
		if badName(op) {
			return false, wire.BinName
		}
		if m.Info3&replaces != 0 && (traits&Changes != 0 || op.Code == wire.OpWrite && op.Particle == wire.ParticleNull) {
			return false, wire.ParameterError
		}
		create = create && traits&Exists == 0
	}
	// Next to a write, a read of the whole record must be the only answer.
	if m.Info1&wire.Info1GetAll != 0 && (reads > 1 || named || m.Info2&wire.Info2RespondAllOps != 0) {
		return false, wire.ParameterError
	}
	return create, wire.OK
}

// admit applies the record-exists and generation policies, set, filter and key, and
// refuses a time to live that is none, and operations that don't exist: those are found only now, as the answer
// of the real server shows the record's generation.
func (e *Executor) admit(m *wire.Message, rec *store.Record, create bool) wire.Code {
	if rec == nil {
		if !create || m.Info3&onlyOld != 0 {
			return wire.NotFound
		}
		if c := generation(m, 0); c != wire.OK {
			return c
		}
	} else {
		if m.Info2&wire.Info2CreateOnly != 0 {
			return wire.RecordExists
		}
		if c := generation(m, rec.Generation); c != wire.OK {
			return c
		}
		switch c := e.mayWrite(m, rec); {
		case c != wire.OK:
			return c
		case !sameKey(m, rec):
			return wire.KeyMismatch
		}
	}
	if !validTTL(m.TTL) {
		return wire.ParameterError
	}
	for i := range m.Ops {
		if e.cat.Table[m.Ops[i].Code].Do == nil {
			return wire.ParameterError
		}
	}
	return wire.OK
}

// mayWrite says whether a message to change a record is for its set, and the filter lets
// the record pass.
func (e *Executor) mayWrite(m *wire.Message, rec *store.Record) wire.Code {
	if !e.internal && rec.Set != string(m.Set) {
		return wire.ParameterError
	}
	return e.filter(m, rec)
}

// apply stores the working copy.
func (e *Executor) apply(ns *store.Namespace, p *store.Partition, m *wire.Message, d *store.Digest, rec *store.Record, h *wire.Header) wire.Code {
	bins, key := e.run.Bins, m.Key
	if key == nil && rec != nil {
		key = rec.Key
	}
	switch {
	case len(bins) > wire.MaxBins:
		return wire.ParameterError
	case store.Size(bins)+len(key) > ns.MaxRecord:
		return wire.RecordTooBig
	}
	if rec == nil {
		set, ok := ns.Set(m.Set)
		if !ok {
			return wire.ParameterError
		}
		rec = &store.Record{Digest: *d, Set: set}
		m.TTL = freshTTL(m.TTL)
		p.PutLocked(rec)
	}
	if m.Key != nil && !bytes.Equal(rec.Key, m.Key) {
		rec.Key = bytes.Clone(m.Key)
	}
	rec.Generation++
	if rec.Generation > maxGen {
		rec.Generation = 1
	}
	now := ns.Clock.Now()
	rec.Updated, rec.Changed = now-ns.Clock.Ahead(), now
	setTTL(ns, rec, m.TTL, now)
	if len(bins) <= len(rec.Bins) {
		n := copy(rec.Bins, bins)
		clear(rec.Bins[n:])
		rec.Bins = rec.Bins[:n]
	} else {
		rec.Bins = slices.Clone(bins)
	}
	h.Generation = rec.Generation
	h.VoidTime = rec.VoidTime(ns.Clock.Ahead(), wire.Epoch)
	return wire.OK
}

func validTTL(ttl uint32) bool {
	return ttl <= wire.MaxTTL || ttl == wire.TTLNever || ttl == wire.TTLKeep
}

// freshTTL is the time to live of a new record: there is none to keep.
func freshTTL(ttl uint32) uint32 {
	if ttl == wire.TTLKeep {
		return wire.TTLDefault
	}
	return ttl
}

func setTTL(ns *store.Namespace, rec *store.Record, ttl uint32, now int64) {
	left := time.Duration(ttl) * time.Second
	switch ttl {
	case wire.TTLKeep:
		return
	case wire.TTLNever:
		left = 0
	case wire.TTLDefault:
		left = ns.DefaultTTL
	}
	rec.Expires = 0
	if left != 0 {
		rec.Expires = now + int64(left)
	}
}
