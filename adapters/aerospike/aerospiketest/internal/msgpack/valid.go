package msgpack

import "encoding/binary"

// maxDepth bounds nesting, so that a hostile value can't exhaust the stack.
const maxDepth = 256

// List reports whether b is one list and nothing more.
func List(b []byte) bool {
	return len(b) > 0 && (b[0]&0xf0 == 0x90 || b[0] == 0xdc || b[0] == 0xdd) && Valid(b)
}

// Map reports whether b is one map and nothing more.
func Map(b []byte) bool {
	return len(b) > 0 && (b[0]&0xf0 == 0x80 || b[0] == 0xde || b[0] == 0xdf) && Valid(b)
}

// Valid reports whether b is one value and nothing more.
func Valid(b []byte) bool {
	n := skip(b, 0)
	return n > 0 && n == len(b)
}

// Skip returns the length of the value at the start of b, or -1 if there is none.
func Skip(b []byte) int { return skip(b, 0) }

// skip is Skip at a depth.
func skip(b []byte, depth int) int {
	if len(b) == 0 || depth > maxDepth {
		return -1
	}
	switch c := b[0]; {
	case c <= 0x7f || c >= 0xe0 || c == 0xc0 || c == 0xc2 || c == 0xc3:
		return 1
	case c <= 0x8f:
		return items(b, 1, 2*uint64(c&0x0f), depth)
	case c <= 0x9f:
		return items(b, 1, uint64(c&0x0f), depth)
	case c <= 0xbf:
		return fixed(b, 1+uint64(c&0x1f))
	default:
		return long(b, depth)
	}
}

// long handles the values with a length or a width after their first byte.
func long(b []byte, depth int) int {
	switch c := b[0]; c {
	case 0xc4, 0xd9:
		return sized(b, 1, 0)
	case 0xc5, 0xda:
		return sized(b, 2, 0)
	case 0xc6, 0xdb:
		return sized(b, 4, 0)
	case 0xc7, 0xc8, 0xc9:
		return sized(b, 1<<(c-0xc7), 1)
	case 0xcc, 0xd0:
		return fixed(b, 2)
	case 0xcd, 0xd1:
		return fixed(b, 3)
	case 0xca, 0xce, 0xd2:
		return fixed(b, 5)
	case 0xcb, 0xcf, 0xd3:
		return fixed(b, 9)
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8:
		return fixed(b, 2+1<<(c-0xd4))
	case 0xdc, 0xdd, 0xde, 0xdf:
		width := 2 << (c & 1)
		n, ok := number(b, width)
		if !ok {
			return -1
		}
		if c >= 0xde {
			n *= 2
		}
		return items(b, 1+width, n, depth)
	}
	return -1 // 0xc1 is not used
}

// number reads the number of width bytes after the first byte.
func number(b []byte, width int) (uint64, bool) {
	if len(b) < 1+width {
		return 0, false
	}
	switch width {
	case 1:
		return uint64(b[1]), true
	case 2:
		return uint64(binary.BigEndian.Uint16(b[1:])), true
	}
	return uint64(binary.BigEndian.Uint32(b[1:])), true
}

// sized is a value that has its length in width bytes and extra bytes more.
func sized(b []byte, width int, extra uint64) int {
	n, ok := number(b, width)
	if !ok {
		return -1
	}
	return fixed(b, 1+uint64(width)+extra+n)
}

func fixed(b []byte, n uint64) int {
	if n > uint64(len(b)) {
		return -1
	}
	return int(n)
}

// items skips n values after a head. Each takes a byte at least, so a count
// that is too high ends with the bytes.
func items(b []byte, head int, n uint64, depth int) int {
	if n > uint64(len(b)) {
		return -1
	}
	at := head
	for range n {
		k := skip(b[at:], depth+1)
		if k < 0 {
			return -1
		}
		at += k
	}
	return at
}
