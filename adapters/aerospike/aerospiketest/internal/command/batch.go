package command

import (
	"encoding/binary"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Bits of an item of a batch.
const (
	itemRepeat = 1 << iota // as the item before, but for the digest
	itemInfo               // three bytes of info follow
	itemGen                // two bytes of generation follow
	itemTTL                // four bytes of time to live follow
	itemInfo4              // a byte for transactions follows

	// respondAll in a batch's flags: go on after a record that failed.
	respondAll = 4
)

// minItem is the shortest item: index, digest, one byte.
const minItem = 4 + wire.DigestSize + 1

// Batch carries out a batch. It sends full frames to sink and returns the rest
// of the answer, appended to out, and the code it ends with. The error is that
// of the sink.
func (e *Executor) Batch(m *wire.Message, out []byte, sink Sink) ([]byte, wire.Code, error) {
	s := stream{sink: sink, out: out, at: -1}
	b, any := m.BatchAny, m.BatchAny != nil
	if !any {
		b = m.BatchRead
	}
	if len(b) < 5 || binary.BigEndian.Uint32(b) == 0 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)/minItem) {
		return s.last(wire.ParameterError), wire.ParameterError, nil
	}
	if m.Filter != nil {
		if c := e.cat.Filter(m.Filter, nil); c != wire.OK {
			return s.last(c), c, nil
		}
	}
	n, all := binary.BigEndian.Uint32(b), !any || b[4]&respondAll != 0
	b = b[5:]
	e.sub = wire.Message{Ops: e.sub.Ops[:0]}
	for i := range n {
		index, rest, ok := e.item(m, b, any, i == 0)
		if !ok {
			return s.last(wire.ParameterError), wire.ParameterError, nil
		}
		b = rest
		s.open()
		var c wire.Code
		ttl := e.sub.TTL // a repeated item needs it as it was sent
		s.out, c = e.Single(&e.sub, s.out, index)
		e.sub.TTL = ttl
		if e.ended() {
			return s.out, wire.OK, errEnded
		}
		s.records++
		sink.Result(c)
		if !all && c != wire.OK && c != wire.NotFound && c != wire.FilteredOut {
			return s.last(c), c, nil
		}
		if len(s.out) >= frameSize {
			if err := s.flush(); err != nil {
				return s.out, wire.OK, err
			}
		}
	}
	return s.last(wire.OK), wire.OK, nil
}

// BatchTarget returns the namespace and set of the first record of a batch.
func (e *Executor) BatchTarget(m *wire.Message) (namespace, set []byte) {
	b, any := m.BatchAny, m.BatchAny != nil
	if !any {
		b = m.BatchRead
	}
	if len(b) < 5 {
		return nil, nil
	}
	e.sub = wire.Message{Ops: e.sub.Ops[:0]}
	if _, _, ok := e.item(m, b[5:], any, true); !ok {
		return nil, nil
	}
	return e.sub.Namespace, e.sub.Set
}

// item reads an item into e.sub and returns what follows it.
func (e *Executor) item(m *wire.Message, b []byte, any, first bool) (index uint32, rest []byte, ok bool) {
	if len(b) < minItem {
		return 0, b, false
	}
	index = binary.BigEndian.Uint32(b)
	digest, bits := b[4:4+wire.DigestSize:4+wire.DigestSize], b[minItem-1]
	b = b[minItem:]
	if bits&itemRepeat != 0 {
		e.sub.Digest = digest
		return index, b, !first
	}
	e.sub = wire.Message{Info1: m.Info1 &^ wire.Info1Batch, Ops: e.sub.Ops[:0]}
	if any {
		b, ok = itemHead(&e.sub, bits, b)
	} else if ok = len(b) > 0; ok {
		e.sub.Info1, b = b[0], b[1:]
	}
	if !ok || len(b) < 4 {
		return 0, b, false
	}
	fields, ops := int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	if b, ok = e.sub.ParseFields(b[4:], fields); !ok {
		return 0, b, false
	}
	if b, ok = e.sub.ParseOps(b, ops); !ok {
		return 0, b, false
	}
	e.sub.Digest = digest
	if e.sub.Filter == nil {
		e.sub.Filter = m.Filter
	}
	return index, b, true
}

// itemHead reads what the bits say is there.
func itemHead(sub *wire.Message, bits byte, b []byte) ([]byte, bool) {
	take := func(bit byte, n int) []byte {
		if bits&bit == 0 || len(b) < n {
			return nil
		}
		v := b[:n]
		b = b[n:]
		return v
	}
	need := 0
	for _, x := range [...]struct {
		bit byte
		n   int
	}{{itemInfo, 3}, {itemInfo4, 1}, {itemGen, 2}, {itemTTL, 4}} {
		if bits&x.bit != 0 {
			need += x.n
		}
	}
	if len(b) < need {
		return b, false
	}
	if v := take(itemInfo, 3); v != nil {
		sub.Info1, sub.Info2, sub.Info3 = v[0], v[1], v[2]
	}
	take(itemInfo4, 1)
	if v := take(itemGen, 2); v != nil {
		sub.Generation = uint32(binary.BigEndian.Uint16(v))
	}
	if v := take(itemTTL, 4); v != nil {
		sub.TTL = binary.BigEndian.Uint32(v)
	}
	return b, true
}
