package lua

import (
	"sort"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// tableLibrary makes functions on tables take boxed numbers and keep to the budget.
func (s *state) tableLibrary() {
	t, _ := s.l.GetGlobal(lua.TabLibName).(*lua.LTable)
	for _, name := range []string{"getn", "maxn", "remove"} {
		if f, ok := t.RawGetString(name).(*lua.LFunction); ok {
			t.RawSetString(name, s.l.NewFunction(unboxed(f.GFunction)))
		}
	}
	s.l.SetFuncs(t, map[string]lua.LGFunction{
		"concat": s.join, "insert": s.insert, "sort": s.sortTable,
		"unpack": func(l *lua.LState) int {
			n := l.GetTop()
			s.l.Push(s.l.GetGlobal("unpack"))
			for i := 1; i <= n; i++ {
				l.Push(l.Get(i))
			}
			l.Call(n, lua.MultRet)
			return l.GetTop() - n
		},
	})
}

func (s *state) insert(l *lua.LState) int {
	t := l.CheckTable(1)
	n := t.Len()
	switch l.GetTop() {
	case 2:
		t.Append(l.Get(2))
	case 3:
		at := s.wholeArg(2)
		if at < 1 || at > int64(n)+1 {
			l.ArgError(2, "position out of bounds")
		}
		s.budget.instructions -= n - int(at) + 1
		t.Insert(int(at), l.Get(3))
	default:
		l.RaiseError("wrong number of arguments to 'insert'")
	}
	return 0
}

func (s *state) join(l *lua.LState) int {
	t, sep := l.CheckTable(1), l.OptString(2, "")
	from, to := s.optInt(3, 1), s.optInt(4, int64(t.Len()))
	if from < 1 || to > int64(t.Len()) {
		if from <= to {
			l.RaiseError("invalid value (nil) in table for 'concat'")
		}
	}
	var out strings.Builder
	for i := from; i <= to; i++ {
		v := t.RawGetInt(int(i))
		if !isText(v) {
			l.RaiseError("invalid value (a %s) at index %d in table for 'concat'", typeName(v), i)
		}
		if i > from {
			out.WriteString(sep)
		}
		out.WriteString(s.text(v))
		if out.Len() > maxText {
			l.RaiseError("resulting string too large")
		}
	}
	return s.newText(out.String())
}

func (s *state) sortTable(l *lua.LState) int {
	t := l.CheckTable(1)
	less := func(a, b lua.LValue) bool { return s.less(a, b, false) }
	if f := l.Get(2); f != lua.LNil {
		l.CheckFunction(2)
		less = func(a, b lua.LValue) bool { return lua.LVAsBool(s.call(f, a, b)) }
	}
	items := make([]lua.LValue, t.Len())
	s.use(16 * len(items))
	for i := range items {
		items[i] = t.RawGetInt(i + 1)
	}
	sort.Slice(items, func(i, j int) bool {
		s.budget.instructions--
		return less(items[i], items[j])
	})
	for i, v := range items {
		t.RawSetInt(i+1, v)
	}
	return 0
}
