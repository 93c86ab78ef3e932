package msgpack

import (
	"encoding/binary"
	"math"
)

// AppendNil appends nil.
func AppendNil(b []byte) []byte { return append(b, 0xc0) }

// AppendBool appends a boolean.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 0xc3)
	}
	return append(b, 0xc2)
}

// AppendInt appends an integer in its shortest form.
func AppendInt(b []byte, v int64) []byte {
	switch {
	case v >= 0:
		return AppendUint(b, uint64(v))
	case v >= -32:
		return append(b, byte(v))
	case v >= math.MinInt8:
		return append(b, 0xd0, byte(v))
	case v >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, 0xd1), uint16(v))
	case v >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(v))
}

// AppendUint appends an integer in its shortest form.
func AppendUint(b []byte, v uint64) []byte {
	switch {
	case v <= 0x7f:
		return append(b, byte(v))
	case v <= math.MaxUint8:
		return append(b, 0xcc, byte(v))
	case v <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(v))
	case v <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, 0xce), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xcf), v)
}

// AppendFloat appends a float of 64 bits.
func AppendFloat(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(v))
}

// AppendBytes appends a string or blob with its particle type in front, as it
// stands in lists and maps.
func AppendBytes(b []byte, particle byte, v []byte) []byte {
	return append(append(bytesHead(b, len(v)+1), particle), v...)
}

// AppendRaw appends a string or blob without a particle type, as bin names
// stand in expressions.
func AppendRaw(b, v []byte) []byte { return append(bytesHead(b, len(v)), v...) }

func bytesHead(b []byte, n int) []byte {
	switch {
	case n <= 0x1f:
		return append(b, 0xa0|byte(n))
	case n <= math.MaxUint8:
		return append(b, 0xd9, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xda), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, 0xdb), uint32(n))
}

// AppendListLen appends the head of a list of n values.
func AppendListLen(b []byte, n int) []byte { return appendHead(b, 0x90, 0xdc, n) }

// AppendMapLen appends the head of a map of n pairs.
func AppendMapLen(b []byte, n int) []byte { return appendHead(b, 0x80, 0xde, n) }

func appendHead(b []byte, short, long byte, n int) []byte {
	switch {
	case n <= 0x0f:
		return append(b, short|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, long), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, long+1), uint32(n))
}

// AppendListHead appends the head of a list of n elements with flags, of which 0
// is none.
func AppendListHead(b []byte, n int, flags byte) []byte {
	if flags == 0 {
		return AppendListLen(b, n)
	}
	return append(AppendListLen(b, n+1), 0xc7, 0, flags)
}

// AppendMapHead appends the head of a map of n pairs with flags, of which 0 is
// none.
func AppendMapHead(b []byte, n int, flags byte) []byte {
	if flags == 0 {
		return AppendMapLen(b, n)
	}
	return append(AppendMapLen(b, n+1), 0xc7, 0, flags, 0xc0)
}
