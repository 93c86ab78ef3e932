// Package bits carries out operations on blobs, down to the bit: those of the
// commands BITS_READ and BITS_MODIFY and those that expressions call.
//
// Both take a call, a MessagePack list of an operation's code and its arguments,
// and a value that may be of any type. Neither changes the value in place.
package bits
