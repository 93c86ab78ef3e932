package lua

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// Names of the functions that rewritten modules call. No program can write them.
const (
	fnAdd      = "\x00add"
	fnSub      = "\x00sub"
	fnMul      = "\x00mul"
	fnDiv      = "\x00div"
	fnMod      = "\x00mod"
	fnPow      = "\x00pow"
	fnNeg      = "\x00unm"
	fnConcat   = "\x00concat"
	fnEqual    = "\x00eq"
	fnLess     = "\x00lt"
	fnAtMost   = "\x00le"
	fnIndex    = "\x00index"
	fnNewIndex = "\x00newindex"
	fnKey      = "\x00key"
	fnBound    = "\x00bound"
	fnLiteral  = "\x00literal"
)

// operators defines the functions of arithmetic and comparison.
func (s *state) operators() {
	type op func(a, b number) number
	for name, f := range map[string]op{fnAdd: add, fnSub: sub, fnMul: mul, fnDiv: div, fnMod: s.mod, fnPow: pow} {
		s.global(name, func(l *lua.LState) int {
			a, b := l.Get(1), l.Get(2)
			x, ok := toNumber(a)
			y, ok2 := toNumber(b)
			if ok && ok2 {
				l.Push(s.number(f(x, y)))
				return 1
			}
			return s.metaOperator(l, "__"+name[1:], a, b, "perform arithmetic on")
		})
	}
	s.global(fnNeg, func(l *lua.LState) int {
		v := l.Get(1)
		x, ok := toNumber(v)
		if !ok {
			return s.metaOperator(l, "__unm", v, v, "perform arithmetic on")
		}
		l.Push(s.number(neg(x)))
		return 1
	})
	s.global(fnEqual, func(l *lua.LState) int {
		l.Push(lua.LBool(s.equal(l.Get(1), l.Get(2))))
		return 1
	})
	s.global(fnLess, func(l *lua.LState) int {
		l.Push(lua.LBool(s.less(l.Get(1), l.Get(2), false)))
		return 1
	})
	s.global(fnAtMost, func(l *lua.LState) int {
		l.Push(lua.LBool(s.less(l.Get(1), l.Get(2), true)))
		return 1
	})
	s.global(fnBound, func(l *lua.LState) int {
		l.Push(plain(l.Get(1)))
		return 1
	})
	s.global(fnLiteral, func(l *lua.LState) int {
		n, _ := parseNumber(l.CheckString(1))
		l.Push(s.number(n))
		return 1
	})
}

// metaOperator carries out an operator by a metamethod of one of its operands.
func (s *state) metaOperator(l *lua.LState, event string, a, b lua.LValue, what string) int {
	f := l.GetMetaField(a, event)
	if f == lua.LNil {
		f = l.GetMetaField(b, event)
	}
	if f == lua.LNil {
		bad := b
		if _, ok := toNumber(a); !ok && (event != "__concat" || !isText(a)) {
			bad = a
		}
		l.RaiseError("attempt to %s a %s value", what, typeName(bad))
	}
	l.Push(f)
	l.Push(a)
	l.Push(b)
	l.Call(2, 1)
	return 1
}

func isText(v lua.LValue) bool {
	_, ok := asNumber(v)
	return ok || v.Type() == lua.LTString
}

func typeName(v lua.LValue) string {
	if _, ok := asNumber(v); ok {
		return "number"
	}
	return v.Type().String()
}

func add(a, b number) number {
	if a.int && b.int {
		return integer(a.i + b.i)
	}
	return float(a.float() + b.float())
}

func sub(a, b number) number {
	if a.int && b.int {
		return integer(a.i - b.i)
	}
	return float(a.float() - b.float())
}

func mul(a, b number) number {
	if a.int && b.int {
		return integer(a.i * b.i)
	}
	return float(a.float() * b.float())
}

func div(a, b number) number { return float(a.float() / b.float()) }
func pow(a, b number) number { return float(math.Pow(a.float(), b.float())) }

func neg(a number) number {
	if a.int {
		return integer(-a.i)
	}
	return float(-a.f)
}

// mod is the remainder that has the sign of the divisor.
func (s *state) mod(a, b number) number {
	if a.int && b.int {
		switch b.i {
		case 0:
			s.l.RaiseError("attempt to perform 'n%%%%0'")
		case -1:
			return integer(0)
		}
		r := a.i % b.i
		if r != 0 && (r < 0) != (b.i < 0) {
			r += b.i
		}
		return integer(r)
	}
	x, y := a.float(), b.float()
	r := math.Mod(x, y)
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return float(r)
}

func (s *state) equal(a, b lua.LValue) bool {
	x, ok := asNumber(a)
	y, ok2 := asNumber(b)
	if ok && ok2 {
		if x.int && y.int {
			return x.i == y.i
		}
		return x.float() == y.float()
	}
	return s.l.Equal(a, b)
}

// less orders two values: numbers, strings, or what has metamethods.
func (s *state) less(a, b lua.LValue, orEqual bool) bool {
	x, ok := asNumber(a)
	y, ok2 := asNumber(b)
	if ok && ok2 {
		if x.int && y.int {
			return x.i < y.i || orEqual && x.i == y.i
		}
		return x.float() < y.float() || orEqual && x.float() == y.float()
	}
	if p, ok := a.(lua.LString); ok {
		if q, ok := b.(lua.LString); ok {
			return p < q || orEqual && p == q
		}
	}
	event := "__lt"
	if orEqual {
		event = "__le"
	}
	f := s.l.GetMetaField(a, event)
	if f == lua.LNil {
		f = s.l.GetMetaField(b, event)
	}
	if f == lua.LNil {
		s.l.RaiseError("attempt to compare %s with %s", typeName(a), typeName(b))
	}
	s.l.Push(f)
	s.l.Push(a)
	s.l.Push(b)
	s.l.Call(2, 1)
	v := s.l.Get(-1)
	s.l.Pop(1)
	return lua.LVAsBool(v)
}
