package lua

import (
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

const (
	// itemSize is what an element of a collection counts for.
	itemSize = 32
	// maxShown is how much tostring shows of a collection.
	maxShown = 4 << 10
)

// listOf returns a list that is an argument.
func (s *state) listOf(arg int) *udf.List {
	if l, ok := valueOf(s.l.Get(arg)).(*udf.List); ok {
		return l
	}
	s.l.ArgError(arg, "list expected, got "+typeName(s.l.Get(arg)))
	return nil
}

// valueOf returns what a userdata holds, or nil.
func valueOf(v lua.LValue) any {
	if u, ok := v.(*lua.LUserData); ok {
		return u.Value
	}
	return nil
}

func (s *state) newList(items []any) int {
	s.use(itemSize * (len(items) + 1))
	s.l.Push(s.value(&udf.List{Items: items}))
	return 1
}

// listType defines lists.
func (s *state) listType() {
	s.meta.list = s.l.NewTable()
	s.l.SetFuncs(s.meta.list, map[string]lua.LGFunction{
		"__index": func(l *lua.LState) int {
			items := s.listOf(1).Items
			n, ok := asNumber(l.Get(2))
			if i, whole := n.whole(); ok && whole && i >= 1 && i <= int64(len(items)) {
				l.Push(s.value(items[i-1]))
			} else {
				l.Push(lua.LNil)
			}
			return 1
		},
		"__newindex": func(l *lua.LState) int {
			x := s.listOf(1)
			i := s.wholeArg(2)
			if i < 1 || i > maxText {
				l.ArgError(2, "index out of range")
			}
			s.grow(x, int(i))
			x.Items[i-1] = s.result(l.Get(3))
			return 0
		},
		"__len":      func(*lua.LState) int { return s.push(integer(int64(len(s.listOf(1).Items)))) },
		"__tostring": func(*lua.LState) int { return s.newText(s.show(s.listOf(1))) },
	})
	t := s.library("list", s.listReads())
	s.l.SetFuncs(t, s.listChanges())
	s.callable(t, func(l *lua.LState) int {
		table, ok := l.Get(2).(*lua.LTable)
		if !ok {
			if l.GetTop() > 1 {
				l.ArgError(1, "table expected, got "+typeName(l.Get(2)))
			}
			return s.newList(nil)
		}
		var items []any
		table.ForEach(func(_, v lua.LValue) { items = append(items, s.result(v)) })
		return s.newList(items)
	})
}

// listReads are the functions that leave a list as it is.
func (s *state) listReads() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{
		"create": func(*lua.LState) int { return s.newList(nil) },
		"size":   func(*lua.LState) int { return s.push(integer(int64(len(s.listOf(1).Items)))) },
		"clone":  func(*lua.LState) int { return s.newList(slices.Clone(s.listOf(1).Items)) },
		"take": func(*lua.LState) int {
			items := s.listOf(1).Items
			return s.newList(slices.Clone(items[:within(s.wholeArg(2), len(items))]))
		},
		"drop": func(*lua.LState) int {
			items := s.listOf(1).Items
			return s.newList(slices.Clone(items[within(s.wholeArg(2), len(items)):]))
		},
		"merge": func(*lua.LState) int {
			return s.newList(slices.Concat(s.listOf(1).Items, s.listOf(2).Items))
		},
		"iterator": func(l *lua.LState) int {
			items, i := s.listOf(1), 0
			l.Push(l.NewFunction(func(l *lua.LState) int {
				if i >= len(items.Items) {
					return 0
				}
				i++
				l.Push(s.value(items.Items[i-1]))
				return 1
			}))
			return 1
		},
	}
}

// listChanges are the functions that change a list.
func (s *state) listChanges() map[string]lua.LGFunction {
	add := func(x *udf.List, at int, v ...any) int {
		s.use(itemSize * len(v))
		s.budget.instructions -= (len(x.Items) - at) / 16
		x.Items = slices.Insert(x.Items, at, v...)
		return 0
	}
	return map[string]lua.LGFunction{
		"append": func(l *lua.LState) int {
			x := s.listOf(1)
			return add(x, len(x.Items), s.result(l.Get(2)))
		},
		"prepend": func(l *lua.LState) int { return add(s.listOf(1), 0, s.result(l.Get(2))) },
		"insert": func(l *lua.LState) int {
			x, i := s.listOf(1), s.wholeArg(2)
			if i < 1 || i > maxText {
				l.ArgError(2, "index out of range")
			}
			s.grow(x, int(i)-1)
			return add(x, int(i)-1, s.result(l.Get(3)))
		},
		"concat": func(*lua.LState) int {
			x := s.listOf(1)
			return add(x, len(x.Items), slices.Clone(s.listOf(2).Items)...)
		},
		"remove": func(*lua.LState) int {
			x, i := s.listOf(1), s.wholeArg(2)
			if i >= 1 && i <= int64(len(x.Items)) {
				s.budget.instructions -= (len(x.Items) - int(i)) / 16
				x.Items = slices.Delete(x.Items, int(i)-1, int(i))
			}
			return 0
		},
		"trim": func(*lua.LState) int {
			x := s.listOf(1)
			x.Items = x.Items[:within(s.wholeArg(2)-1, len(x.Items))]
			return 0
		},
	}
}

// grow fills a list up with nils to a length.
func (s *state) grow(x *udf.List, n int) {
	if n > len(x.Items) {
		s.use(itemSize * (n - len(x.Items)))
		x.Items = append(x.Items, make([]any, n-len(x.Items))...)
	}
}

// within brings a count into the bounds of a length.
func within(i int64, n int) int { return int(max(0, min(i, int64(n)))) }

// callable makes a library a function, too: its first argument is the library.
func (s *state) callable(t *lua.LTable, f lua.LGFunction) {
	meta := s.l.NewTable()
	meta.RawSetString("__call", s.l.NewFunction(f))
	t.Metatable = meta
}

// show is what tostring shows of a value.
func (s *state) show(v any) string {
	var b strings.Builder
	show(&b, v, 0)
	return b.String()
}

func show(b *strings.Builder, v any, depth int) {
	if b.Len() > maxShown || depth > 16 {
		b.WriteString("...")
		return
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("NIL")
	case string:
		fmt.Fprintf(b, "%q", v)
	case *udf.Bytes:
		fmt.Fprintf(b, "% X", v.Data[:min(len(v.Data), maxShown)])
	case *udf.List:
		b.WriteString("List(")
		for i, x := range v.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			show(b, x, depth+1)
			if b.Len() > maxShown {
				break
			}
		}
		b.WriteByte(')')
	case *udf.Map:
		b.WriteString("Map(")
		first := true
		v.Pairs(func(k, x any) bool {
			if !first {
				b.WriteString(", ")
			}
			first = false
			show(b, k, depth+1)
			b.WriteString("->")
			show(b, x, depth+1)
			return b.Len() <= maxShown
		})
		b.WriteByte(')')
	default:
		fmt.Fprint(b, v)
	}
}
