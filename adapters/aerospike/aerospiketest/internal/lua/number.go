package lua

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// exact is up to where the interpreter's floats hold every integer.
const exact = 1 << 53

// A number is an integer or a float.
type number struct {
	i   int64
	f   float64
	int bool
}

func integer(i int64) number { return number{i: i, int: true} }
func float(f float64) number { return number{f: f} }

// A box is a number of which the interpreter would think otherwise: a float without
// a fraction, or an integer that a float can't hold.
type box struct{ number }

// float returns the number as a float.
func (n number) float() float64 {
	if n.int {
		return float64(n.i)
	}
	return n.f
}

// whole returns the number as an integer, if it is one by value.
func (n number) whole() (int64, bool) {
	if n.int {
		return n.i, true
	}
	if n.f == math.Trunc(n.f) && n.f >= -(1<<63) && n.f < 1<<63 {
		return int64(n.f), true
	}
	return 0, false
}

// String returns the number as Lua shows it.
func (n number) String() string {
	if n.int {
		return strconv.FormatInt(n.i, 10)
	}
	switch {
	case math.IsInf(n.f, 1):
		return "inf"
	case math.IsInf(n.f, -1):
		return "-inf"
	case math.IsNaN(n.f):
		return "nan"
	}
	s := formatFloat('g', n.f, 14, false)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// inline returns a number that needs no box.
func inline(f float64) number {
	if f == math.Trunc(f) && math.Abs(f) <= exact {
		return integer(int64(f))
	}
	return float(f)
}

// push returns a number as the interpreter has it.
func (s *state) number(n number) lua.LValue {
	if n.int && n.i >= -exact && n.i <= exact {
		return lua.LNumber(n.i)
	}
	if !n.int && !inline(n.f).int {
		return lua.LNumber(n.f)
	}
	return s.userdata(&box{n}, s.meta.number)
}

// asNumber returns a value's number, if it has one without conversion.
func asNumber(v lua.LValue) (number, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return inline(float64(v)), true
	case *lua.LUserData:
		if b, ok := v.Value.(*box); ok {
			return b.number, true
		}
	}
	return number{}, false
}

// toNumber is asNumber that also reads strings.
func toNumber(v lua.LValue) (number, bool) {
	if s, ok := v.(lua.LString); ok {
		return parseNumber(string(s))
	}
	return asNumber(v)
}

// parseNumber reads a number as it stands in a program or a string.
func parseNumber(text string) (number, bool) {
	text = strings.TrimSpace(text)
	digits, sign := strings.TrimPrefix(text, "+"), ""
	if strings.HasPrefix(text, "-") {
		digits, sign = text[1:], "-"
	}
	if digits == "" || strings.ContainsAny(digits, "_+iInN") && !strings.ContainsAny(digits, "eEpP") {
		return number{}, false
	}
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok && !strings.ContainsAny(hex, ".p") {
		u, err := strconv.ParseUint(hex, 16, 64)
		if sign != "" {
			u = -u
		}
		return integer(int64(u)), err == nil
	}
	if i, err := strconv.ParseInt(sign+digits, 10, 64); err == nil {
		return integer(i), true
	}
	if strings.HasPrefix(strings.ToLower(digits), "0x") && !strings.ContainsAny(digits, "pP") {
		digits += "p0"
	}
	f, err := strconv.ParseFloat(sign+digits, 64)
	return float(f), err == nil && !strings.Contains(digits, "_")
}

// plain returns a value without its box, for the interpreter's own functions.
func plain(v lua.LValue) lua.LValue {
	if u, ok := v.(*lua.LUserData); ok {
		if b, ok := u.Value.(*box); ok {
			return lua.LNumber(b.float())
		}
	}
	return v
}

// unboxed makes a function of the interpreter take boxed numbers.
func unboxed(f lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		for i := 1; i <= l.GetTop(); i++ {
			if v := l.Get(i); v.Type() == lua.LTUserData {
				l.Replace(i, plain(v))
			}
		}
		return f(l)
	}
}
