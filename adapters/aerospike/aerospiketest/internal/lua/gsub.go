package lua

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/pm"
)

// substitute replaces matches of a pattern by a text, a table's or a function's.
func (s *state) substitute(l *lua.LState) int {
	text, pattern, with := l.CheckString(1), l.CheckString(2), plain(l.Get(3))
	limit := int(min(s.optInt(4, int64(len(text))+1), int64(len(text))+1))
	s.search(text, pattern, false)
	switch with.Type() {
	case lua.LTString, lua.LTNumber, lua.LTTable, lua.LTFunction:
	default:
		l.ArgError(3, "string/function/table expected, got "+typeName(with))
	}
	var matches []*pm.MatchData
	if limit > 0 {
		var err error
		if matches, err = pm.Find(pattern, []byte(text), 0, limit); err != nil {
			l.RaiseError("%s", err.Error())
		}
	}
	var out strings.Builder
	at := 0
	for _, m := range matches {
		from, to := m.Capture(0), m.Capture(1)
		out.WriteString(text[at:from])
		by := s.replacement(with, text, m)
		if out.Len()+len(by) > maxText {
			l.RaiseError("resulting string too large")
		}
		s.use(len(by))
		out.WriteString(by)
		at = to
	}
	out.WriteString(text[at:])
	s.newText(out.String())
	l.Push(lua.LNumber(len(matches)))
	return 2
}

// capture returns a capture of a match, of which 0 is the whole.
func capture(text string, m *pm.MatchData, i int) lua.LValue {
	if m.IsPosCapture(2 * i) {
		return lua.LNumber(m.Capture(2 * i))
	}
	return lua.LString(text[m.Capture(2*i):m.Capture(2*i+1)])
}

// replacement returns what is put in the place of a match.
func (s *state) replacement(with lua.LValue, text string, m *pm.MatchData) string {
	captures := m.CaptureLength()/2 - 1
	first := capture(text, m, min(captures, 1))
	var v lua.LValue
	switch with := with.(type) {
	case *lua.LTable:
		v = s.l.GetTable(with, first)
	case *lua.LFunction:
		args := []lua.LValue{first}
		for i := 2; i <= captures; i++ {
			args = append(args, capture(text, m, i))
		}
		v = s.call(with, args...)
	default:
		return s.expand(s.text(with), text, m)
	}
	switch {
	case !lua.LVAsBool(v):
		return text[m.Capture(0):m.Capture(1)]
	case !isText(v):
		s.l.RaiseError("invalid replacement value (a %s)", typeName(v))
	}
	return s.text(v)
}

// expand replaces %0 to %9 in a text by captures.
func (s *state) expand(by, text string, m *pm.MatchData) string {
	if !strings.Contains(by, "%") {
		return by
	}
	captures := m.CaptureLength()/2 - 1
	var out strings.Builder
	for i := 0; i < len(by); i++ {
		if by[i] != '%' || i+1 == len(by) {
			out.WriteByte(by[i])
			continue
		}
		i++
		n := int(by[i]) - '0'
		switch {
		case n < 0 || n > 9:
			out.WriteByte(by[i])
			continue
		case n == 1:
			n = min(captures, 1)
		case n > captures:
			s.l.RaiseError("invalid capture index %%%d in replacement string", n)
		}
		if out.Len() > maxText {
			s.l.RaiseError("resulting string too large")
		}
		out.WriteString(s.text(capture(text, m, n)))
	}
	return out.String()
}
