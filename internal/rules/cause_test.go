package rules

import (
	"go/ast"
	"path"
	"testing"
)

func TestCausesAreNeverNil(t *testing.T) { enforce(t, checkCauses) }

// checkCauses refuses context.Cause in what users build: with Go 1.24 it can be nil for a context that is done, if its
// type is a stranger's. A file cause.go of each module has the function to call instead; programs and tests have
// contexts of their own.
func checkCauses(tr *tree) []violation {
	var found []violation
	for _, f := range tr.goFiles {
		from, ok := roomOf(f.dir())
		if f.isTest() || path.Base(f.path) == "cause.go" || ok && from.floor == topFloor {
			continue
		}
		contextName := importName(f, "context")
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Cause" {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && contextName != "" && x.Name == contextName {
				found = append(found, tr.at(f, sel.Pos(), "causes", "context.Cause can be nil for a done context: see internal/cause"))
			}
			return true
		})
	}
	return found
}

func TestCausesAreNeverNilFindsViolations(t *testing.T) {
	in := func(file, imports, use string) map[string]string {
		return map[string]string{file: "package p\n\nimport " + imports + "\n\nvar _ = " + use + "\n"}
	}
	tryOut(t, checkCauses, []specimen{
		{"test", in("lane/a_test.go", `"context"`, "context.Cause"), nil},
		{"the function itself", in("internal/cause/cause.go", `"context"`, "context.Cause"), nil},
		{"program", in("examples/x/main.go", `"context"`, "context.Cause"), nil},
		{"another's field", in("lane/a.go", `"errors"`, "context.Cause"), nil},
		{"call", in("lane/a.go", `"context"`, "context.Cause(nil)"), []string{"lane/a.go:5: context.Cause can be nil"}},
		{"renamed", in("watch/a.go", `c "context"`, "c.Cause"), []string{"watch/a.go:5: context.Cause can be nil"}},
	})
}
