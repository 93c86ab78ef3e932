package lua

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// value returns a value as a module sees it.
func (s *state) value(v any) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case int64:
		return s.number(integer(v))
	case float64:
		return s.number(float(v))
	case string:
		return lua.LString(v)
	case udf.GeoJSON:
		return s.userdata(v, s.meta.geo)
	case *udf.Bytes:
		return s.userdata(v, s.meta.bytes)
	case *udf.List:
		return s.userdata(v, s.meta.list)
	case *udf.Map:
		return s.userdata(v, s.meta.maps)
	}
	return lua.LNil
}

func (s *state) values(l []any) []lua.LValue {
	out := make([]lua.LValue, len(l))
	for i, v := range l {
		out[i] = s.value(v)
	}
	return out
}

// result returns what a module's value stands for. Tables, functions and records
// stand for nothing.
func (s *state) result(v lua.LValue) any {
	if n, ok := asNumber(v); ok {
		if n.int {
			return n.i
		}
		return n.f
	}
	switch v := v.(type) {
	case lua.LBool:
		return bool(v)
	case lua.LString:
		return string(v)
	case *lua.LUserData:
		switch x := v.Value.(type) {
		case udf.GeoJSON, *udf.Bytes, *udf.List, *udf.Map:
			return x
		}
	}
	return nil
}

// numberType defines what is done with boxes that rewritten modules leave to the
// interpreter, and what shows and reads numbers.
func (s *state) numberType() {
	s.meta.number = s.l.NewTable()
	s.l.SetFuncs(s.meta.number, map[string]lua.LGFunction{
		"__tostring": func(l *lua.LState) int {
			l.Push(lua.LString(s.text(l.Get(1))))
			return 1
		},
	})
	s.global("tostring", func(l *lua.LState) int {
		l.Push(lua.LString(s.text(l.CheckAny(1))))
		return 1
	})
	s.global("type", func(l *lua.LState) int {
		l.Push(lua.LString(typeName(l.CheckAny(1))))
		return 1
	})
	base := s.l.GetGlobal("tonumber")
	s.global("tonumber", func(l *lua.LState) int {
		if l.GetTop() > 1 {
			l.Push(s.call(base, plain(l.Get(1)), plain(l.Get(2))))
			return 1
		}
		if n, ok := toNumber(l.CheckAny(1)); ok {
			l.Push(s.number(n))
		} else {
			l.Push(lua.LNil)
		}
		return 1
	})
}

// geoType defines shapes, which have a text and nothing else.
func (s *state) geoType() {
	s.meta.geo = s.l.NewTable()
	s.l.SetFuncs(s.meta.geo, map[string]lua.LGFunction{
		"__tostring": func(l *lua.LState) int {
			g, _ := l.CheckUserData(1).Value.(udf.GeoJSON)
			l.Push(lua.LString(g))
			return 1
		},
	})
}
