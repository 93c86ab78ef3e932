package lua

import (
	"math"
	"math/rand/v2"

	lua "github.com/yuin/gopher-lua"
)

// arg returns a number that is an argument.
func (s *state) arg(i int) number {
	n, ok := toNumber(s.l.Get(i))
	if !ok {
		s.l.ArgError(i, "number expected, got "+typeName(s.l.Get(i)))
	}
	return n
}

// wholeArg returns an integer that is an argument.
func (s *state) wholeArg(i int) int64 {
	n, ok := s.arg(i).whole()
	if !ok {
		s.l.ArgError(i, "number has no integer representation")
	}
	return n
}

// optInt returns an integer that may be left out.
func (s *state) optInt(i int, def int64) int64 {
	if s.l.Get(i) == lua.LNil {
		return def
	}
	return s.wholeArg(i)
}

func (s *state) mathLibrary() {
	t := s.library("math", nil)
	of := func(name string, f func(float64) float64) {
		t.RawSetString(name, s.l.NewFunction(func(l *lua.LState) int {
			l.Push(s.number(float(f(s.arg(1).float()))))
			return 1
		}))
	}
	for name, f := range map[string]func(float64) float64{
		"sqrt": math.Sqrt, "exp": math.Exp, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos,
		"log10": math.Log10, "sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh,
		"deg": func(x float64) float64 { return x * 180 / math.Pi }, "rad": func(x float64) float64 { return x * math.Pi / 180 },
	} {
		of(name, f)
	}
	s.l.SetFuncs(t, s.arithmetic())
	t.RawSetString("pi", lua.LNumber(math.Pi))
	t.RawSetString("huge", lua.LNumber(math.Inf(1)))
}

// arithmetic are the functions of math that take more than a float, or give more.
func (s *state) arithmetic() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{
		"floor": func(*lua.LState) int { return s.rounded(math.Floor) },
		"ceil":  func(*lua.LState) int { return s.rounded(math.Ceil) },
		"abs": func(*lua.LState) int {
			n := s.arg(1)
			if n.float() < 0 {
				n = neg(n)
			}
			return s.push(n)
		},
		"max":  func(*lua.LState) int { return s.extreme(false) },
		"min":  func(*lua.LState) int { return s.extreme(true) },
		"pow":  func(*lua.LState) int { return s.push(pow(s.arg(1), s.arg(2))) },
		"atan": func(*lua.LState) int { return s.push(float(math.Atan2(s.arg(1).float(), s.optFloat(2, 1)))) },
		"atan2": func(*lua.LState) int {
			return s.push(float(math.Atan2(s.arg(1).float(), s.arg(2).float())))
		},
		"log": func(l *lua.LState) int {
			x := math.Log(s.arg(1).float())
			if l.GetTop() > 1 {
				x /= math.Log(s.arg(2).float())
			}
			return s.push(float(x))
		},
		"fmod":       func(*lua.LState) int { return s.push(float(math.Mod(s.arg(1).float(), s.arg(2).float()))) },
		"random":     s.random,
		"randomseed": func(*lua.LState) int { return 0 },
		"tointeger": func(l *lua.LState) int {
			n, ok := toNumber(l.Get(1))
			if i, whole := n.whole(); ok && whole {
				return s.push(integer(i))
			}
			l.Push(lua.LNil)
			return 1
		},
		"type": func(l *lua.LState) int {
			n, ok := asNumber(l.CheckAny(1))
			switch {
			case !ok:
				l.Push(lua.LNil)
			case n.int:
				l.Push(lua.LString("integer"))
			default:
				l.Push(lua.LString("float"))
			}
			return 1
		},
		"modf": func(l *lua.LState) int {
			whole, part := math.Modf(s.arg(1).float())
			l.Push(s.number(float(whole)))
			l.Push(s.number(float(part)))
			return 2
		},
	}
}

func (s *state) push(n number) int {
	s.l.Push(s.number(n))
	return 1
}

func (s *state) optFloat(i int, def float64) float64 {
	if s.l.Get(i) == lua.LNil {
		return def
	}
	return s.arg(i).float()
}

// rounded answers with an integer, unless it is too large for one.
func (s *state) rounded(f func(float64) float64) int {
	n := s.arg(1)
	if n.int {
		return s.push(n)
	}
	r := float(f(n.f))
	if i, ok := r.whole(); ok {
		r = integer(i)
	}
	return s.push(r)
}

func (s *state) extreme(least bool) int {
	best := s.arg(1)
	for i := 2; i <= s.l.GetTop(); i++ {
		if n := s.arg(i); n.float() != best.float() && (n.float() < best.float()) == least {
			best = n
		}
	}
	return s.push(best)
}

func (s *state) random(l *lua.LState) int {
	lo, hi := int64(1), int64(0)
	switch l.GetTop() {
	case 0:
		return s.push(float(rand.Float64()))
	case 1:
		hi = s.wholeArg(1)
	default:
		lo, hi = s.wholeArg(1), s.wholeArg(2)
	}
	if lo > hi {
		l.ArgError(l.GetTop(), "interval is empty")
	}
	return s.push(integer(int64(uint64(lo) + rand.Uint64N(max(uint64(hi)-uint64(lo)+1, 1)))))
}
