package msgpack

import "encoding/binary"

// A Kind is the type of a value. Values of different kinds compare as their
// kinds do.
type Kind uint8

// The kinds, in their order.
const (
	Invalid Kind = iota
	Nil
	False
	True
	NegInt // integers below zero
	Uint   // all other integers
	String
	ListKind
	MapKind
	Blob
	Float
	GeoJSON
	Ext
	Wildcard // equal to any value
	Infinity // above any value
)

// Types of particles that a string or blob starts with.
const (
	particleString  = 3
	particleBlob    = 4
	particleGeoJSON = 23
)

// Types and contents of extension values that stand in arguments, not in stored
// values.
const (
	extCompare  = 0xff
	extWildcard = 0
	extInfinity = 1
)

// IsInt reports whether the kind is one of integers.
func (k Kind) IsInt() bool { return k == NegInt || k == Uint }

// IsBool reports whether the kind is a boolean.
func (k Kind) IsBool() bool { return k == False || k == True }

// Peek returns the kind of the value at the start of b.
func Peek(b []byte) Kind {
	if len(b) == 0 {
		return Invalid
	}
	switch c := b[0]; {
	case c <= 0x7f, c >= 0xcc && c <= 0xcf:
		return Uint
	case c >= 0xe0:
		return NegInt
	case c <= 0x8f, c == 0xde, c == 0xdf:
		return MapKind
	case c <= 0x9f, c == 0xdc, c == 0xdd:
		return ListKind
	case c <= 0xbf, c >= 0xc4 && c <= 0xc6, c >= 0xd9 && c <= 0xdb:
		return bytesKind(b)
	case c == 0xc0:
		return Nil
	case c == 0xc2:
		return False
	case c == 0xc3:
		return True
	case c == 0xca, c == 0xcb:
		return Float
	case c >= 0xd0 && c <= 0xd3:
		if len(b) > 1 && b[1]&0x80 == 0 {
			return Uint
		}
		return NegInt
	case IsExt(b):
		return extKind(b)
	}
	return Invalid
}

func bytesKind(b []byte) Kind {
	s, _, ok := Bytes(b)
	switch {
	case !ok:
		return Invalid
	case len(s) > 0 && s[0] == particleString:
		return String
	case len(s) > 0 && s[0] == particleGeoJSON:
		return GeoJSON
	}
	return Blob
}

func extKind(b []byte) Kind {
	t, data, _, ok := Extension(b)
	switch {
	case !ok:
		return Invalid
	case t == extCompare && len(data) == 1 && data[0] == extWildcard:
		return Wildcard
	case t == extCompare && len(data) == 1 && data[0] == extInfinity:
		return Infinity
	}
	return Ext
}

// IsExt reports whether b starts with an extension value.
func IsExt(b []byte) bool {
	return len(b) > 0 && (b[0] >= 0xc7 && b[0] <= 0xc9 || b[0] >= 0xd4 && b[0] <= 0xd8)
}

// Extension reads an extension value: its type, its content, and what follows.
func Extension(b []byte) (typ byte, data, rest []byte, ok bool) {
	if !IsExt(b) {
		return 0, nil, b, false
	}
	head, n := 1, uint64(0)
	if c := b[0]; c >= 0xd4 {
		n = 1 << (c - 0xd4)
	} else {
		width := 1 << (c - 0xc7)
		if n, ok = number(b, width); !ok {
			return 0, nil, b, false
		}
		head += width
	}
	if uint64(len(b)) < uint64(head)+1+n {
		return 0, nil, b, false
	}
	end := head + 1 + int(n)
	return b[head], b[head+1 : end], b[end:], true
}

// HasUnstorable reports whether the value at the start of b is or contains a
// wildcard, an infinity or another value that can't be stored.
func HasUnstorable(b []byte) bool {
	left := 1
	for left > 0 && len(b) > 0 {
		left--
		switch Peek(b) {
		case ListKind, MapKind:
			n, rest, ok := head(b)
			if !ok || n > len(b) {
				return false
			}
			left, b = left+n, rest
			continue
		case Wildcard, Infinity:
			return true
		case Ext:
			if t, data, _, _ := Extension(b); t == extCompare && len(data) > 0 && len(data) < 4 {
				return true
			}
		default:
		}
		n := skip(b, 0)
		if n < 0 {
			return false
		}
		b = b[n:]
	}
	return false
}

// head reads the head of a list or map and returns how many values follow.
func head(b []byte) (n int, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, b, false
	}
	c, width, count := b[0], 0, uint64(0)
	switch {
	case c&0xf0 == 0x80, c&0xf0 == 0x90:
		count = uint64(c & 0x0f)
	case c >= 0xdc && c <= 0xdf:
		width = 2 << (c & 1)
		if count, ok = number(b, width); !ok {
			return 0, b, false
		}
	default:
		return 0, b, false
	}
	if c&0xf0 == 0x80 || c >= 0xde {
		count *= 2
	}
	if count > uint64(len(b)) { // each takes a byte at least
		return 0, b, false
	}
	return int(count), b[1+width:], true
}

// uint64At reads an integer of width bytes that is not longer than b.
func uint64At(b []byte, width int) uint64 {
	var w [8]byte
	copy(w[8-width:], b[:width])
	return binary.BigEndian.Uint64(w[:])
}
