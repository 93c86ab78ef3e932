// Package info answers info commands: what drivers ask to find the nodes and
// the partition map, what tools read, and truncation.
//
// A command that is not implemented is answered with the protocol's own error
// text, never with silence.
package info
