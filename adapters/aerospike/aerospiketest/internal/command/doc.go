// Package command carries out messages: single records, batches and scans.
//
// An [Executor] belongs to one connection and is not safe for concurrent use;
// a [Catalog] is shared by all of them and never changes. What an operation
// does is a function in a [Table]; a family of operations is added by a file of
// functions and their entries in [NewTable].
package command
