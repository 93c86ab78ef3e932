package lua

import (
	"fmt"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// formatFloat formats a float with a precision, or its default with -1. alt keeps
// zeros at the end, as with the flag #.
func formatFloat(verb byte, f float64, precision int, alt bool) string {
	spec := "%"
	if alt {
		spec += "#"
	}
	if precision >= 0 {
		spec += "." + strconv.Itoa(precision)
	}
	return fmt.Sprintf(spec+string(verb), f)
}

// format is string.format.
func (s *state) format(l *lua.LState) int {
	text := l.CheckString(1)
	var out strings.Builder
	arg := 1
	for text != "" {
		i := strings.IndexByte(text, '%')
		if i < 0 {
			out.WriteString(text)
			break
		}
		out.WriteString(text[:i])
		text = text[i+1:]
		n := 0
		for n < len(text) && strings.IndexByte("-+ #0123456789.", text[n]) >= 0 {
			n++
		}
		if n == len(text) || n > 8 || tooWide(text[:n]) {
			l.RaiseError("invalid conversion '%%%s' to 'format'", text[:min(n+1, len(text))])
		}
		flags, verb := text[:n], text[n]
		text = text[n+1:]
		if verb == '%' {
			out.WriteByte('%')
			continue
		}
		arg++
		if arg > l.GetTop() {
			l.ArgError(arg, "no value")
		}
		out.WriteString(s.formatArg(flags, verb, arg))
		if out.Len() > maxText {
			l.RaiseError("resulting string too large")
		}
	}
	return s.newText(out.String())
}

// tooWide reports whether a width or precision has more than two digits.
func tooWide(flags string) bool {
	for part := range strings.SplitSeq(strings.TrimLeft(flags, "-+ #0"), ".") {
		if len(part) > 2 {
			return true
		}
	}
	return false
}

func (s *state) formatArg(flags string, verb byte, arg int) string {
	switch verb {
	case 'd', 'i':
		return fmt.Sprintf("%"+flags+"d", s.wholeArg(arg))
	case 'u':
		return fmt.Sprintf("%"+flags+"d", uint64(s.wholeArg(arg)))
	case 'x', 'X', 'o':
		return fmt.Sprintf("%"+flags+string(verb), uint64(s.wholeArg(arg)))
	case 'c':
		return fmt.Sprintf("%"+flags+"s", string([]byte{byte(s.wholeArg(arg))}))
	case 'e', 'E', 'f', 'F', 'g', 'G':
		if verb != 'f' && verb != 'F' && !strings.Contains(flags, ".") {
			flags += ".6"
		}
		return fmt.Sprintf("%"+flags+string(verb), s.arg(arg).float())
	case 'q':
		return quote(s.text(s.l.Get(arg)))
	case 's':
		return fmt.Sprintf("%"+flags+"s", s.text(s.l.Get(arg)))
	}
	s.l.RaiseError("invalid conversion '%%%s%s' to 'format'", flags, string(verb))
	return ""
}

// quote shows a string as Lua reads it.
func quote(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; c {
		case '"', '\\', '\n':
			out.WriteByte('\\')
			out.WriteByte(c)
		case '\r':
			out.WriteString("\\r")
		case 0:
			out.WriteString("\\0")
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}
