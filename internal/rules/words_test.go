package rules

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unfinished matches the marks of work that was put off. They belong in an issue. The pattern is in pieces so that
// this file is not its own violation.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b`)

func TestNothingIsMarkedUnfinished(t *testing.T) { enforce(t, checkWords) }

// checkWords looks at the comments of Go files, and at all of the other texts.
func checkWords(tr *tree) []violation {
	var found []violation
	for _, f := range tr.goFiles {
		for _, group := range f.syntax.Comments {
			for _, c := range group.List {
				for i, line := range strings.Split(c.Text, "\n") {
					if w := unfinished.FindString(line); w != "" {
						v := tr.at(f, c.Pos(), "words", "%s belongs in an issue", w)
						v.line += i
						found = append(found, v)
					}
				}
			}
		}
	}
	for _, name := range sortedKeys(tr.texts) {
		for i, line := range strings.Split(tr.texts[name], "\n") {
			if w := unfinished.FindString(line); w != "" {
				found = append(found, violation{name, i + 1, "words", w + " belongs in an issue"})
			}
		}
	}
	return found
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func TestNothingIsMarkedUnfinishedFindsViolations(t *testing.T) {
	mark := "TO" + "DO"
	tryOut(t, checkWords, []specimen{
		{"strings are free", map[string]string{"a.go": "package p\n\nconst a = \"" + mark + "\"\n"}, nil},
		{"parts of words are free", map[string]string{"a.md": "mktemp " + "XX" + "XXXX\n"}, nil},
		{"comment", map[string]string{"a.go": "package p\n\n// " + mark + ": later.\n"}, []string{"a.go:3: " + mark}},
		{"long comment", map[string]string{"a.go": "package p\n/*\n\n" + mark + "\n*/\n"}, []string{"a.go:4: " + mark}},
		{"text", map[string]string{"docs/a.md": "one\n" + mark + "\n"}, []string{"docs/a.md:2: " + mark}},
	})
}
