package lua

import (
	lua "github.com/yuin/gopher-lua"
)

// sparse is up to which index a table's element costs nothing extra: the interpreter
// fills a table up to the index that is set.
const sparse = 1 << 10

// indexing defines the functions that rewritten modules read and set elements by.
func (s *state) indexing() {
	s.global(fnIndex, func(l *lua.LState) int {
		o, k := l.Get(1), l.Get(2)
		if o.Type() == lua.LTTable {
			k = plain(k)
		}
		l.Push(l.GetTable(o, k))
		return 1
	})
	s.global(fnNewIndex, func(l *lua.LState) int {
		o, k := l.Get(1), l.Get(2)
		if t, ok := o.(*lua.LTable); ok {
			k = s.key(t.Len(), k)
		}
		l.SetTable(o, k, l.Get(3))
		return 0
	})
	s.global(fnKey, func(l *lua.LState) int {
		l.Push(s.key(0, l.Get(1)))
		return 1
	})
	s.global("rawset", func(l *lua.LState) int {
		t := l.CheckTable(1)
		t.RawSet(s.key(t.Len(), s.notNil(2)), l.Get(3))
		l.SetTop(1)
		return 1
	})
	s.global("rawget", func(l *lua.LState) int {
		l.Push(l.CheckTable(1).RawGet(plain(l.CheckAny(2))))
		return 1
	})
}

func (s *state) notNil(arg int) lua.LValue {
	v := s.l.Get(arg)
	if v == lua.LNil {
		s.l.RaiseError("index is nil")
	}
	return v
}

// key returns a table's key without its box, and takes the memory that a table of n
// elements needs to reach it.
func (s *state) key(n int, k lua.LValue) lua.LValue {
	k = plain(k)
	if f, ok := k.(lua.LNumber); ok {
		if f != f {
			s.l.RaiseError("table index is NaN")
		}
		if gap := float64(f) - float64(n); gap > sparse && f <= lua.LNumber(lua.MaxArrayIndex) {
			s.use(16 * int(gap))
		}
	}
	return k
}
