package rules

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	rootModule    = "github.com/spillway-go/spillway"
	guidesDir     = "docs/guides/"
	grantedMark   = "\n<!-- The code above compiles with:\n"
	guideFunction = "func _() "
)

// guideImports are what the code of a guide may use without saying so.
var guideImports = []string{
	"context", "errors", "fmt", "io", "iter", "log/slog", "math", "net/http", "os", "os/signal", "strconv", "strings", "sync",
	"sync/atomic", "syscall", "time",
	"", "/adapters/aerospike", "/adapters/nethttp", "/deadline", "/debugz", "/group", "/lane", "/lifecycle", "/limiter", "/limiter/adaptive", "/monitoring", "/observe",
	"/otelx", "/retry", "/watch",
	"as github.com/aerospike/aerospike-client-go/v7",
}

// guideImport returns the name that an import is given, if it is, and its path.
func guideImport(p string) (name, importPath string) {
	if name, importPath, ok := strings.Cut(p, " "); ok {
		return name, importPath
	}
	if p == "" || strings.HasPrefix(p, "/") {
		return "", rootModule + p
	}
	return "", p
}

// A snippet is one block of code in a guide, marked as Go.
type snippet struct {
	line int // of its first line of code
	code string
}

func snippetsOf(text string) []snippet {
	var all []snippet
	line := 1
	for i, part := range strings.Split(text, "\n```") {
		if i%2 == 1 {
			if lang, code, _ := strings.Cut(part, "\n"); lang == "go" {
				all = append(all, snippet{line + 1, code})
			}
		}
		line += strings.Count(part, "\n") + 1
	}
	return all
}

// The code of the guides is type-checked against the packages as they are. A guide says in a comment at its end what its
// code takes for granted: types, variables and functions that the reader has of his own. Variables that a snippet
// doesn't use are no fault: its reader will.
func TestGuidesCompile(t *testing.T) {
	root, err := findRoot()
	require.NoError(t, err)
	tr := repository(t)
	fset := token.NewFileSet()
	packages := exported(t, root, fset)
	compiled := 0
	for _, file := range sortedKeys(tr.texts) {
		text := tr.texts[file]
		snippets := snippetsOf(text)
		if !strings.HasPrefix(file, guidesDir) || len(snippets) == 0 {
			continue
		}
		_, granted, ok := strings.Cut(text, grantedMark)
		granted, _, closed := strings.Cut(granted, "-->")
		if !ok || !closed {
			t.Errorf("%s: no comment says what its code takes for granted (guides)", file)
		}
		for _, s := range snippets {
			for _, fault := range compile(fset, packages, file, granted, s) {
				t.Errorf("%s (guides)", fault)
			}
		}
		compiled++
	}
	require.Positive(t, compiled, "%s: no guide has a block marked as Go (guides)", guidesDir)
}

// compile returns the faults of a snippet: as declarations, or as the body of a function without or with an error for a
// result, whichever has the fewest.
func compile(fset *token.FileSet, packages types.Importer, file, granted string, s snippet) []string {
	var best []string
	for i, form := range []string{
		"%s", guideFunction + "{\n%s\n}", guideFunction + "error {\n%s\npanic(0)\n}", guideFunction + "(any, error) {\n%s\npanic(0)\n}",
	} {
		var src strings.Builder
		src.WriteString("package guide\n")
		for _, p := range guideImports {
			name, importPath := guideImport(p)
			fmt.Fprintf(&src, "import %s %q\n", name, importPath)
		}
		fmt.Fprintf(&src, "//line %s:1\n%s\n", file, granted)
		before, after, _ := strings.Cut(form, "%s")
		fmt.Fprintf(&src, "%s\n//line %s:%d\n%s%s", strings.TrimSuffix(before, "\n"), file, s.line, s.code, after)
		faults := check(fset, packages, src.String())
		if len(faults) == 0 {
			return nil
		}
		if i == 0 || len(faults) <= len(best) {
			best = faults
		}
	}
	return best
}

func check(fset *token.FileSet, packages types.Importer, src string) (faults []string) {
	f, err := parser.ParseFile(fset, "guide.go", src, parser.SkipObjectResolution)
	if err != nil {
		return strings.Split(err.Error(), "\n")
	}
	cfg := types.Config{Importer: packages, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && !e.Soft { // soft is what is declared or imported and not used
			faults = append(faults, fset.Position(e.Pos).String()+": "+e.Msg)
		}
	}}
	_, _ = cfg.Check("guide", fset, []*ast.File{f}, nil)
	return faults
}

// exported reads what the packages export from what the compiler wrote of them.
func exported(t *testing.T, root string, fset *token.FileSet) types.Importer {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}"}
	for _, p := range guideImports {
		_, importPath := guideImport(p)
		args = append(args, importPath)
	}
	list := exec.Command("go", args...)
	list.Dir = root
	list.Env = append(os.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local")
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	require.NoError(t, err, "%s", stderr.String())
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if importPath, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			files[importPath] = file
		}
	}
	return importer.ForCompiler(fset, "gc", func(importPath string) (io.ReadCloser, error) {
		return os.Open(files[importPath])
	})
}

func TestGuidesCompileFindsViolations(t *testing.T) {
	root, err := findRoot()
	require.NoError(t, err)
	fset := token.NewFileSet()
	packages := exported(t, root, fset)
	text := "# A guide\n\nText.\n\n```go\nx := 1\n```\n\n```\nnot Go\n```\n\n```go\nlimiter.Neu()\nreturn nil\n```\n"
	snippets := snippetsOf(text)
	require.Equal(t, []snippet{{6, "x := 1"}, {14, "limiter.Neu()\nreturn nil"}}, snippets)
	require.Empty(t, compile(fset, packages, "g.md", "", snippets[0]))
	require.Equal(t, []string{"g.md:14: undefined: limiter.Neu"}, compile(fset, packages, "g.md", "", snippets[1]))
	require.Empty(t, compile(fset, packages, "g.md", "var l int", snippet{1, "type T struct{ x int }\nfunc (T) f() int { return l }"}))
	require.NotEmpty(t, compile(fset, packages, "g.md", "", snippet{1, "if {"}))
}
