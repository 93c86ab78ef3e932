// Package msgpack checks, reads, compares and writes MessagePack as Aerospike
// uses it for lists, maps, operations and expressions.
//
// Strings and blobs in lists and maps carry a byte with their particle type in
// front; see [Bytes]. An ordered list or map starts with an extension value that
// holds its flags; see [ListHead] and [MapHead]. No function panics or reads
// beyond its argument, whatever the bytes are.
package msgpack
