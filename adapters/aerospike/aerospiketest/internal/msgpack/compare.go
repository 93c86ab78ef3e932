package msgpack

import (
	"bytes"
	"cmp"
)

// Compare orders the values at the start of a and b, which must be valid: -1 if
// a comes first, 1 if b does, 0 if they are equal. Values of different kinds are
// ordered by kind, so every integer comes before every float; lists element by
// element and then by length; maps by their number of pairs and then pair by
// pair as they are stored. Once a wildcard is met all is equal. NaN is equal to
// any float.
func Compare(a, b []byte) int {
	c := comparison{a: a, b: b}
	c.value(0)
	return c.order
}

// CompareStrict is Compare; unordered reports whether a map that isn't ordered,
// and isn't empty, was met on the way, so that the order of its pairs may have
// decided.
func CompareStrict(a, b []byte) (order int, unordered bool) {
	c := comparison{a: a, b: b}
	c.value(0)
	return c.order, c.unordered
}

// Equal reports whether the values at the start of a and b compare as equal.
func Equal(a, b []byte) bool { return Compare(a, b) == 0 }

// A comparison goes through two values side by side.
type comparison struct {
	a, b      []byte
	order     int
	unordered bool
}

// value compares the next two values and steps over them if they are equal. It
// reports whether to go on.
func (c *comparison) value(depth int) bool {
	ka, kb := Peek(c.a), Peek(c.b)
	if ka == MapKind {
		c.noteMap(c.a)
	}
	if kb == MapKind {
		c.noteMap(c.b)
	}
	if ka == Wildcard || kb == Wildcard || depth > maxDepth {
		return false
	}
	if ka != kb {
		return c.decide(cmp.Compare(ka, kb))
	}
	switch ka {
	case NegInt, Uint:
		va, ra, _ := Int(c.a)
		vb, rb, _ := Int(c.b)
		c.a, c.b = ra, rb
		return c.decide(cmp.Compare(uint64(va), uint64(vb))) // of one sign
	case Float:
		return c.floats()
	case String, Blob, GeoJSON:
		va, ra, _ := Bytes(c.a)
		vb, rb, _ := Bytes(c.b)
		c.a, c.b = ra, rb
		return c.decide(bytes.Compare(va, vb))
	case Ext:
		_, va, ra, _ := Extension(c.a)
		_, vb, rb, _ := Extension(c.b)
		c.a, c.b = ra, rb
		return c.decide(bytes.Compare(va, vb))
	case ListKind:
		return c.lists(depth)
	case MapKind:
		return c.maps(depth)
	default: // nil, booleans, infinity: one value each
		na, nb := skip(c.a, 0), skip(c.b, 0)
		if na < 0 || nb < 0 {
			return false
		}
		c.a, c.b = c.a[na:], c.b[nb:]
		return true
	}
}

func (c *comparison) decide(order int) bool {
	c.order = order
	return order == 0
}

func (c *comparison) noteMap(b []byte) {
	n, rest, ok := MapLen(b)
	if !ok || n == 0 {
		return
	}
	const keyOrdered = 1
	if t, _, _, has := Extension(rest); !has || t&keyOrdered == 0 {
		c.unordered = true
	}
}

func (c *comparison) floats() bool {
	va, ra, _ := Number(c.a)
	vb, rb, _ := Number(c.b)
	c.a, c.b = ra, rb
	switch {
	case va < vb:
		return c.decide(-1)
	case va > vb:
		return c.decide(1)
	}
	return true
}

func (c *comparison) lists(depth int) bool {
	na, _, ra, oka := ListHead(c.a)
	nb, _, rb, okb := ListHead(c.b)
	if !oka || !okb {
		return false
	}
	c.a, c.b = ra, rb
	for range min(na, nb) {
		if !c.value(depth + 1) {
			return false
		}
	}
	return c.decide(cmp.Compare(na, nb))
}

func (c *comparison) maps(depth int) bool {
	na, _, ra, oka := MapHead(c.a)
	nb, _, rb, okb := MapHead(c.b)
	if !oka || !okb {
		return false
	}
	c.a, c.b = ra, rb
	if na != nb {
		return c.decide(cmp.Compare(na, nb))
	}
	for range 2 * na {
		if !c.value(depth + 1) {
			return false
		}
	}
	return true
}
