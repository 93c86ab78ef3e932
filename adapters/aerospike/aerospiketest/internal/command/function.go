package command

import (
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Names of the bins that the result of a function comes in.
const (
	binSuccess = "SUCCESS"
	binFailure = "FAILURE"
)

// Bits of the policies that a function has no use for.
const (
	noPolicy2 = wire.Info2Generation | wire.Info2GenerationGT | wire.Info2CreateOnly
	noPolicy3 = onlyOld | replaces
)

// call calls a function with a record. One that fails leaves the record as it was.
func (e *Executor) call(ns *store.Namespace, m *wire.Message, h *wire.Header) wire.Code {
	args, ok := udf.Arguments(m.UDFArgs)
	if !ok || len(m.Set) > wire.MaxSetName || m.Info2&noPolicy2 != 0 || m.Info3&noPolicy3 != 0 {
		return wire.ParameterError
	}
	d := store.Digest(m.Digest)
	p := ns.Part(d.Partition())
	p.Lock()
	defer p.Unlock()
	rec := p.GetLocked(&d, ns.Clock)
	switch {
	case rec != nil:
		h.Generation = rec.Generation
		if c := e.mayWrite(m, rec); c != wire.OK {
			return c
		}
		if !sameKey(m, rec) {
			return wire.KeyMismatch
		}
	case e.internal:
		return wire.NotFound
	}
	r := newUDFRecord(ns, m, rec)
	v, err := e.functions().Call(string(m.UDFPackage), string(m.UDFFunction), r, args)
	var answer store.Value
	if err == nil {
		answer, err = udf.Result(v)
	}
	if err != nil {
		e.run.Answer(&wire.Op{Code: wire.OpRead, Name: []byte(binFailure)}, store.Value{Type: wire.ParticleString, Data: []byte(err.Error())})
		return wire.UDFError
	}
	if c := e.keep(ns, p, m, rec, r, h); c != wire.OK {
		return c
	}
	e.run.Answer(&wire.Op{Code: wire.OpRead, Name: []byte(binSuccess)}, answer)
	return wire.OK
}

// functions returns the registry, which may be empty.
func (e *Executor) functions() *udf.Registry {
	if e.cat.Functions == nil {
		return udf.NewRegistry(nil)
	}
	return e.cat.Functions
}

func newUDFRecord(ns *store.Namespace, m *wire.Message, rec *store.Record) *udf.Record {
	h := udf.Header{Namespace: ns.Name, SetName: string(m.Set), Digest: store.Digest(m.Digest), Key: m.Key}
	if rec == nil {
		return udf.NewRecord(h, nil)
	}
	return udf.NewRecord(headerOf(ns, rec), rec.Bins)
}

// headerOf describes a record to a function.
func headerOf(ns *store.Namespace, rec *store.Record) udf.Header {
	h := udf.Header{
		Namespace: ns.Name, SetName: rec.Set, Digest: rec.Digest, Key: rec.Key, Exists: true,
		Generation: rec.Generation, Updated: rec.Updated / int64(time.Millisecond),
	}
	if rec.Expires != 0 {
		h.TTL = max(1, (rec.Expires-ns.Clock.Now())/int64(time.Second))
	}
	return h
}

// keep stores what a function has made of a record. One that was created without bins,
// or created and removed, isn't, and there is nothing to be found.
func (e *Executor) keep(ns *store.Namespace, p *store.Partition, m *wire.Message, rec *store.Record, r *udf.Record, h *wire.Header) wire.Code {
	bins, changed := r.Saved()
	if ttl, set := r.NewTTL(); set {
		m.TTL = ttl
	}
	switch {
	case !changed:
		return wire.OK
	case !validTTL(m.TTL):
		return wire.ParameterError
	case len(bins) == 0 && rec == nil:
		return wire.NotFound
	case len(bins) == 0 && m.Info2&wire.Info2DurableDelete != 0:
		return wire.EnterpriseOnly
	case len(bins) == 0:
		p.DeleteLocked(&rec.Digest)
		h.Generation = 0
		return wire.OK
	}
	d := store.Digest(m.Digest)
	e.run.Bins = append(e.run.Bins[:0], bins...)
	c := e.apply(ns, p, m, &d, rec, h)
	h.VoidTime = 0
	return c
}
