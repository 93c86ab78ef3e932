package rules

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

func TestPackagesHaveDocFiles(t *testing.T) { enforce(t, checkDocFiles) }

// checkDocFiles asks for a doc.go in each public package that holds the package comment and nothing else, and for no
// second package comment anywhere.
func checkDocFiles(tr *tree) []violation {
	var found []violation
	firstFile, hasDoc := map[string]*goFile{}, map[string]bool{}
	for _, f := range tr.goFiles {
		if f.isTest() || f.isMain() {
			continue
		}
		if path.Base(f.path) != "doc.go" {
			if f.syntax.Doc != nil && !ast.IsGenerated(f.syntax) {
				found = append(found, tr.at(f, f.syntax.Doc.Pos(), "doc.go", "the package comment belongs in doc.go"))
			}
			if firstFile[f.dir()] == nil {
				firstFile[f.dir()] = f
			}
			continue
		}
		hasDoc[f.dir()] = true
		if f.syntax.Doc == nil || !strings.HasPrefix(f.syntax.Doc.Text(), "Package "+f.syntax.Name.Name+" ") {
			found = append(found, tr.at(f, f.syntax.Name.Pos(), "doc.go", "the comment starts with %q",
				"Package "+f.syntax.Name.Name))
		}
		if len(f.syntax.Decls) > 0 {
			found = append(found, tr.at(f, f.syntax.Decls[0].Pos(), "doc.go", "doc.go holds only the package comment"))
		}
	}
	for _, f := range tr.goFiles {
		if firstFile[f.dir()] == f && !hasDoc[f.dir()] && !f.isInternal() {
			found = append(found, tr.at(f, f.syntax.Name.Pos(), "doc.go", "package %s has no doc.go", f.dir()))
		}
	}
	return found
}

func TestExportedNamesAreDocumented(t *testing.T) { enforce(t, checkExported) }

// checkExported asks for a comment on every exported name, internal packages included, that starts with the name; a
// type may have an article before it. In a group of constants or variables a comment on the group or at the end of
// the line is enough. Fields and methods of public structs and interfaces need any comment, which may cover several
// without an empty line between them; the only member of a type is covered by the comment of the type.
func checkExported(tr *tree) []violation {
	var found []violation
	for _, f := range tr.goFiles {
		if f.isTest() || f.isMain() {
			continue
		}
		report := func(id *ast.Ident, why string) {
			found = append(found, tr.at(f, id.Pos(), "documented", "%s %s", id.Name, why))
		}
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && receiverIsExported(d) {
					wantName(report, d.Name, d.Doc, false)
				}
			case *ast.GenDecl:
				tr.checkGroup(report, d, !f.isInternal())
			}
		}
	}
	return found
}

func (tr *tree) checkGroup(report func(*ast.Ident, string), d *ast.GenDecl, public bool) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			wantName(report, s.Name, docOf(d, s.Doc), true)
			if public {
				tr.checkMembers(report, s.Type)
			}
		case *ast.ValueSpec:
			if !s.Names[0].IsExported() || s.Comment != nil {
				continue
			}
			if doc := docOf(d, s.Doc); doc != nil || d.Doc == nil {
				wantName(report, s.Names[0], doc, false)
			}
		}
	}
}

// docOf gives the comment of a spec, which is that of the declaration if there are no parentheses.
func docOf(d *ast.GenDecl, spec *ast.CommentGroup) *ast.CommentGroup {
	if spec == nil && d.Lparen == token.NoPos {
		return d.Doc
	}
	return spec
}

func (tr *tree) checkMembers(report func(*ast.Ident, string), typ ast.Expr) {
	var list *ast.FieldList
	switch typ := typ.(type) {
	case *ast.StructType:
		list = typ.Fields
	case *ast.InterfaceType:
		list = typ.Methods
	default:
		return
	}
	if len(list.List) == 1 {
		return
	}
	covered, last := false, -1
	for _, m := range list.List {
		follows := tr.fset.Position(m.Pos()).Line == last+1
		covered = m.Doc != nil || m.Comment != nil || covered && follows
		last = tr.fset.Position(m.End()).Line
		if len(m.Names) > 0 && m.Names[0].IsExported() && !covered {
			report(m.Names[0], "has no comment")
		}
	}
}

func receiverIsExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	name := receiverType(d)
	return name == "" || ast.IsExported(name)
}

// receiverType names the type of a method, without pointer and type parameters.
func receiverType(d *ast.FuncDecl) string {
	typ := d.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.ParenExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func wantName(report func(*ast.Ident, string), id *ast.Ident, doc *ast.CommentGroup, article bool) {
	if doc == nil {
		report(id, "has no comment")
		return
	}
	words := strings.Fields(doc.Text())
	if article && len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	if len(words) == 0 || strings.TrimRight(words[0], ",.:;") != id.Name {
		report(id, "has a comment that does not start with its name")
	}
}
