package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A tree is what the rules look at: the Go files and the texts of all modules, by path from the repository's root.
type tree struct {
	fset    *token.FileSet
	modules []module // the longest path first
	goFiles []*goFile
	texts   map[string]string // Go files are not among them
}

type module struct {
	dir  string // from the root; "." is the root module
	path string
}

type goFile struct {
	path   string
	module module
	syntax *ast.File
}

type violation struct {
	path string
	line int
	rule string
	text string
}

func (v violation) String() string {
	return fmt.Sprintf("%s:%d: %s (%s)", v.path, v.line, v.text, v.rule)
}

func (f *goFile) dir() string  { return path.Dir(f.path) }
func (f *goFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }
func (f *goFile) isMain() bool { return f.syntax.Name.Name == "main" }
func (f *goFile) isInternal() bool {
	return slices.Contains(strings.Split(f.dir(), "/"), "internal")
}

// at makes a violation at a node of the file.
func (tr *tree) at(f *goFile, pos token.Pos, rule, format string, args ...any) violation {
	return violation{f.path, tr.fset.Position(pos).Line, rule, fmt.Sprintf(format, args...)}
}

// owner gives the module that a path in the repository belongs to.
func (tr *tree) owner(file string) module {
	best := module{dir: "."}
	for _, m := range tr.modules {
		if m.dir == "." && best.path == "" || strings.HasPrefix(file, m.dir+"/") && len(m.dir) > len(best.dir) {
			best = m
		}
	}
	return best
}

// newTree parses a set of files. Reading the disk is apart, so that the rules can be tried on sources in memory.
func newTree(files map[string]string) (*tree, error) {
	tr := &tree{fset: token.NewFileSet(), texts: map[string]string{}}
	for name, src := range files {
		if path.Base(name) != "go.mod" {
			continue
		}
		for line := range strings.SplitSeq(src, "\n") {
			if modulePath, ok := strings.CutPrefix(line, "module "); ok {
				tr.modules = append(tr.modules, module{path.Dir(name), strings.TrimSpace(modulePath)})
			}
		}
	}
	slices.SortFunc(tr.modules, func(a, b module) int { return len(b.path) - len(a.path) })
	for name, src := range files {
		if !strings.HasSuffix(name, ".go") {
			tr.texts[name] = src
			continue
		}
		syntax, err := parser.ParseFile(tr.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		tr.goFiles = append(tr.goFiles, &goFile{name, tr.owner(name), syntax})
	}
	slices.SortFunc(tr.goFiles, func(a, b *goFile) int { return strings.Compare(a.path, b.path) })
	return tr, nil
}

// findRoot walks up to the directory that holds go.work.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.work above this directory: the rules need the whole repository")
		}
		dir = up
	}
}

func isInteresting(name string) bool {
	if name == ".ci/run" {
		return true
	}
	switch path.Ext(name) {
	case ".go", ".md", ".yml", ".yaml", ".sh", ".mod":
		return true
	}
	return path.Base(name) == "Makefile"
}

func skipDir(name string) bool {
	switch name {
	case ".", ".ci", ".github":
		return false
	case "bin", "testdata", "vendor":
		return true
	}
	return strings.HasPrefix(name, ".")
}

func readRepository() (*tree, error) {
	root, err := findRoot()
	if err != nil {
		return nil, err
	}
	disk := os.DirFS(root)
	files := map[string]string{}
	err = fs.WalkDir(disk, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipDir(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !isInteresting(name) {
			return nil
		}
		src, err := fs.ReadFile(disk, name)
		files[name] = string(src)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newTree(files)
}

// The repository is read and parsed once for all rules.
var repositoryOnce = sync.OnceValues(readRepository)

func repository(t *testing.T) *tree {
	t.Helper()
	tr, err := repositoryOnce()
	require.NoError(t, err)
	return tr
}

// enforce runs a rule over the repository.
func enforce(t *testing.T, check func(*tree) []violation) {
	t.Helper()
	for _, v := range check(repository(t)) {
		t.Error(v)
	}
}

// A specimen is a small tree with the violations that a rule must find in it, as beginnings of its messages.
type specimen struct {
	name  string
	files map[string]string
	want  []string
}

func tryOut(t *testing.T, check func(*tree) []violation, specimens []specimen) {
	t.Helper()
	for _, s := range specimens {
		t.Run(s.name, func(t *testing.T) {
			if _, ok := s.files["go.mod"]; !ok {
				s.files["go.mod"] = "module github.com/spillway-go/spillway\n"
			}
			tr, err := newTree(s.files)
			require.NoError(t, err)
			found := check(tr)
			require.Len(t, found, len(s.want), "%v", found)
			for i, v := range found {
				require.True(t, strings.HasPrefix(v.String(), s.want[i]), "found %q, want %q", v, s.want[i])
			}
		})
	}
}

func TestTreeHoldsEveryModule(t *testing.T) {
	tr := repository(t)
	var dirs []string
	for _, m := range tr.modules {
		dirs = append(dirs, m.dir)
	}
	for _, dir := range []string{".", "adapters/aerospike", "examples", "tools"} {
		require.Contains(t, dirs, dir)
	}
	require.Equal(t, "examples", tr.owner("examples/quickstart/main.go").dir)
	require.Equal(t, ".", tr.owner("limiter/limiter.go").dir)
	require.Greater(t, len(tr.goFiles), 10, "a rule over nothing proves nothing")
}
