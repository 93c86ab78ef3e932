package rules

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A room is a directory with all below it, unless a longer entry claims a part. An arrow between rooms points to a
// lower floor; floor 0 is shared, and floor 4 may use everything. See docs/design/architecture.md, section 2.
type room struct {
	dir     string
	floor   int
	foreign []string // third-party import paths that its code may use, with all below them
	alone   bool     // uses no other room of ours
}

const topFloor = 5

var rooms = []room{
	{dir: ".", floor: 0, alone: true},
	{dir: "internal", floor: 0},
	{dir: "limiter", floor: 1},
	{dir: "lane", floor: 1},
	{dir: "retry", floor: 1},
	{dir: "deadline", floor: 1},
	{dir: "lifecycle", floor: 1},
	{dir: "group", floor: 2},
	{dir: "observe", floor: 2},
	{dir: "watch", floor: 3},
	{dir: "limiter/adaptive", floor: 3},
	{dir: "monitoring", floor: 3},
	{dir: "debugz", floor: 4},
	{dir: "adapters/nethttp", floor: 3},
	{dir: "otelx", floor: 3, foreign: []string{"go.opentelemetry.io/otel"}},
	{dir: "adapters/aerospike", floor: 4, foreign: []string{"github.com/aerospike/aerospike-client-go/v7"}},
	{dir: "adapters/aerospike/aerospiketest", floor: 3, foreign: []string{"github.com/yuin/gopher-lua"}, alone: true},
	{dir: "adapters/aerospike/aerospiketest/conformance", floor: topFloor},
	{dir: "examples", floor: topFloor},
	{dir: "benchmarks", floor: topFloor},
	{dir: "tools", floor: topFloor},
}

// foreignInRootTests is all that the tests of the root module may import beyond the standard library.
var foreignInRootTests = []string{"github.com/stretchr/testify"}

func TestImportsPointDownwards(t *testing.T) { enforce(t, checkLayers) }

func checkLayers(tr *tree) []violation {
	var found []violation
	for _, f := range tr.goFiles {
		from, ok := roomOf(f.dir())
		if !ok {
			found = append(found, tr.at(f, f.syntax.Name.Pos(), "layers",
				"package %s is on no floor: add it to the rooms in internal/rules/layers_test.go", f.dir()))
			continue
		}
		for _, spec := range f.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil || imported == "C" {
				continue
			}
			if why := tr.judgeImport(f, from, imported); why != "" {
				found = append(found, tr.at(f, spec.Pos(), "layers", "%s", why))
			}
		}
	}
	return found
}

// judgeImport says what is wrong with an import, or nothing.
func (tr *tree) judgeImport(f *goFile, from room, imported string) string {
	target, dir, ours := tr.resolve(imported)
	if !ours {
		return judgeForeign(f, from, imported)
	}
	if target != f.module && slices.Contains(strings.Split(imported, "/"), "internal") {
		return "imports " + imported + ": no module imports another module's internal packages"
	}
	if f.module.dir == "." && target.dir != "." {
		return "imports " + imported + ": the root module imports no nested module"
	}
	to, ok := roomOf(dir)
	if f.isTest() || !ok || from.dir == to.dir || from.floor == topFloor {
		return "" // an import without a room is reported where that package is
	}
	if from.alone {
		return "imports " + imported + ": " + from.dir + " stands alone"
	}
	if to.floor > from.floor || to.floor == from.floor && to.floor > 0 {
		return "imports " + imported + " on floor " + strconv.Itoa(to.floor) + " from floor " +
			strconv.Itoa(from.floor) + ": arrows point to a lower floor"
	}
	return ""
}

func judgeForeign(f *goFile, from room, imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return "" // the standard library
	}
	allowed := from.foreign
	if f.isTest() {
		if f.module.dir != "." {
			return ""
		}
		allowed = foreignInRootTests
	}
	if from.floor == topFloor {
		return ""
	}
	for _, p := range allowed {
		if within(imported, p) {
			return ""
		}
	}
	return "imports " + imported + ": not among the dependencies of " + from.dir
}

// resolve finds the module of ours that an import path belongs to, and its directory.
func (tr *tree) resolve(imported string) (m module, dir string, ours bool) {
	for _, m := range tr.modules { // the longest first
		if within(imported, m.path) {
			return m, path.Join(m.dir, strings.TrimPrefix(imported, m.path)), true
		}
	}
	return module{}, "", false
}

func roomOf(dir string) (best room, ok bool) {
	for _, r := range rooms {
		if within(dir, r.dir) && (!ok || len(r.dir) > len(best.dir)) {
			best, ok = r, true
		}
	}
	return best, ok
}

func within(p, parent string) bool { return p == parent || strings.HasPrefix(p, parent+"/") }

func TestImportsPointDownwardsFindsViolations(t *testing.T) {
	const us = "github.com/spillway-go/spillway"
	with := func(file, imported string) map[string]string {
		return map[string]string{
			"go.mod":                    "module " + us + "\n",
			"adapters/aerospike/go.mod": "module " + us + "/adapters/aerospike\n",
			"otelx/go.mod":              "module " + us + "/otelx\n",
			file:                        "package p\n\nimport _ \"" + imported + "\"\n",
		}
	}
	tryOut(t, checkLayers, []specimen{
		{"down", with("limiter/a.go", us+"/internal/permit"), nil},
		{"std", with("limiter/a.go", "net/http"), nil},
		{"own room", with("lane/sub/a.go", us+"/lane"), nil},
		{"driver in its adapter", with("adapters/aerospike/a.go", "github.com/aerospike/aerospike-client-go/v7/types"), nil},
		{"testify in a root test", with("lane/a_test.go", "github.com/stretchr/testify/require"), nil},
		{"sideways in a test", with("lane/a_test.go", us+"/retry"), nil},
		{"sideways", with("lane/a.go", us+"/retry"), []string{"lane/a.go:3: imports " + us + "/retry on floor 1"}},
		{"up", with("limiter/a.go", us+"/limiter/adaptive"), []string{"limiter/a.go:3: imports"}},
		{"root uses a room", with("a.go", us+"/internal/permit"), []string{"a.go:3: imports"}},
		{"testify in code", with("lane/a.go", "github.com/stretchr/testify/require"), []string{"lane/a.go:3: imports"}},
		{"foreign root test", with("lane/a_test.go", "example.com/x"), []string{"lane/a_test.go:3: imports"}},
		{"root test uses a nested module", with("lane/a_test.go", us+"/otelx"), []string{"lane/a_test.go:3: imports"}},
		{
			"another module's internal", with("otelx/a_test.go", us+"/internal/permit"),
			[]string{"otelx/a_test.go:3: imports " + us + "/internal/permit: no module imports another module's internal"},
		},
		{"test server is alone", with("adapters/aerospike/aerospiketest/a.go", us+"/retry"), []string{
			"adapters/aerospike/aerospiketest/a.go:3: imports " + us + "/retry: adapters/aerospike/aerospiketest stands alone",
		}},
		{"test server without driver", with("adapters/aerospike/aerospiketest/a.go", "github.com/aerospike/aerospike-client-go/v7"), []string{
			"adapters/aerospike/aerospiketest/a.go:3: imports",
		}},
		{"no floor", with("attic/a.go", "fmt"), []string{"attic/a.go:1: package attic is on no floor"}},
	})
}
