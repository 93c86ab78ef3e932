package rules

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const errorsFile = "docs/errors.md"

var (
	// Of these modules and packages nobody gets an error in production.
	noErrorsOf = []string{"benchmarks", "examples", "tools", "adapters/aerospike/aerospiketest"}
	errorNamed = regexp.MustCompile("`\\*?([a-z0-9]+\\.[A-Z]\\w*)[`(, ]")
)

func TestErrorsPageIsComplete(t *testing.T) { enforce(t, checkErrors) }

// checkErrors asks that the page names each exported error of each public package, as `package.ErrName` or
// `*package.NameError`, and that what it names in this way is there.
func checkErrors(tr *tree) []violation {
	page, ok := tr.texts[errorsFile]
	if !ok {
		return []violation{{errorsFile, 1, "errors", "the file is missing"}}
	}
	named := map[string]int{}
	for i, line := range strings.Split(page, "\n") {
		for _, m := range errorNamed.FindAllStringSubmatch(line, -1) {
			if _, again := named[m[1]]; !again {
				named[m[1]] = i + 1
			}
		}
	}
	var found []violation
	there, packages := map[string]bool{}, map[string]bool{}
	for _, f := range tr.goFiles {
		if f.isTest() || f.isMain() || f.isInternal() || slices.ContainsFunc(noErrorsOf, func(dir string) bool { return strings.HasPrefix(f.dir()+"/", dir+"/") }) {
			continue
		}
		packages[f.syntax.Name.Name] = true
		for _, id := range errorNames(f.syntax) {
			name := f.syntax.Name.Name + "." + id.Name
			if there[name] = true; named[name] == 0 {
				found = append(found, tr.at(f, id.Pos(), "errors", "%s does not name %s", errorsFile, name))
			}
		}
	}
	for _, name := range sortedKeys(named) {
		pkg, id, _ := strings.Cut(name, ".")
		if packages[pkg] && isErrorName(id) && !there[name] {
			found = append(found, violation{errorsFile, named[name], "errors", "there is no " + name})
		}
	}
	return found
}

// errorNames returns the exported variables and types of a file that are errors by their name.
func errorNames(file *ast.File) []*ast.Ident {
	var names []*ast.Ident
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range group.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if strings.HasSuffix(s.Name.Name, "Error") && s.Name.IsExported() {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				for _, id := range s.Names {
					if isSentinel(id.Name) {
						names = append(names, id)
					}
				}
			}
		}
	}
	return names
}

func isErrorName(name string) bool { return strings.HasSuffix(name, "Error") || isSentinel(name) }

// isSentinel reports whether a name is that of an error in a variable: Err and a word.
func isSentinel(name string) bool {
	word, ok := strings.CutPrefix(name, "Err")
	return ok && ast.IsExported(word)
}

func TestErrorsPageIsCompleteFindsViolations(t *testing.T) {
	in := func(page string) map[string]string {
		return map[string]string{
			errorsFile:          page,
			"p/a.go":            "package p\nvar (\n\tErrA = f()\n\terrB = f()\n\tErrors = 1\n)\ntype (\n\tBadError struct{}\n\tError struct{}\n\tbadError struct{}\n)\n",
			"benchmarks/q/a.go": "package q\nvar ErrC = f()\n", "internal/r/a.go": "package r\nvar ErrD = f()\n", "p/a_test.go": "package p\nvar ErrE = f()\n",
		}
	}
	tryOut(t, checkErrors, []specimen{
		{"good", in("`p.ErrA` and `*p.BadError`, `*p.Error` of `other.ErrX`"), nil},
		{"missing file", map[string]string{}, []string{errorsFile + ":1: the file is missing"}},
		{"missing names", in("`p.Error`, p.ErrA"), []string{"p/a.go:3: docs/errors.md does not name p.ErrA", "p/a.go:8: docs/errors.md does not name p.BadError"}},
		{"gone", in("`p.ErrA`, `*p.BadError`, `*p.Error`\n`p.ErrGone`"), []string{errorsFile + ":2: there is no p.ErrGone"}},
	})
}
