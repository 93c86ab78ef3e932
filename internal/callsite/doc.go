// Package callsite says where a call came from: the line of whoever used the toolkit, not one
// of the toolkit's own.
package callsite
