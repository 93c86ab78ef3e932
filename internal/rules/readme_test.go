package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	readmeFile     = "README.md"
	maxReadmeLines = 120
)

func TestReadmeIsShortAndShowsAProgram(t *testing.T) { enforce(t, checkReadme) }

func checkReadme(tr *tree) []violation {
	text, ok := tr.texts[readmeFile]
	if !ok {
		return []violation{{readmeFile, 1, "readme", "the file is missing"}}
	}
	var found []violation
	if lines := strings.Count(text, "\n"); lines > maxReadmeLines {
		found = append(found, violation{readmeFile, lines, "readme", "the file is longer than its limit"})
	}
	if readmeProgram(text) == "" {
		found = append(found, violation{readmeFile, 1, "readme", "there is no go block with package main"})
	}
	return found
}

// readmeProgram gives the first go block that is a program, or "".
func readmeProgram(text string) string {
	for _, block := range strings.Split(text, "\n```go\n")[1:] {
		code, _, closed := strings.Cut(block, "\n```")
		if closed && strings.Contains("\n"+code+"\n", "\npackage main\n") {
			return code + "\n"
		}
	}
	return ""
}

// The README's program is vetted, without the network, as a module of its own next to ours in a workspace.
func TestReadmeProgramCompiles(t *testing.T) {
	root, err := findRoot()
	require.NoError(t, err)
	tr := repository(t)
	program := readmeProgram(tr.texts[readmeFile])
	require.NotEmpty(t, program, "README.md:1: no program to compile (readme)")

	dir := t.TempDir()
	goLine, uses := readWorkspace(t, root)
	work := goLine + "\nuse ./readme\n"
	for _, use := range uses {
		work += "use " + strconv.Quote(filepath.Join(root, use)) + "\n"
	}
	write(t, filepath.Join(dir, "go.work"), work)
	write(t, filepath.Join(dir, "readme", "go.mod"), "module readme\n\n"+goLine+"\n")
	write(t, filepath.Join(dir, "readme", "main.go"), program)
	if sums, err := os.ReadFile(filepath.Join(root, "go.work.sum")); err == nil {
		write(t, filepath.Join(dir, "go.work.sum"), string(sums))
	}

	vet := exec.Command("go", "vet", ".")
	vet.Dir = filepath.Join(dir, "readme")
	vet.Env = append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"), "GOPROXY=off", "GOTOOLCHAIN=local")
	out, err := vet.CombinedOutput()
	require.NoError(t, err, "README.md: its program does not compile (readme)\n%s", out)
}

// readWorkspace gives the go line of go.work and the directories that it joins.
func readWorkspace(t *testing.T, root string) (goLine string, uses []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.work"))
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(text), "\n") {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "go ") {
			goLine = line
		}
		line = strings.TrimSpace(strings.TrimPrefix(line, "use "))
		if line == "." || strings.HasPrefix(line, "./") {
			uses = append(uses, line)
		}
	}
	require.NotEmpty(t, uses, "go.work joins nothing")
	return goLine, uses
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

func TestReadmeIsShortAndShowsAProgramFindsViolations(t *testing.T) {
	program := "# X\n\n```go\nfunc f() {}\n```\n\n```go\npackage main\n\nfunc main() {}\n```\n"
	require.Equal(t, "package main\n\nfunc main() {}\n", readmeProgram(program))
	tryOut(t, checkReadme, []specimen{
		{"good", map[string]string{readmeFile: program}, nil},
		{"missing", map[string]string{}, []string{"README.md:1: the file is missing"}},
		{"no program", map[string]string{readmeFile: "# X\n"}, []string{"README.md:1: there is no go block"}},
		{"long", map[string]string{readmeFile: program + strings.Repeat("\n", 120)}, []string{"README.md:131: the file is longer"}},
	})
}
