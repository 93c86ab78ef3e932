package lua

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// mapOf returns a map that is an argument.
func (s *state) mapOf(arg int) *udf.Map {
	if m, ok := valueOf(s.l.Get(arg)).(*udf.Map); ok {
		return m
	}
	s.l.ArgError(arg, "map expected, got "+typeName(s.l.Get(arg)))
	return nil
}

func (s *state) newMap(m *udf.Map) int {
	s.use(2 * itemSize * (m.Len() + 1))
	s.l.Push(s.value(m))
	return 1
}

// setPair sets or, with nil, removes a key.
func (s *state) setPair(m *udf.Map, k, v lua.LValue) {
	key := s.result(k)
	if v == lua.LNil {
		m.Remove(key)
		return
	}
	s.use(2 * itemSize)
	if !m.Set(key, s.result(v)) {
		s.l.RaiseError("a %s can't be a map's key", typeName(k))
	}
}

// mapType defines maps.
func (s *state) mapType() {
	s.meta.maps = s.l.NewTable()
	s.l.SetFuncs(s.meta.maps, map[string]lua.LGFunction{
		"__index": func(l *lua.LState) int {
			l.Push(s.value(s.mapOf(1).Get(s.result(l.Get(2)))))
			return 1
		},
		"__newindex": func(l *lua.LState) int {
			s.setPair(s.mapOf(1), l.Get(2), l.Get(3))
			return 0
		},
		"__len":      func(*lua.LState) int { return s.push(integer(int64(s.mapOf(1).Len()))) },
		"__tostring": func(*lua.LState) int { return s.newText(s.show(s.mapOf(1))) },
	})
	pairs := func(*lua.LState) int { return s.iterate(true, true) }
	t := s.library("map", map[string]lua.LGFunction{
		"create": func(*lua.LState) int { return s.newMap(new(udf.Map)) },
		"size":   func(*lua.LState) int { return s.push(integer(int64(s.mapOf(1).Len()))) },
		"clone":  func(*lua.LState) int { return s.newMap(s.mapOf(1).Clone()) },
		"remove": func(l *lua.LState) int {
			s.mapOf(1).Remove(s.result(l.Get(2)))
			return 0
		},
		"clean": func(*lua.LState) int {
			m := s.mapOf(1)
			*m = udf.Map{Flags: m.Flags}
			return 0
		},
		"pairs":    pairs,
		"iterator": pairs,
		"keys":     func(*lua.LState) int { return s.iterate(true, false) },
		"values":   func(*lua.LState) int { return s.iterate(false, true) },
		"merge":    func(*lua.LState) int { return s.merge(false) },
		"diff":     func(*lua.LState) int { return s.merge(true) },
	})
	s.callable(t, func(l *lua.LState) int {
		m := new(udf.Map)
		if table, ok := l.Get(2).(*lua.LTable); ok {
			table.ForEach(func(k, v lua.LValue) { s.setPair(m, k, v) })
		}
		return s.newMap(m)
	})
}

// iterate returns an iterator over the pairs that a map has now.
func (s *state) iterate(keys, values bool) int {
	m := s.mapOf(1)
	s.use(2 * itemSize * m.Len())
	var list [][2]any
	m.Pairs(func(k, v any) bool {
		list = append(list, [2]any{k, v})
		return true
	})
	i := 0
	s.l.Push(s.l.NewFunction(func(l *lua.LState) int {
		if i >= len(list) {
			return 0
		}
		p := list[i]
		i++
		n := 0
		if keys {
			l.Push(s.value(p[0]))
			n++
		}
		if values {
			l.Push(s.value(p[1]))
			n++
		}
		return n
	}))
	return 1
}

// merge returns the pairs of two maps, those with a key that both have by a
// function, or those of one map alone.
func (s *state) merge(apart bool) int {
	a, b, f := s.mapOf(1), s.mapOf(2), s.l.Get(3)
	out := new(udf.Map)
	a.Pairs(func(k, v any) bool {
		other := b.Get(k)
		switch {
		case other == nil:
			out.Set(k, v)
		case apart:
		case f.Type() == lua.LTFunction:
			out.Set(k, s.result(s.call(f, s.value(v), s.value(other))))
		default:
			out.Set(k, v)
		}
		return true
	})
	b.Pairs(func(k, v any) bool {
		if a.Get(k) == nil {
			out.Set(k, v)
		}
		return true
	})
	return s.newMap(out)
}
