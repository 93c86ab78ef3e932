package rules

import "testing"

func TestPackagesHaveDocFilesFindsViolations(t *testing.T) {
	const doc = "// Package p is small.\npackage p\n"
	tryOut(t, checkDocFiles, []specimen{
		{"good", map[string]string{"p/doc.go": doc, "p/a.go": "package p\n"}, nil},
		{"internal", map[string]string{"internal/p/a.go": "package p\n"}, nil},
		{"main", map[string]string{"examples/p/main.go": "// Command p runs.\npackage main\n"}, nil},
		{"none", map[string]string{"p/a.go": "package p\n"}, []string{"p/a.go:1: package p has no doc.go"}},
		{"more", map[string]string{"p/doc.go": doc + "\nvar x int\n"}, []string{"p/doc.go:4: doc.go holds only"}},
		{"bare", map[string]string{"p/doc.go": "package p\n"}, []string{"p/doc.go:1: the comment starts with \"Package p\""}},
		{"two", map[string]string{"p/doc.go": doc, "p/a.go": doc}, []string{"p/a.go:1: the package comment belongs"}},
	})
}

func TestExportedNamesAreDocumentedFindsViolations(t *testing.T) {
	in := func(src string) map[string]string { return map[string]string{"p/a.go": "package p\n" + src} }
	tryOut(t, checkExported, []specimen{
		{"good func", in("// F does.\nfunc F() {}\nfunc g() {}"), nil},
		{"good type", in("// A T is.\ntype T struct{}\n// M does.\nfunc (T) M() {}"), nil},
		{"method of a hidden type", in("type t[K any] struct{}\nfunc (*t[K]) M() {}"), nil},
		{"group", in("// Both of them.\nconst (\n\tA = 1\n\tB = 2\n)"), nil},
		{"end of line", in("const (\n\tA = 1 // the first\n)"), nil},
		{"func", in("func F() {}"), []string{"p/a.go:2: F has no comment"}},
		{"other name", in("// Does it.\nfunc F() {}"), []string{"p/a.go:3: F has a comment that does not start"}},
		{"article before a func", in("// A F.\nfunc F() {}"), []string{"p/a.go:3: F has a comment"}},
		{"generic method", in("// T is.\ntype T[K any] struct{}\nfunc (*T[K]) M() {}"), []string{"p/a.go:4: M has no"}},
		{"constant", in("const A = 1"), []string{"p/a.go:2: A has no comment"}},
		{"in a bare group", in("var (\n\tA = 1\n)"), []string{"p/a.go:3: A has no comment"}},
		{"field", in("// T is.\ntype T struct {\n\tb int\n\tA int\n}"), []string{"p/a.go:5: A has no comment"}},
		{"only field", in("// T is.\ntype T struct {\n\tA int\n}"), nil},
		{"fields under one comment", in("// T is.\ntype T struct {\n\t// Two.\n\tA int\n\tB int\n\n\tC int\n}"), []string{"p/a.go:8: C has"}},
		{"method of an interface", in("// T is.\ntype T interface {\n\tM()\n\tN() // is.\n}"), []string{"p/a.go:4: M has no comment"}},
	})
}
