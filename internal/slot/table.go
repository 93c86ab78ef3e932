package slot

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/spillway-go/spillway"
)

// A slot's state, high bits to low:
//
//	63 ........... 32   31 ........... 0
//	sequence            payload
//
// The sequence counts the slot's owners. A token is sequence and index; it stands
// for the slot only while the sequence is still the same and the payload isn't 0,
// which means that the slot is free. So a right that was given back, on any of its
// copies, is void from then on. (A copy kept while its slot has exactly 2^32
// further owners would be mistaken.)
//
// A slot's other fields belong to its owner. They are written before the token is
// known to anybody, and read before the swap that frees the slot: only the winner
// of that swap uses what it read.
const (
	seqShift = 32
	seqOne   = 1 << seqShift
	seqMask  = ^uint64(seqOne - 1)
	payload  = seqOne - 1

	minSlots  = 64 // in the first chunk; each further one doubles the table
	maxChunks = 24 // so many double the smallest table to maxSlots
	maxSlots  = minSlots << maxChunks
	maxAhead  = 1 << 14 // slots made ahead at most; the table grows beyond when needed
	maxProbes = 64      // slots that Claim looks at before it would rather have more
	stride    = 0x85ebca6b
)

// Slot is one place of a table.
type Slot struct {
	State atomic.Uint64
	Since atomic.Int64         // when the owner came, if he notes it
	Note  atomic.Pointer[Note] // who he is, if he says so
}

// Note is what is kept of an owner. It is never changed.
type Note struct {
	Token uint64         // the owner's: a note of an earlier owner may still be there
	PCs   []uintptr      // where he came from
	Class spillway.Class // the class that his context carried
}

// Table is a table of slots that only grows: its chunks stay where they are, so
// that a token finds its slot without a lock. There should be about twice as many
// slots as owners at once, so that a free one is found at the first or second try.
// It must be prepared with Reserve.
type Table struct {
	capacity atomic.Uint32 // a power of two; how many slots there are
	first    []Slot        // as long as the first Reserve made it, for good; most tables never outgrow it
	chunks   [maxChunks]atomic.Pointer[[]Slot]
	grow     sync.Mutex
}

// Reserve makes the table fit for that many owners at once. A high number is met
// when it is reached. The first call must come before all others.
func (t *Table) Reserve(owners int) {
	slots := 2 * min(owners, maxAhead/2)
	if t.first == nil {
		size := max(minSlots, 1<<bits.Len(uint(slots-1)))
		t.first = make([]Slot, size)
		t.capacity.Store(uint32(size))
	}
	t.extend(slots)
}

// Len returns how many slots there are.
func (t *Table) Len() uint32 { return t.capacity.Load() }

// extend makes the table hold at least n slots.
func (t *Table) extend(n int) {
	t.grow.Lock()
	defer t.grow.Unlock()
	size := int(t.capacity.Load())
	for size < n {
		chunk := make([]Slot, size)
		t.chunks[t.chunkOf(uint32(size))].Store(&chunk)
		size *= 2
	}
	t.capacity.Store(uint32(size))
}

// chunkOf returns the chunk of slot i, which isn't in the first: they are as long as all
// before them together.
func (t *Table) chunkOf(i uint32) int { return bits.Len32(i) - bits.Len32(uint32(len(t.first))) }

// At returns slot i, which must be below Len.
func (t *Table) At(i uint32) *Slot {
	if uint(i) < uint(len(t.first)) {
		return &t.first[i]
	}
	return t.beyond(i)
}

func (t *Table) beyond(i uint32) *Slot {
	k := t.chunkOf(i)
	return &(*t.chunks[k].Load())[i-uint32(len(t.first))<<k]
}

// Claim takes a free slot, gives it the payload, which must not be 0, and returns
// the slot and its token, which is never 0. n spreads the claims over the table, so
// that neighbours in time don't share a cache line; a running number will do.
func (t *Table) Claim(n uint64, p uint32) (*Slot, uint64) {
	start := uint32(n * 0x9e3779b97f4a7c15 >> 32)
	index := start & (t.capacity.Load() - 1)
	s := t.At(index)
	if token := s.take(index, p); token != 0 {
		return s, token
	}
	return t.search(start, p)
}

// search is Claim for a slot that isn't free.
func (t *Table) search(start, p uint32) (*Slot, uint64) {
	for {
		size := t.capacity.Load()
		probes := size
		if size < maxSlots {
			probes = min(size, maxProbes) // in a table that isn't nearly full, one of them is free
		}
		for i := range probes {
			// By strides, because the lower half of a table that has just grown is full.
			// An odd stride visits every slot.
			index := (start + i*stride) & (size - 1)
			s := t.At(index)
			if token := s.take(index, p); token != 0 {
				return s, token
			}
		}
		t.extend(int(size) * 2)
	}
}

// take gives slot i the payload if it is free, and returns its token; 0 if it isn't, or
// somebody else was faster.
func (s *Slot) take(i, p uint32) uint64 {
	old := s.State.Load()
	if old&payload != 0 {
		return 0
	}
	seq := old&seqMask + seqOne
	if seq == 0 {
		seq = seqOne // token 0 means "no slot"
	}
	if !s.State.CompareAndSwap(old, seq|uint64(p)) {
		return 0
	}
	return seq | uint64(i)
}

// Find returns the slot of a token and its state at this moment; nil if the token
// was never one of this table, or is void by now.
func (t *Table) Find(token uint64) (*Slot, uint64) {
	index := uint32(token)
	if index >= t.capacity.Load() {
		return nil, 0
	}
	s := t.At(index)
	state := s.State.Load()
	if !owns(token, state) {
		return nil, 0
	}
	return s, state
}

// Free frees the slot of a token, and reports whether the token was still good.
func (t *Table) Free(token uint64) bool {
	index := uint32(token)
	if index >= t.capacity.Load() {
		return false
	}
	s := t.At(index)
	state := s.State.Load()
	return owns(token, state) && s.Swap(state, 0)
}

// owns reports whether a slot with that state is the token's.
func owns(token, state uint64) bool { return (state^token)&seqMask == 0 && state&payload != 0 }

// Swap changes the payload of a slot if its state is still the one that Find
// returned, and reports whether it did. With payload 0 the slot is free.
func (s *Slot) Swap(state uint64, p uint32) bool {
	return s.State.CompareAndSwap(state, state&seqMask|uint64(p))
}

// SetPayload changes the payload for the owner of token, who must be the only one to
// know it.
func (s *Slot) SetPayload(token uint64, p uint32) {
	s.State.Store(token&seqMask | uint64(p))
}

// Token returns the token of the owner that state belongs to, in slot i.
func Token(state uint64, i uint32) uint64 { return state&seqMask | uint64(i) }
