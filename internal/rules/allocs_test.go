package rules

import (
	"go/ast"
	"strings"
	"testing"
)

func TestAllocationsAreCountedWhereTheyAreLookedFor(t *testing.T) { enforce(t, checkAllocs) }

// checkAllocs asks that a test which counts allocations has Alloc in its name, by which .ci/run finds it: under the race
// detector, where all tests run, most of them count nothing. Helpers are followed within their directory.
func checkAllocs(tr *tree) []violation {
	type testFunc struct {
		file *goFile
		decl *ast.FuncDecl
	}
	byDir := map[string]map[string]testFunc{}
	for _, f := range tr.goFiles {
		if !f.isTest() {
			continue
		}
		if byDir[f.dir()] == nil {
			byDir[f.dir()] = map[string]testFunc{}
		}
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Body != nil {
				byDir[f.dir()][fn.Name.Name] = testFunc{f, fn}
			}
		}
	}
	var found []violation
	for _, dir := range sortedKeys(byDir) {
		counting := map[string]bool{"AllocsPerRun": true}
		for grown := true; grown; {
			grown = false
			for name, fn := range byDir[dir] {
				if !counting[name] && calls(fn.decl.Body, counting) {
					counting[name], grown = true, true
				}
			}
		}
		for _, name := range sortedKeys(byDir[dir]) {
			if counting[name] && strings.HasPrefix(name, "Test") && !strings.Contains(name, "Alloc") {
				fn := byDir[dir][name]
				found = append(found, tr.at(fn.file, fn.decl.Pos(), "allocs", "%s counts allocations, but has no Alloc in its name", name))
			}
		}
	}
	return found
}

// calls reports whether a function of one of some names is called.
func calls(body ast.Node, names map[string]bool) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			switch fn := call.Fun.(type) {
			case *ast.Ident:
				found = found || names[fn.Name]
			case *ast.SelectorExpr:
				found = found || names[fn.Sel.Name] && fn.Sel.Name == "AllocsPerRun"
			}
		}
		return !found
	})
	return found
}

func TestAllocationsAreCountedWhereTheyAreLookedForFindsViolations(t *testing.T) {
	in := func(src string) map[string]string { return map[string]string{"p/a_test.go": "package p\n" + src} }
	const helper = "func none(f func()) { testing.AllocsPerRun(1, f) }\n"
	tryOut(t, checkAllocs, []specimen{
		{"good", in("func TestAllocsNothing(t *testing.T) { testing.AllocsPerRun(1, f) }"), nil},
		{"helper", in(helper + "func TestGetDoesNotAllocate(t *testing.T) { none(f) }"), nil},
		{"other test", in(helper + "func TestGet(t *testing.T) { f() }"), nil},
		{"direct", in("func TestGet(t *testing.T) {\n\ttesting.AllocsPerRun(1, f)\n}"), []string{"p/a_test.go:2: TestGet counts"}},
		{"by a helper's helper", in(helper + "func all() { none(f) }\nfunc TestGet(t *testing.T) { all() }"), []string{"p/a_test.go:4: TestGet counts"}},
	})
}
