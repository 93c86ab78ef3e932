package msgpack

import (
	"encoding/binary"
	"math"
)

// Int reads an integer. Those above the largest int64 wrap.
func Int(b []byte) (v int64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, b, false
	}
	switch c := b[0]; {
	case c <= 0x7f:
		return int64(c), b[1:], true
	case c >= 0xe0:
		return int64(int8(c)), b[1:], true
	case c >= 0xcc && c <= 0xd3:
		width := 1 << ((c - 0xcc) & 3)
		if len(b) < 1+width {
			return 0, b, false
		}
		v = int64(uint64At(b[1:], width))
		if shift := 64 - 8*width; c >= 0xd0 {
			v = v << shift >> shift
		}
		return v, b[1+width:], true
	}
	return 0, b, false
}

// Number reads a float, or an integer as a float.
func Number(b []byte) (v float64, rest []byte, ok bool) {
	switch {
	case len(b) >= 5 && b[0] == 0xca:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b[1:]))), b[5:], true
	case len(b) >= 9 && b[0] == 0xcb:
		return math.Float64frombits(binary.BigEndian.Uint64(b[1:])), b[9:], true
	}
	i, rest, ok := Int(b)
	return float64(i), rest, ok
}

// Bool reads a boolean.
func Bool(b []byte) (v bool, rest []byte, ok bool) {
	if len(b) == 0 || b[0]&0xfe != 0xc2 {
		return false, b, false
	}
	return b[0] == 0xc3, b[1:], true
}

// Bytes reads a string or blob as it is: in a list or map, or as an argument for
// one, its first byte is the particle type.
func Bytes(b []byte) (v, rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, b, false
	}
	width, n := 0, uint64(0)
	switch c := b[0]; {
	case c&0xe0 == 0xa0:
		n = uint64(c & 0x1f)
	case c >= 0xc4 && c <= 0xc6:
		width = 1 << (c - 0xc4)
	case c >= 0xd9 && c <= 0xdb:
		width = 1 << (c - 0xd9)
	default:
		return nil, b, false
	}
	if width > 0 {
		if n, ok = number(b, width); !ok {
			return nil, b, false
		}
	}
	if uint64(len(b)-1-width) < n {
		return nil, b, false
	}
	end := 1 + width + int(n)
	return b[1+width : end], b[end:], true
}

// Value cuts off the value at the start of b.
func Value(b []byte) (v, rest []byte, ok bool) {
	n := skip(b, 0)
	if n < 0 {
		return nil, b, false
	}
	return b[:n], b[n:], true
}

// ListLen reads the head of a list, whatever its first element is.
func ListLen(b []byte) (n int, rest []byte, ok bool) {
	if Peek(b) != ListKind {
		return 0, b, false
	}
	return head(b)
}

// MapLen reads the head of a map, whatever its first pair is, and returns the
// number of pairs.
func MapLen(b []byte) (n int, rest []byte, ok bool) {
	if Peek(b) != MapKind {
		return 0, b, false
	}
	n, rest, ok = head(b)
	return n / 2, rest, ok
}

// ListHead reads the head of a list together with the extension value that
// holds its flags, if there is one, which isn't counted as an element.
func ListHead(b []byte) (n int, flags byte, rest []byte, ok bool) {
	n, rest, ok = ListLen(b)
	if !ok || n == 0 {
		return n, 0, rest, ok
	}
	if t, _, after, has := Extension(rest); has && t != extCompare {
		return n - 1, t, after, true
	}
	return n, 0, rest, true
}

// MapHead is ListHead for a map; it returns the number of pairs. The extension
// value stands as a key, its value means nothing.
func MapHead(b []byte) (n int, flags byte, rest []byte, ok bool) {
	n, rest, ok = MapLen(b)
	if !ok || n == 0 {
		return n, 0, rest, ok
	}
	t, _, after, has := Extension(rest)
	if !has || t == extCompare {
		return n, 0, rest, true
	}
	if _, after, ok = Value(after); !ok {
		return 0, 0, rest, false
	}
	return n - 1, t, after, true
}
