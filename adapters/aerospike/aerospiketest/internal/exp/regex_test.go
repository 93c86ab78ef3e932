package exp_test

import (
	"strings"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/exp"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
)

func TestRegex(t *testing.T) {
	const ext, icase, newline = as.ExpRegexFlagEXTENDED, as.ExpRegexFlagICASE, as.ExpRegexFlags(4)
	for _, c := range []struct {
		re    string
		flags as.ExpRegexFlags
		in    string
		want  bool
	}{
		{"b", 0, "abc", true},
		{"^b", 0, "abc", false},
		{"^a.*c$", 0, "abc", true},
		{"", 0, "abc", true},
		{"A", 0, "abc", false},
		{"A", icase, "abc", true},
		{"[A-B]C", icase, "abc", true},
		// Basic expressions have no bare operators, extended ones do.
		{"a+", 0, "aa", false},
		{"a+", 0, "a+", true},
		{"a+", ext, "aa", true},
		{`a\+`, 0, "aa", true},
		{`a\+`, ext, "a+", true},
		{"a{2}", 0, "aa", false},
		{"a{2}", 0, "a{2}", true},
		{`a\{2\}`, 0, "aa", true},
		{"^a{2,}$", ext, "aaa", true},
		{"^a{1,2}$", ext, "aaa", false},
		{"(a|b)c", 0, "ac", false},
		{"(a|b)c", ext, "bc", true},
		{`\(a\|b\)c`, 0, "bc", true},
		{"(", 0, "(", true},
		{")", ext, ")", true},
		{"*a", 0, "*a", true},
		{`\(*a\)`, 0, "*a", true},
		{"^*a", 0, "*a", true},
		{"a^b", 0, "a^b", true},
		{"a$b", 0, "a$b", true},
		{`\(a$\)`, 0, "ba", true},
		{"a**", 0, "", true},
		{"^(a+)*?$", ext, "aaa", true},
		{"a?b", ext, "b", true},
		{`a\.b`, 0, "axb", false},
		{`\w\W\s`, 0, "a- ", true},
		// Brackets.
		{"[]a]", 0, "]", true},
		{"[^]a]", 0, "]", false},
		{"[a-]", 0, "-", true},
		{`[\]`, 0, `\`, true},
		{"[[:digit:][:alpha:]]", 0, "x", true},
		{"[[.a.]-c]", 0, "b", true},
		{"[[=a=]]", 0, "a", true},
		{"[^[:space:]]", 0, " ", false},
		{"[.^$*]", 0, "^", true},
		// Bytes are characters.
		{"^.$", 0, "é", false},
		{"^..$", 0, "é", true},
		{"é", 0, "né", true},
		{"[é]", 0, "\xc3", true},
		// Lines.
		{"a.b", 0, "a\nb", true},
		{"a.b", newline, "a\nb", false},
		{"^b", 0, "a\nb", false},
		{"^b", newline, "a\nb", true},
		{"[^x]b", newline, "a\nb", false},
		{"a\x00b", 0, "a", true},
		{"c", 0, "ab\x00c", false},
	} {
		v := eval(t, as.ExpRegexCompare(c.re, c.flags, as.ExpStringVal(c.in)))
		require.Equal(t, boolean(c.want), *v, "%+v", c)
	}
	for _, re := range []string{"(", "a(", "*", "+a", "a|*", "[", "[a", "[]", "[b-a]", "[[:nope:]]", "[[:alpha]", "[[.ab.]]", "a{1", "a{x}", "a{2,1}", `\`, `(a)\1`, "(*a)"} {
		_, ok := new(exp.Compiler).Compile(pack(t, as.ExpRegexCompare(re, ext, as.ExpStringVal("a"))))
		require.False(t, ok, re)
	}
	for _, re := range []string{`\(`, `\)`, `a\{1`, `\(a\)\1`, "["} {
		_, ok := new(exp.Compiler).Compile(pack(t, as.ExpRegexCompare(re, 0, as.ExpStringVal("a"))))
		require.False(t, ok, re)
	}
}

// Repetitions are written out when they are compiled, so that some kilobytes of an
// expression could be hundreds of megabytes, and take seconds.
func TestRegexesOfAnExpressionHaveAWeightInAll(t *testing.T) {
	compiles := func(times, regexes int) bool {
		b := msgpack.AppendInt(msgpack.AppendListLen(nil, 1+regexes), 17) // or
		for range regexes {
			b = msgpack.AppendInt(msgpack.AppendListLen(b, 4), 7)
			b = msgpack.AppendInt(b, int64(as.ExpRegexFlagEXTENDED))
			b = msgpack.AppendRaw(b, []byte(strings.Repeat("(a|b){1000}", times)))
			b = append(b, 0x93, 81, 3, 0xa1, 'a') // a string's bin
		}
		_, ok := new(exp.Compiler).Compile(b)
		return ok
	}
	require.True(t, compiles(5, 2))
	require.False(t, compiles(100, 2))
	require.False(t, compiles(5, 100))
}
