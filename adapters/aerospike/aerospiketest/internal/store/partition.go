package store

import (
	"bytes"
	"slices"
	"sync"
)

// A Partition is one of a namespace's. Its lock guards its records.
type Partition struct {
	mu      sync.Mutex
	records map[Digest]*Record // guarded by mu; nil until the first write
}

// Lock takes the partition's lock. Nothing that waits may run under it.
func (p *Partition) Lock() { p.mu.Lock() }

// Unlock gives the lock back.
func (p *Partition) Unlock() { p.mu.Unlock() }

// GetLocked returns a record that has not expired, or nil. An expired one is
// removed: there is no other reaper.
func (p *Partition) GetLocked(d *Digest, c *Clock) *Record {
	r := p.records[*d]
	if r == nil {
		return nil
	}
	if r.Expires != 0 && r.Expired(c.Now()) {
		delete(p.records, *d)
		return nil
	}
	return r
}

// PutLocked stores a record.
func (p *Partition) PutLocked(r *Record) {
	if p.records == nil {
		p.records = make(map[Digest]*Record)
	}
	p.records[r.Digest] = r
}

// DeleteLocked removes a record.
func (p *Partition) DeleteLocked(d *Digest) { delete(p.records, *d) }

// DigestsLocked appends the digests of the partition's records in the order of
// scans, the greatest first, from the one that follows after. A nil after starts
// at the first.
func (p *Partition) DigestsLocked(to []Digest, after *Digest) []Digest {
	at := len(to)
	for d := range p.records {
		if after == nil || bytes.Compare(d[:], after[:]) < 0 {
			to = append(to, d)
		}
	}
	slices.SortFunc(to[at:], func(a, b Digest) int { return bytes.Compare(b[:], a[:]) })
	return to
}
