package command

import (
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A subject is the record that an expression is evaluated for, as far as the
// operations of a command have come with it.
type subject struct {
	clock  *store.Clock
	rec    *store.Record // nil if there is none yet
	bins   []store.Bin
	set    string
	digest store.Digest
}

// subject returns the record of the command.
func (r *Run) subject() *subject {
	s := &subject{clock: r.clock, rec: r.rec, bins: r.Bins, set: string(r.msg.Set), digest: store.Digest(r.msg.Digest)}
	if r.rec != nil {
		s.set = r.rec.Set
	}
	return s
}

// Bin implements exp.Record.
func (s *subject) Bin(name []byte) (store.Value, bool) {
	i := store.Find(s.bins, name)
	if i < 0 {
		return store.Value{}, false
	}
	return s.bins[i].Value, true
}

// Key implements exp.Record.
func (s *subject) Key() []byte {
	if s.rec == nil {
		return nil
	}
	return s.rec.Key
}

// Set implements exp.Record.
func (s *subject) Set() string { return s.set }

// Digest implements exp.Record.
func (s *subject) Digest() *store.Digest { return &s.digest }

// LastUpdate implements exp.Record. The server keeps milliseconds.
func (s *subject) LastUpdate() int64 {
	if s.rec == nil {
		return wire.Epoch * int64(time.Second)
	}
	return s.rec.Updated / int64(time.Millisecond) * int64(time.Millisecond)
}

// SinceUpdate implements exp.Record. It counts the time that the clock was put
// forward.
func (s *subject) SinceUpdate() int64 {
	since := int64(wire.Epoch) * int64(time.Second)
	if s.rec != nil {
		since = s.rec.Changed
	}
	return max(0, s.clock.Now()-since) / int64(time.Millisecond)
}

// VoidTime implements exp.Record.
func (s *subject) VoidTime() int64 {
	if s.rec == nil || s.rec.Expires == 0 {
		return -1
	}
	return (int64(s.rec.VoidTime(s.clock.Ahead(), wire.Epoch)) + wire.Epoch) * int64(time.Second)
}

// TTL implements exp.Record.
func (s *subject) TTL() int64 {
	if s.rec == nil || s.rec.Expires == 0 {
		return -1
	}
	return max(0, s.rec.Expires-s.clock.Now()) / int64(time.Second)
}

// Size implements exp.Record. It is about what a real server counts.
func (s *subject) Size() int64 {
	const head = 40
	n := head + store.Size(s.bins)
	if s.rec != nil {
		n += len(s.rec.Key)
	}
	return int64(n)
}
