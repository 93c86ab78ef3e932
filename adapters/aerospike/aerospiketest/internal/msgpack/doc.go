// Package msgpack checks MessagePack as Aerospike uses it for lists, maps,
// operations and expressions.
package msgpack
