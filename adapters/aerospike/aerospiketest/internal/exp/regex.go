package exp

import (
	"bytes"
	"regexp"
	"regexp/syntax"
)

// Flags of regular expressions, as the real server's C library has them. The
// driver has names for two of them that are the other way round: its NOSUB is
// what the server takes for newline.
const (
	regexExtended = 1 << iota
	regexIgnoreCase
	regexNewline
)

// regex compiles a comparison with a regular expression.
func (p *parser) regex(x *node, depth int) bool {
	flags, ok := p.int()
	if !ok {
		return false
	}
	text, ok := p.name()
	if !ok {
		return false
	}
	a := p.node(depth)
	if a == nil || a.t != String {
		return false
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	x.t, x.args = Bool, []*node{a}
	x.regex, ok = p.compileRegex(text, flags)
	return ok
}

// latin makes a rune of every byte, as for the real server every byte is a
// character.
func latin(b []byte) string {
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}

// compileRegex compiles a POSIX expression, basic or extended. It doesn't know
// references back, nor repetitions above 1000.
func (p *parser) compileRegex(text []byte, flags int64) (*regexp.Regexp, bool) {
	if len(text) > maxRegex {
		return nil, false
	}
	t := translation{in: text, extended: flags&regexExtended != 0, newline: flags&regexNewline != 0}
	if !t.translate() {
		return nil, false
	}
	mode := "(?s)"
	if t.newline {
		mode = "(?m)"
	}
	if flags&regexIgnoreCase != 0 {
		mode += "(?i)"
	}
	tree, err := syntax.Parse(mode+string(t.out), syntax.Perl)
	if err != nil {
		return nil, false
	}
	if p.weight += weight(tree); p.weight > maxWeight {
		return nil, false
	}
	re, err := regexp.Compile(mode + string(t.out))
	return re, err == nil
}

// weight is about how many instructions a regular expression is.
func weight(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += weight(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return n
}

// match compares a string with a regular expression, up to its first zero byte.
func (e *evaluation) match(x *node) value {
	v := e.eval(x.args[0])
	if v.t != String || !e.spend(len(v.data)) {
		return value{t: unknown}
	}
	s, _, _ := bytes.Cut(v.data, []byte{0})
	return boolean(x.regex.MatchString(latin(s)))
}
