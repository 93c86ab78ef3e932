package rules

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

var lockers = []string{"Lock", "RLock", "TryLock", "TryRLock"}

func TestLockedMethodsDoNotLock(t *testing.T) { enforce(t, checkLocked) }

// checkLocked looks at methods whose name ends in Locked: their caller holds the lock, so a call like r.mu.Lock() or
// r.Lock() on their own receiver r would wait for ever. It follows no calls.
func checkLocked(tr *tree) []violation {
	var found []violation
	for _, f := range tr.goFiles {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || fn.Recv == nil || len(fn.Recv.List[0].Names) == 0 ||
				!strings.HasSuffix(fn.Name.Name, "Locked") {
				continue
			}
			receiver := fn.Recv.List[0].Names[0].Name
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				sel, ok := call.Fun.(*ast.SelectorExpr)
				if ok && slices.Contains(lockers, sel.Sel.Name) && rootOf(sel.X) == receiver {
					found = append(found, tr.at(f, call.Pos(), "locked", "%s takes the lock that its caller holds", fn.Name.Name))
				}
				return true
			})
		}
	}
	return found
}

// rootOf names the variable that a chain of selectors starts from.
func rootOf(x ast.Expr) string {
	for {
		switch e := x.(type) {
		case *ast.SelectorExpr:
			x = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

func TestLockedMethodsDoNotLockFindsViolations(t *testing.T) {
	in := func(src string) map[string]string { return map[string]string{"p/a.go": "package p\n" + src} }
	tryOut(t, checkLocked, []specimen{
		{"another's lock", in("func (a *T) moveLocked(b *T) { b.mu.Lock() }"), nil},
		{"other name", in("func (a *T) move() { a.mu.Lock() }"), nil},
		{"its own", in("func (a *T) moveLocked() {\n\ta.mu.Lock()\n}"), []string{"p/a.go:3: moveLocked takes the lock"}},
		{"embedded", in("func (a *T) moveLocked() {\n\ta.RLock()\n}"), []string{"p/a.go:3: moveLocked takes the lock"}},
	})
}
