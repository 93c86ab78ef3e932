package cdt

import "github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"

// Flags of lists.
const (
	ordered   = 1
	persisted = 0x10 // asks for an index within the value
	listFlags = ordered | persisted
)

// A list is a list that was taken apart.
type list struct {
	flags byte
	items [][]byte
}

func parseList(b []byte) (list, bool) {
	n, flags, b, ok := msgpack.ListHead(b)
	if !ok {
		return list{}, false
	}
	l := list{flags: flags, items: make([][]byte, n)}
	for i := range l.items {
		if l.items[i], b, ok = msgpack.Value(b); !ok {
			return list{}, false
		}
	}
	return l, true
}

// newList is an empty list with flags, or with none if they aren't a list's.
func newList(flags int64) list {
	f := byte(flags)
	if f&^byte(listFlags) != 0 {
		f = 0
	}
	return list{flags: f &^ persisted}
}

func (l list) ordered() bool { return l.flags&ordered != 0 }

func (l list) encode() []byte {
	size := 8
	for _, v := range l.items {
		size += len(v)
	}
	b := msgpack.AppendListHead(make([]byte, 0, size), len(l.items), l.flags)
	for _, v := range l.items {
		b = append(b, v...)
	}
	return b
}

// bounds returns where the elements of an ordered list begin and end that are
// equal to v.
func (l list) bounds(v []byte) (from, to int) {
	return bounds(len(l.items), func(i int) int { return msgpack.Compare(v, l.items[i]) })
}

// lower returns how many elements of an ordered list are less than v, and
// whether one is equal.
func (l list) lower(v []byte) (rank int, found bool) {
	from, to := l.bounds(v)
	return from, from < to
}

// less returns how many elements are less than v.
func (l list) less(v []byte) int {
	n := 0
	for _, x := range l.items {
		if msgpack.Compare(x, v) < 0 {
			n++
		}
	}
	return n
}

// has reports whether an element of an ordered list is equal to v.
func (l list) has(v []byte) bool {
	_, found := l.lower(v)
	return found
}
