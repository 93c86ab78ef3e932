// Package slot makes a right that many hold, such as a permit or a lease, a value
// that can be given back only once: a table of slots, and tokens that name a slot
// and one of its owners.
package slot
