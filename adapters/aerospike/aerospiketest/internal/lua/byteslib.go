package lua

import (
	"encoding/binary"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// bytesOf returns the bytes that are the first argument.
func (s *state) bytesOf() *udf.Bytes {
	if b, ok := valueOf(s.l.Get(1)).(*udf.Bytes); ok {
		return b
	}
	s.l.ArgError(1, "bytes expected, got "+typeName(s.l.Get(1)))
	return nil
}

// bytesType defines bytes. Places are counted from 1; what reads beyond the end gives
// nil, and what writes there makes them longer.
func (s *state) bytesType() {
	s.meta.bytes = s.l.NewTable()
	s.l.SetFuncs(s.meta.bytes, map[string]lua.LGFunction{
		"__index": func(l *lua.LState) int {
			b := s.bytesOf().Data
			n, ok := asNumber(l.Get(2))
			if i, whole := n.whole(); ok && whole && i >= 1 && i <= int64(len(b)) {
				return s.push(integer(int64(b[i-1])))
			}
			l.Push(lua.LNil)
			return 1
		},
		"__newindex": func(*lua.LState) int {
			s.put(s.bytesOf(), s.wholeArg(2), []byte{byte(s.wholeArg(3))})
			return 0
		},
		"__len":      func(*lua.LState) int { return s.push(integer(int64(len(s.bytesOf().Data)))) },
		"__tostring": func(*lua.LState) int { return s.newText(s.show(s.bytesOf())) },
	})
	t := s.library("bytes", map[string]lua.LGFunction{
		"size": func(*lua.LState) int { return s.push(integer(int64(len(s.bytesOf().Data)))) },
		"set_size": func(l *lua.LState) int {
			b, n := s.bytesOf(), s.wholeArg(2)
			ok := n >= 0 && n <= maxText
			if ok {
				s.extend(b, int(n))
				b.Data = b.Data[:n]
			}
			l.Push(lua.LBool(ok))
			return 1
		},
		"get_type": func(*lua.LState) int { return s.push(integer(int64(s.bytesOf().Type))) },
		"set_type": func(*lua.LState) int {
			s.bytesOf().Type = byte(s.wholeArg(2))
			return 0
		},
	})
	create := func(from int) int {
		n := s.optInt(from, 0)
		if n < 0 || n > maxText {
			s.l.ArgError(from, "size out of range")
		}
		s.use(int(n) + itemSize)
		s.l.Push(s.value(udf.NewBytes(make([]byte, n))))
		return 1
	}
	t.RawSetString("create", s.l.NewFunction(func(*lua.LState) int { return create(1) }))
	s.callable(t, func(*lua.LState) int { return create(2) })
	s.bytesNumbers(t)
	s.bytesParts(t)
	s.l.SetFuncs(t, s.variableInts())
}

// extend makes bytes at least n long.
func (s *state) extend(b *udf.Bytes, n int) {
	if n > len(b.Data) {
		s.use(n - len(b.Data))
		b.Data = append(b.Data, make([]byte, n-len(b.Data))...)
	}
}

// put writes at a place and pushes whether it is one.
func (s *state) put(b *udf.Bytes, at int64, v []byte) int {
	ok := at >= 1 && at <= maxText
	if ok {
		s.extend(b, int(at)-1+len(v))
		copy(b.Data[at-1:], v)
	}
	s.l.Push(lua.LBool(ok))
	return 1
}

// slice returns n bytes from a place, if they are there.
func slice(b *udf.Bytes, at, n int64) ([]byte, bool) {
	if at < 1 || n < 0 || n > int64(len(b.Data)) || at-1 > int64(len(b.Data))-n {
		return nil, false
	}
	return b.Data[at-1 : at-1+n], true
}

// bytesNumbers defines get_, set_, put_ and append_ for integers of each width, big
// endian unless the name says otherwise.
func (s *state) bytesNumbers(t *lua.LTable) {
	define := func(name string, width int64, order binary.ByteOrder) {
		pack := func(v int64) []byte {
			var w [8]byte
			order.PutUint64(w[:], uint64(v))
			if order == binary.ByteOrder(binary.BigEndian) {
				return w[8-width:]
			}
			return w[:width]
		}
		s.accessors(t, name, pack, func(b *udf.Bytes, at int64) (int64, bool) {
			part, ok := slice(b, at, width)
			if !ok {
				return 0, false
			}
			var w [8]byte
			shift := 64 - 8*width
			if order == binary.ByteOrder(binary.BigEndian) {
				copy(w[:], part)
			} else {
				copy(w[8-width:], part)
			}
			v := int64(order.Uint64(w[:])) >> shift // the sign comes along
			if width == 1 {
				v &= 0xff
			}
			return v, true
		})
	}
	define("byte", 1, binary.BigEndian)
	for name, width := range map[string]int64{"int16": 2, "int32": 4, "int64": 8} {
		define(name, width, binary.BigEndian)
		define(name+"_be", width, binary.BigEndian)
		define(name+"_le", width, binary.LittleEndian)
	}
}

func (s *state) accessors(t *lua.LTable, name string, pack func(int64) []byte, read func(*udf.Bytes, int64) (int64, bool)) {
	set := func(*lua.LState) int { return s.put(s.bytesOf(), s.wholeArg(2), pack(s.wholeArg(3))) }
	s.l.SetFuncs(t, map[string]lua.LGFunction{
		"get_" + name: func(l *lua.LState) int {
			v, ok := read(s.bytesOf(), s.wholeArg(2))
			if ok {
				return s.push(integer(v))
			}
			l.Push(lua.LNil)
			return 1
		},
		"set_" + name: set,
		"put_" + name: set,
		"append_" + name: func(*lua.LState) int {
			b := s.bytesOf()
			return s.put(b, int64(len(b.Data))+1, pack(s.wholeArg(2)))
		},
	})
}

// bytesParts defines get_, set_, put_ and append_ for strings and bytes. Those that
// write take a length; without one all is written.
func (s *state) bytesParts(t *lua.LTable) {
	content := func(arg int) []byte {
		var data []byte
		if b, ok := valueOf(s.l.Get(arg)).(*udf.Bytes); ok {
			data = b.Data
		} else {
			data = []byte(s.l.CheckString(arg))
		}
		return slices.Clone(data[:within(s.optInt(arg+1, int64(len(data))), len(data))])
	}
	for name, wrap := range map[string]func([]byte) any{
		"string": func(b []byte) any { return string(b) },
		"bytes":  func(b []byte) any { return udf.NewBytes(slices.Clone(b)) },
	} {
		set := func(*lua.LState) int { return s.put(s.bytesOf(), s.wholeArg(2), content(3)) }
		s.l.SetFuncs(t, map[string]lua.LGFunction{
			"get_" + name: func(l *lua.LState) int {
				part, ok := slice(s.bytesOf(), s.wholeArg(2), s.wholeArg(3))
				if !ok {
					l.Push(lua.LNil)
					return 1
				}
				s.use(len(part))
				l.Push(s.value(wrap(part)))
				return 1
			},
			"set_" + name: set,
			"put_" + name: set,
			"append_" + name: func(*lua.LState) int {
				b := s.bytesOf()
				return s.put(b, int64(len(b.Data))+1, content(2))
			},
		})
	}
}

// variableInts are those for integers of seven bits a byte, the lowest first.
func (s *state) variableInts() map[string]lua.LGFunction {
	write := func(b *udf.Bytes, at, v int64) int {
		part := binary.AppendUvarint(nil, uint64(uint32(v)))
		s.put(b, at, part)
		s.l.Pop(1)
		return s.push(integer(int64(len(part))))
	}
	set := func(*lua.LState) int { return write(s.bytesOf(), s.wholeArg(2), s.wholeArg(3)) }
	return map[string]lua.LGFunction{
		"get_var_int": func(*lua.LState) int {
			b, at := s.bytesOf(), s.wholeArg(2)
			v, n := uint64(0), 0
			if at >= 1 && at <= int64(len(b.Data)) {
				v, n = binary.Uvarint(b.Data[at-1:])
			}
			s.push(integer(int64(v)))
			return 1 + s.push(integer(int64(max(n, 0))))
		},
		"set_var_int": set,
		"put_var_int": set,
		"append_var_int": func(*lua.LState) int {
			b := s.bytesOf()
			return write(b, int64(len(b.Data))+1, s.wholeArg(2))
		},
	}
}
