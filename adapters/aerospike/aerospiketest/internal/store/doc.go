// Package store keeps the records of the test server: namespaces of 4096
// partitions, each with its own lock.
//
// A record may be touched only inside [Namespace.With] or [Partition.Lock].
// Values are never changed in place: a write puts new bytes, so bytes taken
// under the lock stay as they were.
package store
