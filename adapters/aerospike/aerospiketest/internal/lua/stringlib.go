package lua

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxText is how long a string may become.
const maxText = 16 << 20

// stringLibrary bounds what functions on strings may make and how long they search.
func (s *state) stringLibrary() {
	t, _ := s.l.GetGlobal(lua.StringLibName).(*lua.LTable)
	t.RawSetString("dump", lua.LNil)
	for _, name := range []string{"byte", "char", "len", "lower", "upper", "reverse", "sub", "find", "match", "gmatch"} {
		f, _ := t.RawGetString(name).(*lua.LFunction)
		do := unboxed(f.GFunction)
		searches := name == "find" || name == "match" || name == "gmatch"
		t.RawSetString(name, s.l.NewFunction(func(l *lua.LState) int {
			text := l.OptString(1, "")
			s.use(len(text))
			if searches {
				s.search(text, l.OptString(2, ""), name == "find" && lua.LVAsBool(l.Get(4)))
			}
			return do(l)
		}))
	}
	t.RawSetString("gfind", lua.LNil)
	s.l.SetFuncs(t, map[string]lua.LGFunction{"rep": s.repeat, "format": s.format, "gsub": s.substitute})
	s.global(fnConcat, s.concat)
}

// newText pushes a string that was made.
func (s *state) newText(text string) int {
	s.fits(len(text))
	s.l.Push(lua.LString(text))
	return 1
}

// fits takes the memory for a string, or raises an error.
func (s *state) fits(n int) {
	if n > maxText {
		s.l.RaiseError("resulting string too large")
	}
	s.use(n)
}

func (s *state) concat(l *lua.LState) int {
	a, b := l.Get(1), l.Get(2)
	if !isText(a) || !isText(b) {
		return s.metaOperator(l, "__concat", a, b, "concatenate")
	}
	x, y := s.text(a), s.text(b)
	s.fits(len(x) + len(y))
	l.Push(lua.LString(x + y))
	return 1
}

func (s *state) repeat(l *lua.LState) int {
	text, n, sep := l.CheckString(1), s.wholeArg(2), l.OptString(3, "")
	if n <= 0 {
		return s.newText("")
	}
	if one := int64(len(text) + len(sep)); one > 0 && n > maxText/one {
		l.RaiseError("resulting string too large")
	}
	if len(text)+len(sep) == 0 {
		return s.newText("")
	}
	return s.newText(strings.Repeat(text+sep, int(n-1)) + text)
}

// Bounds of searches. The matcher goes back over every way to match, and hears of no
// budget meanwhile.
const (
	maxSubject = 256 << 10
	maxSteps   = 5e8
)

// search refuses a pattern that could take too long on a text.
func (s *state) search(text, pattern string, literal bool) {
	if literal {
		return
	}
	degree := strings.Count(pattern, "*") + strings.Count(pattern, "+") + strings.Count(pattern, "-") + strings.Count(pattern, "?") + strings.Count(pattern, "%b")
	if !strings.HasPrefix(pattern, "^") {
		degree++
	}
	steps := 1.0
	for i := 1; i <= degree && steps <= maxSteps; i++ {
		steps *= float64(len(text)+1) / float64(i)
	}
	if steps > maxSteps || len(text) > maxSubject || len(pattern) > 1<<10 {
		s.l.RaiseError("pattern too complex")
	}
	s.use(64 * len(text)) // what matches may take
}
