package hll

import (
	"encoding/binary"
	"math/bits"
)

// Parts of a sketch, and limits.
const (
	cacheAt    = 3
	headSize   = 11
	rankBits   = 6 // of a register, in front of its minhash
	minIndex   = 4
	maxIndex   = 16
	minMinhash = 4
	maxMinhash = 51
	unset      = -1 // bits that are to stay as they are
)

// A sketch is one that is valid, in its own bytes.
type sketch []byte

// Valid reports whether bytes are a sketch.
func Valid(b []byte) bool {
	return len(b) >= headSize && b[0] == 0 && validBits(int(b[1]), int(b[2])) && len(b) == sketchSize(int(b[1]), int(b[2]))
}

func validIndex(n int) bool { return n >= minIndex && n <= maxIndex }

func validMinhash(n int) bool { return n == 0 || n >= minMinhash && n <= maxMinhash }

func validBits(index, minhash int) bool {
	return validIndex(index) && validMinhash(minhash) && index+minhash <= 64
}

func sketchSize(index, minhash int) int { return headSize + ((rankBits+minhash)<<index+7)/8 }

// newSketch returns an empty sketch.
func newSketch(index, minhash int) sketch {
	s := make(sketch, sketchSize(index, minhash))
	s[1], s[2] = byte(index), byte(minhash)
	return s
}

func (s sketch) index() int { return int(s[1]) }

func (s sketch) minhash() int { return int(s[2]) }

func (s sketch) registers() int { return 1 << s[1] }

func (s sketch) cache() uint64 { return binary.LittleEndian.Uint64(s[cacheAt:]) }

func (s sketch) setCache(n uint64) { binary.LittleEndian.PutUint64(s[cacheAt:], n) }

// at returns where a register starts: its byte, and how many bits of it come
// before; and how many bits come after in the eight bytes from there.
func (s sketch) at(r int) (from, before, after int) {
	width := rankBits + s.minhash()
	bit := width * r
	return headSize + bit/8, bit % 8, 64 - bit%8 - width
}

func (s sketch) get(r int) uint64 {
	from, before, after := s.at(r)
	var w [8]byte
	copy(w[:], s[from:])
	return binary.BigEndian.Uint64(w[:]) << before >> (before + after)
}

// set keeps the bits of v that a register has room for.
func (s sketch) set(r int, v uint64) {
	from, before, after := s.at(r)
	mask := ^uint64(0) << before >> (before + after) << after
	var w [8]byte
	copy(w[:], s[from:])
	binary.BigEndian.PutUint64(w[:], binary.BigEndian.Uint64(w[:])&^mask|v<<after&mask)
	copy(s[from:], w[:])
}

// rank returns the part of a register that HyperLogLog has.
func (s sketch) rank(r int) uint64 { return s.get(r) >> s.minhash() }

// hash returns the register of an element and what it holds for it at least.
func (s sketch) hash(element []byte) (r int, v uint64) {
	h1, h2 := murmur(element)
	rank := uint64(bits.TrailingZeros64(h2)) + 1
	minhash := h1 >> s.index() & (1<<s.minhash() - 1)
	return int(h1 & (1<<s.index() - 1)), rank<<s.minhash() | minhash
}

// add adds an element and reports whether that changed anything.
func (s sketch) add(element []byte) bool {
	r, v := s.hash(element)
	if s.get(r) >= v {
		return false
	}
	s.set(r, v)
	s.setCache(0)
	return true
}

// contains reports whether an element may have been added.
func (s sketch) contains(element []byte) bool {
	r, v := s.hash(element)
	return v <= s.get(r)
}

// merge adds all elements of a sketch that has no fewer index bits, and the same
// minhash bits unless s has none.
func (s sketch) merge(o sketch) {
	mask := s.registers() - 1
	for r := range o.registers() {
		v := o.get(r)
		if s.minhash() == 0 {
			v = o.rank(r)
		}
		if s.get(r&mask) < v {
			s.set(r&mask, v)
		}
	}
	s.setCache(0)
}

// keep leaves the registers that are the same in both.
func (s sketch) keep(o sketch) {
	mask := s.registers() - 1
	for r := range o.registers() {
		if s.get(r&mask) != o.get(r) {
			s.set(r&mask, 0)
		}
	}
}

// used returns the number of registers that are not empty.
func (s sketch) used() int {
	n := 0
	for r := range s.registers() {
		if s.get(r) != 0 {
			n++
		}
	}
	return n
}

// common returns an empty sketch that all can be merged into.
func common(all []sketch) sketch {
	index, minhash := all[0].index(), all[0].minhash()
	for _, s := range all[1:] {
		index = min(index, s.index())
		if s.minhash() != minhash {
			minhash = 0
		}
	}
	return newSketch(index, minhash)
}

// union returns the union of sketches, of which there is one at least.
func union(all []sketch) sketch {
	u := common(all)
	for _, s := range all {
		u.merge(s)
	}
	return u
}
