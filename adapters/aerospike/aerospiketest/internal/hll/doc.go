// Package hll carries out operations on HyperLogLog sketches: those of the
// commands HLL_READ and HLL_MODIFY and those that expressions call.
//
// A sketch is three bytes (flags, which are 0, index bits, minhash bits), a
// cached count of eight bytes, little endian, and its registers, one after the
// other to the bit, big endian. There are two to the power of the index bits;
// each has six bits for HyperLogLog and then the minhash bits, which make it a
// HyperMinHash. Sketches have the same bytes as on a real server.
//
// The estimators are those of Ertl, "New cardinality estimation algorithms for
// HyperLogLog sketches" (arXiv 1702.01284), and of Yu and Weber, "HyperMinHash:
// MinHash in LogLog space" (arXiv 1710.08436).
package hll
