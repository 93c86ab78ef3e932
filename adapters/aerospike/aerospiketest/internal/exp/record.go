package exp

import "github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"

// A Record is what expressions see of a record.
type Record interface {
	Bin(name []byte) (store.Value, bool)
	// Key is the stored key, its particle type first; nil if there is none.
	Key() []byte
	Set() string
	Digest() *store.Digest
	// LastUpdate is in nanoseconds since 1970.
	LastUpdate() int64
	// SinceUpdate is in milliseconds.
	SinceUpdate() int64
	// VoidTime is in nanoseconds since 1970; -1 is never.
	VoidTime() int64
	// TTL is in seconds; -1 is never.
	TTL() int64
	// Size is in bytes.
	Size() int64
}
