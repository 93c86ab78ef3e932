package rules

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestTestsWaitForEventsNotForTime(t *testing.T) { enforce(t, checkWaits) }

// checkWaits refuses, in test files: time.Sleep outside a synctest bubble, Eventually and its like, and Skip.
//
// What is in a bubble: the arguments of a call to synctest.Test, or of a function of the same directory that takes a
// function and calls synctest.Test itself; a function named there; a helper that is used in bubbles alone; and, in a
// function that opens a bubble, each function literal that opens none itself, because tables of behaviours stand
// before the bubble that runs them. There are no types here, only names, so a helper whose name also stands for
// something outside a bubble counts as outside.
//
// A main_test.go may sleep: after all tests it looks whether goroutines are left, and those of a driver end some time
// after its Close, without telling anybody. A benchmark (x_bench_test.go) may sleep: it makes load in real time.
func checkWaits(tr *tree) []violation {
	byDir := map[string][]*goFile{}
	for _, f := range tr.goFiles {
		if f.isTest() {
			byDir[f.dir()] = append(byDir[f.dir()], f)
		}
	}
	var found []violation
	for _, dir := range sortedKeys(byDir) {
		b := findBubbles(byDir[dir])
		for _, f := range byDir[dir] {
			found = append(found, tr.judgeWaits(f, b)...)
		}
	}
	return found
}

var (
	pollers  = []string{"Eventually", "Eventuallyf", "EventuallyWithT", "EventuallyWithTf", "Never", "Neverf"}
	skippers = []string{"Skip", "Skipf", "SkipNow"}
	testVars = []string{"t", "b", "f", "tb"}
)

func (tr *tree) judgeWaits(f *goFile, b bubbles) []violation {
	var found []violation
	timeName := importName(f, "time")
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, _ := sel.X.(*ast.Ident)
		name := sel.Sel.Name
		switch {
		case name == "Sleep" && x != nil && x.Name == timeName && !b.hold(sel.Pos()) && !maySleep(f):
			found = append(found, tr.at(f, sel.Pos(), "waits", "time.Sleep outside a synctest bubble"))
		case slices.Contains(pollers, name):
			found = append(found, tr.at(f, sel.Pos(), "waits", "%s polls: wait for the event itself", name))
		case slices.Contains(skippers, name) && x != nil && slices.Contains(testVars, x.Name):
			found = append(found, tr.at(f, sel.Pos(), "waits", "a test that skips proves nothing; use a build tag"))
		}
		return true
	})
	return found
}

// maySleep tells the files whose sleeping is no waiting for something to happen.
func maySleep(f *goFile) bool {
	return path.Base(f.path) == "main_test.go" || strings.HasSuffix(f.path, "_bench_test.go")
}

// importName gives the name under which a file knows a package, or "".
func importName(f *goFile, importPath string) string {
	for _, spec := range f.syntax.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(importPath)
	}
	return ""
}

// A span is a stretch of source; the files of a tree share one set of positions.
type span struct{ from, to token.Pos }

type bubbles []span

func (b bubbles) hold(pos token.Pos) bool {
	return slices.ContainsFunc(b, func(s span) bool { return s.from <= pos && pos < s.to })
}

func findBubbles(files []*goFile) bubbles {
	openers := findOpeners(files)
	var b bubbles
	var decls []*ast.FuncDecl
	uses := map[string][]token.Pos{}
	for _, f := range files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if isBubbleCall(f, n, openers) {
					b = append(b, span{n.Lparen, n.End()})
				}
			case *ast.FuncDecl:
				decls = append(decls, n)
				if opensBubble(f, n, openers) {
					b = append(b, literals(f, n, openers)...)
				}
			case *ast.Ident:
				uses[n.Name] = append(uses[n.Name], n.Pos())
			}
			return true
		})
	}
	for grown := true; grown; {
		grown = false
		for _, d := range decls {
			if !b.hold(d.Pos()) && usedInBubblesOnly(d, uses[d.Name.Name], b) {
				b, grown = append(b, span{d.Pos(), d.End()}), true
			}
		}
	}
	return b
}

func opensBubble(f *goFile, within ast.Node, openers []string) bool {
	opens := false
	ast.Inspect(within, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		opens = opens || ok && isBubbleCall(f, call, openers)
		return !opens
	})
	return opens
}

// literals gives the function literals that open no bubble themselves.
func literals(f *goFile, within ast.Node, openers []string) bubbles {
	var b bubbles
	ast.Inspect(within, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && !opensBubble(f, lit, openers) {
			b = append(b, span{lit.Pos(), lit.End()})
		}
		return true
	})
	return b
}

func usedInBubblesOnly(d *ast.FuncDecl, uses []token.Pos, b bubbles) bool {
	others := 0
	for _, pos := range uses {
		if d.Pos() <= pos && pos < d.End() {
			continue // its own name, or recursion
		}
		if !b.hold(pos) {
			return false
		}
		others++
	}
	return others > 0
}

// findOpeners names the functions that take a function and call synctest.Test.
func findOpeners(files []*goFile) []string {
	var openers []string
	for _, f := range files {
		for _, decl := range f.syntax.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || d.Body == nil || !takesFunc(d) {
				continue
			}
			if opensBubble(f, d.Body, nil) {
				openers = append(openers, d.Name.Name)
			}
		}
	}
	return openers
}

func takesFunc(d *ast.FuncDecl) bool {
	return slices.ContainsFunc(d.Type.Params.List, func(p *ast.Field) bool {
		_, ok := p.Type.(*ast.FuncType)
		return ok
	})
}

func isBubbleCall(f *goFile, call *ast.CallExpr, openers []string) bool {
	switch fn := call.Fun.(type) {
	case *ast.SelectorExpr:
		x, ok := fn.X.(*ast.Ident)
		return ok && fn.Sel.Name == "Test" && x.Name == importName(f, "testing/synctest")
	case *ast.Ident:
		return slices.Contains(openers, fn.Name)
	}
	return false
}
