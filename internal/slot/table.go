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

	firstChunk = 64 // slots in the table itself; each chunk doubles it
	maxChunks  = 24
	maxSlots   = firstChunk << (maxChunks - 1)
	maxAhead   = 1 << 14 // slots made ahead at most; the table grows beyond when needed
	maxProbes  = 64      // slots that Claim looks at before it would rather have more
	stride     = 0x85ebca6b
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
	capacity atomic.Uint32    // a power of two; how many slots there are
	first    [firstChunk]Slot // chunk 0, which most tables never outgrow
	chunks   [maxChunks]atomic.Pointer[[]Slot]
	grow     sync.Mutex
}

// Reserve makes the table fit for that many owners at once. A high number is met
// when it is reached.
func (t *Table) Reserve(owners int) { t.extend(2 * min(owners, maxAhead/2)) }

// Len returns how many slots there are.
func (t *Table) Len() uint32 { return t.capacity.Load() }

// extend makes the table hold at least n slots.
func (t *Table) extend(n int) {
	t.grow.Lock()
	defer t.grow.Unlock()
	size := max(int(t.capacity.Load()), firstChunk)
	for size < n {
		chunk := make([]Slot, size)
		t.chunks[chunkOf(uint32(size))].Store(&chunk)
		size *= 2
	}
	t.capacity.Store(uint32(size))
}

// chunkOf returns the chunk of slot i: 0 for the first 64, then one more for each
// doubling.
func chunkOf(i uint32) int { return bits.Len32(i / firstChunk) }

// At returns slot i, which must be below Len.
func (t *Table) At(i uint32) *Slot {
	if i < firstChunk {
		return &t.first[i]
	}
	return t.beyond(i)
}

func (t *Table) beyond(i uint32) *Slot {
	k := chunkOf(i)
	return &(*t.chunks[k].Load())[i-firstChunk<<(k-1)]
}

// Claim takes a free slot, gives it the payload, which must not be 0, and returns
// the slot and its token, which is never 0. n spreads the claims over the table, so
// that neighbours in time don't share a cache line; a running number will do.
func (t *Table) Claim(n uint64, p uint32) (*Slot, uint64) {
	for {
		size := t.capacity.Load()
		start := uint32(n * 0x9e3779b97f4a7c15 >> 32)
		probes := size
		if size < maxSlots {
			probes = min(size, maxProbes) // in a table that isn't nearly full, one of them is free
		}
		for i := range probes {
			// By strides, because the lower half of a table that has just grown is full.
			// An odd stride visits every slot.
			index := (start + i*stride) & (size - 1)
			s := t.At(index)
			old := s.State.Load()
			if old&payload != 0 {
				continue
			}
			seq := old&seqMask + seqOne
			if seq == 0 {
				seq = seqOne // token 0 means "no slot"
			}
			if s.State.CompareAndSwap(old, seq|uint64(p)) {
				return s, seq | uint64(index)
			}
		}
		t.extend(int(size) * 2)
	}
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
	if state&seqMask != token&seqMask || state&payload == 0 {
		return nil, 0
	}
	return s, state
}

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
