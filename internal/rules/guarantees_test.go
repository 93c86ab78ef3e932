package rules

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

const guaranteesFile = "docs/guarantees.md"

var (
	// A row is "| G-LIM-1 | what is promised | TestOne, TestTwo |".
	guaranteeStart = regexp.MustCompile(`^\|\s*G-`)
	guaranteeRow   = regexp.MustCompile(`^\|\s*(G-[A-Z]+-[0-9]+)\s*\|\s*(.*\S)\s*\|([^|]*)\|\s*$`)
	testName       = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)\w*$`)
)

func TestGuaranteesNameTheirTests(t *testing.T) { enforce(t, checkGuarantees) }

// checkGuarantees asks that each numbered guarantee names at least one test, and that each test named exists somewhere
// in the tree. Names are separated by commas; backquotes around them are free, and so is a subtest after a slash.
func checkGuarantees(tr *tree) []violation {
	text, ok := tr.texts[guaranteesFile]
	if !ok {
		return []violation{{guaranteesFile, 1, "guarantees", "the file is missing"}}
	}
	tests, seen := testNames(tr), map[string]bool{}
	var found []violation
	for i, line := range strings.Split(text, "\n") {
		if !guaranteeStart.MatchString(line) {
			continue
		}
		row := guaranteeRow.FindStringSubmatch(line)
		if row == nil {
			found = append(found, violation{guaranteesFile, i + 1, "guarantees", "the row is not of the form | G-X-1 | text | TestName |"})
			continue
		}
		if seen[row[1]] {
			found = append(found, violation{guaranteesFile, i + 1, "guarantees", row[1] + " is there twice"})
		}
		seen[row[1]] = true
		for name := range strings.SplitSeq(row[3], ",") {
			name, _, _ = strings.Cut(strings.Trim(name, " `"), "/")
			name = strings.Trim(name, " `")
			if !testName.MatchString(name) || !tests[name] {
				found = append(found, violation{guaranteesFile, i + 1, "guarantees", row[1] + " names no test of ours: \"" + name + "\""})
			}
		}
	}
	if len(seen) == 0 {
		found = append(found, violation{guaranteesFile, 1, "guarantees", "the file has no numbered guarantee"})
	}
	return found
}

func testNames(tr *tree) map[string]bool {
	names := map[string]bool{}
	for _, f := range tr.goFiles {
		if !f.isTest() {
			continue
		}
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && testName.MatchString(fn.Name.Name) {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}

func TestGuaranteesNameTheirTestsFindsViolations(t *testing.T) {
	in := func(rows string) map[string]string {
		return map[string]string{
			guaranteesFile: "| no | promise | tests |\n| --- | --- | --- |\n" + rows + "\n",
			"p/a_test.go":  "package p\nfunc TestA() {}\nfunc FuzzB() {}\nfunc (T) TestC() {}\n",
			"p/a.go":       "package p\nfunc TestD() {}\n",
		}
	}
	tryOut(t, checkGuarantees, []specimen{
		{"good", in("| G-LIM-1 | a \\| b | `TestA/sub`, FuzzB |"), nil},
		{"missing file", map[string]string{}, []string{guaranteesFile + ":1: the file is missing"}},
		{"no rows", in("nothing"), []string{guaranteesFile + ":1: the file has no numbered"}},
		{"no test", in("| G-LIM-1 | a | |"), []string{guaranteesFile + ":3: G-LIM-1 names no test"}},
		{"method", in("| G-LIM-1 | a | TestC |"), []string{guaranteesFile + ":3: G-LIM-1 names no test of ours: \"TestC\""}},
		{"not in a test file", in("| G-LIM-1 | a | TestD |"), []string{guaranteesFile + ":3: G-LIM-1 names no test"}},
		{"twice", in("| G-LIM-1 | a | TestA |\n| G-LIM-1 | b | TestA |"), []string{guaranteesFile + ":4: G-LIM-1 is there twice"}},
		{"other form", in("| G-LIM-1 | a | TestA |\n| G-LIM-x | b | TestA |"), []string{guaranteesFile + ":4: the row is not"}},
	})
}
