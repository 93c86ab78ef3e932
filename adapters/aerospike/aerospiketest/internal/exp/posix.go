package exp

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// maxRegex is the longest regular expression that is compiled, in bytes.
const maxRegex = 16 << 10

// A translation makes a regular expression of Go's of one of POSIX.
type translation struct {
	in       []byte
	at       int
	out      []byte
	extended bool
	newline  bool

	groups []int // where the open ones start in out
	last   int   // where what may be repeated starts in out; -1 is nowhere
	again  bool  // it is repeated already
}

func (t *translation) translate() bool {
	t.last = -1
	for t.at < len(t.in) {
		c := t.in[t.at]
		t.at++
		if !t.char(c) {
			return false
		}
	}
	return len(t.groups) == 0
}

// char translates what starts with a character.
func (t *translation) char(c byte) bool {
	switch {
	case c == '\\':
		if t.at == len(t.in) {
			return false
		}
		c = t.in[t.at]
		t.at++
		return t.escaped(c)
	case c == '[':
		return t.bracket()
	case c == '.':
		t.atom(".")
	case c == '*' && (t.extended || t.last >= 0):
		return t.repeat("*")
	case c == '^' && (t.extended || t.last < 0), c == '$' && (t.extended || t.ends()):
		t.anchor(string(rune(c)))
	case t.extended && strings.IndexByte("()|+?{", c) >= 0:
		return t.special(c)
	default:
		t.literal(c)
	}
	return true
}

// atom writes what may be repeated.
func (t *translation) atom(s string) {
	t.last, t.again = len(t.out), false
	t.out = append(t.out, s...)
}

func (t *translation) literal(c byte) { t.atom(regexp.QuoteMeta(string(rune(c)))) }

// anchor writes what may not be repeated.
func (t *translation) anchor(s string) {
	t.out = append(t.out, s...)
	t.last = -1
}

// ends reports whether a dollar sign of a basic expression is at an end.
func (t *translation) ends() bool {
	rest := t.in[t.at:]
	return len(rest) == 0 || bytes.HasPrefix(rest, []byte(`\)`)) || bytes.HasPrefix(rest, []byte(`\|`))
}

// repeat repeats the last atom. One that is repeated already has to be a group.
func (t *translation) repeat(s string) bool {
	if t.last < 0 {
		return false
	}
	if t.again {
		group := "(?:" + string(t.out[t.last:]) + ")"
		t.out = append(t.out[:t.last], group...)
		if len(t.out) > 2*maxRegex {
			return false
		}
	}
	t.out = append(t.out, s...)
	t.again = true
	return true
}

// escaped translates a character behind a backslash.
func (t *translation) escaped(c byte) bool {
	switch {
	case !t.extended && strings.IndexByte("(){|+?", c) >= 0:
		return t.special(c)
	case c == 'w':
		t.atom(`[0-9A-Za-z_]`)
	case c == 'W':
		t.atom(`[^0-9A-Za-z_]`)
	case c == 's':
		t.atom(`[\t\n\v\f\r ]`)
	case c == 'S':
		t.atom(`[^\t\n\v\f\r ]`)
	case c == 'b', c == 'B':
		t.anchor(`\` + string(rune(c)))
	case c == '`':
		t.anchor(`\A`)
	case c == '\'':
		t.anchor(`\z`)
	case c >= '1' && c <= '9':
		return false // a reference back
	default:
		t.literal(c)
	}
	return true
}

// special translates a character that groups or repeats, which in a basic
// expression has a backslash in front.
func (t *translation) special(c byte) bool {
	switch {
	case c == '(':
		t.groups = append(t.groups, len(t.out))
		t.anchor("(")
	case c == ')' && len(t.groups) > 0:
		n := len(t.groups) - 1
		t.anchor(")")
		t.last, t.again = t.groups[n], false
		t.groups = t.groups[:n]
	case c == ')':
		t.literal(c)
		return t.extended
	case c == '|':
		t.anchor("|")
	case c == '{':
		return t.interval()
	default:
		return t.repeat(string(rune(c)))
	}
	return true
}

// interval translates {n}, {n,} or {n,m}.
func (t *translation) interval() bool {
	end := "}"
	if !t.extended {
		end = `\}`
	}
	body, _, ok := strings.Cut(string(t.in[t.at:]), end)
	low, high, pair := strings.Cut(body, ",")
	if !ok || !isCount(low) || pair && high != "" && !isCount(high) {
		return false
	}
	t.at += len(body) + len(end)
	return t.repeat("{" + body + "}")
}

func isCount(s string) bool {
	_, err := strconv.ParseUint(s, 10, 15)
	return err == nil
}

// bracket translates a list of characters in brackets, the first of which has
// been read.
func (t *translation) bracket() bool {
	s := "["
	if t.rest("^") {
		s = "[^"
		if t.newline {
			s += `\n`
		}
	}
	for first := true; ; first = false {
		if t.at == len(t.in) {
			return false
		}
		if t.in[t.at] == ']' && !first {
			t.at++
			t.atom(s + "]")
			return true
		}
		item, ok := t.item()
		if !ok {
			return false
		}
		s += item
	}
}

// rest steps over a string, if it is next.
func (t *translation) rest(s string) bool {
	if !bytes.HasPrefix(t.in[t.at:], []byte(s)) {
		return false
	}
	t.at += len(s)
	return true
}

// item translates a class, a character or a range within brackets.
func (t *translation) item() (string, bool) {
	if t.rest("[:") {
		name, _, ok := strings.Cut(string(t.in[t.at:]), ":]")
		t.at += len(name) + 2
		switch name {
		case "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit":
			return "[:" + name + ":]", ok
		}
		return "", false
	}
	low, ok := t.element()
	if !ok {
		return "", false
	}
	from := hex(low)
	if rest := t.in[t.at:]; len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
		return from, true
	}
	t.at++
	high, ok := t.element()
	return from + "-" + hex(high), ok && low <= high
}

// element reads one character within brackets, by itself or as [.x.] or [=x=].
func (t *translation) element() (byte, bool) {
	for _, mark := range []string{".", "="} {
		if t.rest("[" + mark) {
			name, _, ok := strings.Cut(string(t.in[t.at:]), mark+"]")
			t.at += len(name) + 2
			return (name + "\x00")[0], ok && len(name) == 1
		}
	}
	if t.at == len(t.in) {
		return 0, false
	}
	t.at++
	return t.in[t.at-1], true
}

func hex(c byte) string { return `\x{` + strconv.FormatUint(uint64(c), 16) + `}` }
