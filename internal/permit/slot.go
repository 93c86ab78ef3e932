package permit

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// A slot's state, high bits to low:
//
//	63 ........... 32   31     30      29      28       27 ......... 0
//	sequence            held   ghost   timed   unused   weight
//
// The sequence counts the slot's owners. A permit's token is sequence and index;
// it stands for the slot only while the sequence is still the same and the slot is
// held, so a permit that was released, on any of its copies, is void from then on.
// (A copy kept while its slot has exactly 2^32 further owners would be mistaken.)
//
// The slot's other fields belong to its owner. They are written before the token is
// known to anybody, and read before the swap that frees the slot: only the winner
// of that swap uses what it read.
//
// Invariant: the weights of all slots that are held or ghosts, and of all Uses
// without a slot, sum up to the use in the word, when the core is quiet.
const (
	slotHeld   = 1 << 31
	slotGhost  = 1 << 30
	slotTimed  = 1 << 29 // since is this owner's
	slotWeight = MaxLimit
	slotTaken  = slotHeld | slotGhost
	seqShift   = 32
	seqMask    = ^uint64(1<<seqShift - 1)

	firstChunk = 64 // slots in the first chunk; each further one doubles the table
	maxChunks  = 24
)

type slot struct {
	state atomic.Uint64
	since atomic.Int64 // when the hold began, if the state says that it is timed
}

// slots is a table that only grows: its chunks stay where they are, so that a
// token finds its slot without a lock. There are about twice as many slots as
// permits, so that a free one is found at the first or second try.
type slots struct {
	capacity atomic.Uint32 // a power of two; how many slots there are
	chunks   [maxChunks]atomic.Pointer[chunk]
	grow     sync.Mutex
	tracked  bool // whether slots have holders
}

type chunk struct {
	slots   []slot
	holders []atomic.Pointer[holder] // nil unless tracked
}

func (t *slots) init(limit int, tracked bool) {
	t.tracked = tracked
	t.extend(min(2*limit, 1<<14))
}

// extend makes the table hold at least n slots.
func (t *slots) extend(n int) {
	t.grow.Lock()
	defer t.grow.Unlock()
	size := int(t.capacity.Load())
	for k := chunkOf(uint32(size)); size == 0 || size < n; k++ {
		add := max(size, firstChunk)
		ch := &chunk{slots: make([]slot, add)}
		if t.tracked {
			ch.holders = make([]atomic.Pointer[holder], add)
		}
		t.chunks[k].Store(ch)
		size += add
	}
	t.capacity.Store(uint32(size))
}

// chunkOf returns the chunk of slot i: 0 for the first 64, then one more for each
// doubling.
func chunkOf(i uint32) int { return bits.Len32(i / firstChunk) }

// at returns slot i's chunk and its index there.
func (t *slots) at(i uint32) (*chunk, uint32) {
	k := chunkOf(i)
	if k > 0 {
		i -= firstChunk << (k - 1)
	}
	return t.chunks[k].Load(), i
}

// claim takes a free slot for u and returns its token, never 0. n spreads the
// claims over the table, so that neighbours in time don't share a cache line.
func (t *slots) claim(n uint64, u Use) uint64 {
	for {
		size := t.capacity.Load()
		start := uint32(n * 0x9e3779b97f4a7c15 >> 32)
		for i := uint32(0); i < size; i++ {
			index := (start + i) & (size - 1)
			ch, at := t.at(index)
			s := &ch.slots[at]
			old := s.state.Load()
			if old&slotTaken != 0 {
				continue
			}
			seq := old&seqMask + 1<<seqShift
			if seq == 0 {
				seq = 1 << seqShift // token 0 means "no slot"
			}
			if s.state.CompareAndSwap(old, seq|slotHeld|u.weight&slotWeight) {
				if u.since != 0 {
					s.since.Store(u.since)
					s.state.Store(seq | slotHeld | slotTimed | u.weight&slotWeight)
				}
				return seq | uint64(index)
			}
		}
		t.extend(int(size) * 2)
	}
}

// find returns the slot of a token, its state and its holder's cell. The state
// tells whether the token is still good for it.
func (t *slots) find(token uint64) (s *slot, state uint64, h *atomic.Pointer[holder]) {
	index := uint32(token)
	if index >= t.capacity.Load() {
		return nil, 0, nil
	}
	ch, at := t.at(index)
	s = &ch.slots[at]
	if ch.holders != nil {
		h = &ch.holders[at]
	}
	return s, s.state.Load(), h
}

// current reports whether a slot's state belongs to the token's owner, in one of
// the given conditions.
func current(state, token, condition uint64) bool {
	return state&seqMask == token&seqMask && state&slotTaken == condition
}
