package hll

import (
	"encoding/binary"
	"math/bits"
)

const (
	murmur1 = 0x87c37b91114253d5
	murmur2 = 0x4cf5ad432745937f
)

// murmur is MurmurHash3 of 128 bits for 64-bit machines, with seed 0.
func murmur(b []byte) (h1, h2 uint64) {
	size := uint64(len(b))
	for ; len(b) >= 16; b = b[16:] {
		h1 ^= mix1(binary.LittleEndian.Uint64(b))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= mix2(binary.LittleEndian.Uint64(b[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], b)
	h1 ^= mix1(binary.LittleEndian.Uint64(tail[:]))
	h2 ^= mix2(binary.LittleEndian.Uint64(tail[8:]))
	h1 ^= size
	h2 ^= size
	h1 += h2
	h2 += h1
	h1, h2 = avalanche(h1), avalanche(h2)
	h1 += h2
	return h1, h2 + h1
}

func mix1(k uint64) uint64 { return bits.RotateLeft64(k*murmur1, 31) * murmur2 }

func mix2(k uint64) uint64 { return bits.RotateLeft64(k*murmur2, 33) * murmur1 }

func avalanche(k uint64) uint64 {
	k ^= k >> 33
	k *= 0xff51afd7ed558ccd
	k ^= k >> 33
	k *= 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
