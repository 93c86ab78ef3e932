// Package wire is the Aerospike wire protocol as far as the test server speaks
// it: frames, the message header, fields, operations, result codes.
//
// Parsing is in place: a [Message] and its [Op] values point into the bytes
// they were parsed from, and are valid only until those bytes are reused. All
// numbers are big endian unless said otherwise.
package wire
