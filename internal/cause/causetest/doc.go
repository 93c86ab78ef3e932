// Package causetest makes contexts of a stranger's type, for the tests of whatever returns
// the cause of one.
package causetest
