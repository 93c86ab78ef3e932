package rules

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readOnlyTables lists the package variables that are neither errors nor assertions nor embedded files, as
// "directory.name", each with the reason why it cannot be a constant or a field. Nothing writes to them. A star at the
// end stands for the entries of one table that have names of their own.
var readOnlyTables = map[string]string{
	"adapters/aerospike.codeTable":    "what each result code means; Go has no constant tables",
	"adapters/aerospike.op*":          "the operation table: one entry a method, named so that the compiler finds a typing error",
	"adapters/aerospike.defaultLanes": "the names of the lanes that every client has; Go has no constant arrays",

	"adapters/aerospike/aerospiketest/conformance.*": "tables of a program of its own, which nothing imports",

	"..kindNames":    "the words of an enumeration; Go has no constant arrays",
	"..modeNames":    "the words of an enumeration",
	"..outcomeNames": "the words of an enumeration",
	"..reasonNames":  "the words of an enumeration",
	"..reasonTexts":  "the words of an enumeration",

	"observe.table": "the metrics, by which telemetry, live page, dashboards and alerts all go; Go has no constant tables",

	"debugz.levelNames":           "the words of an enumeration",
	"lifecycle.stateNames":        "the words of an enumeration",
	"limiter/adaptive.causeNames": "the words of an enumeration",
	"observe.kindNames":           "the words of an enumeration",
	"retry.jitterNames":           "the words of an enumeration",
	"retry.stopNames":             "the words of an enumeration",
	"retry.verdictNames":          "the words of an enumeration",
	"watch.kindNames":             "the words of an enumeration",

	"lifecycle.transitions": "the one authority on which state may follow which; the diagrams are tested against it",
}

var errorSentinel = regexp.MustCompile(`^[Ee]rr[A-Z]`)

func TestNoStateIsGlobal(t *testing.T) { enforce(t, checkGlobals) }

// checkGlobals refuses init functions and package variables in code that is not a test.
func checkGlobals(tr *tree) []violation {
	var found []violation
	for _, f := range tr.goFiles {
		if f.isTest() {
			continue
		}
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, tr.at(f, fn.Pos(), "globals", "init runs behind the back of whoever imports us"))
			}
			for _, id := range packageVars(d) {
				if listedAs(f.dir()+"."+id.Name) == "" {
					found = append(found, tr.at(f, id.Pos(), "globals",
						"%s is global: make it a field, or add it to readOnlyTables with the reason", id.Name))
				}
			}
		}
	}
	return found
}

// packageVars gives the variables of a declaration that need a reason.
func packageVars(d ast.Decl) []*ast.Ident {
	gen, ok := d.(*ast.GenDecl)
	if !ok || gen.Tok != token.VAR {
		return nil
	}
	var ids []*ast.Ident
	for _, s := range gen.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok || isEmbed(gen.Doc) || isEmbed(spec.Doc) {
			continue
		}
		for _, id := range spec.Names {
			if id.Name != "_" && !errorSentinel.MatchString(id.Name) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// listedAs gives the entry of readOnlyTables that a variable falls under, or "".
func listedAs(name string) string {
	for entry := range readOnlyTables {
		stem, starred := strings.CutSuffix(entry, "*")
		if name == entry || starred && strings.HasPrefix(name, stem) {
			return entry
		}
	}
	return ""
}

func isEmbed(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if strings.HasPrefix(c.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

func TestReadOnlyTablesExist(t *testing.T) {
	have := map[string]bool{}
	for _, f := range repository(t).goFiles {
		for _, d := range f.syntax.Decls {
			for _, id := range packageVars(d) {
				have[listedAs(f.dir()+"."+id.Name)] = true
			}
		}
	}
	for name, reason := range readOnlyTables {
		require.True(t, have[name], "%s is listed, but is no package variable any more", name)
		require.NotEmpty(t, reason, "%s is listed without a reason", name)
	}
}

func TestNoStateIsGlobalFindsViolations(t *testing.T) {
	in := func(src string) map[string]string { return map[string]string{"p/a.go": "package p\n" + src} }
	tryOut(t, checkGlobals, []specimen{
		{"error", in("var ErrFull = 1\nvar errLate = 2"), nil},
		{"assertion", in("var _ I = (*T)(nil)"), nil},
		{"embed", in("//go:embed a.txt\nvar text string"), nil},
		{"constant", in("const a = 1"), nil},
		{"local", in("func f() { var x int; _ = x }"), nil},
		{"method called init", in("func (t T) init() {}"), nil},
		{"test", map[string]string{"p/a_test.go": "package p\nvar x int"}, nil},
		{"variable", in("var (\n\tErrA = 1\n\tcount int\n)"), []string{"p/a.go:4: count is global"}},
		{"error by half a name", in("var errand = 1"), []string{"p/a.go:2: errand is global"}},
		{"init", in("func init() {}"), []string{"p/a.go:2: init runs"}},
	})
}
