package rules

import (
	"strings"
	"testing"
)

const changelogFile = "CHANGELOG.md"

func TestChangelogEntriesAreInTheirPlace(t *testing.T) { enforce(t, checkChangelog) }

// checkChangelog finds entries that a merge has put behind the links at the end, where nobody reads them, or has put in
// twice.
func checkChangelog(tr *tree) []violation {
	var found []violation
	seen, links := map[string]bool{}, false
	for i, line := range strings.Split(tr.texts[changelogFile], "\n") {
		switch {
		case strings.HasPrefix(line, "[") && strings.Contains(line, "]: "):
			links = true
		case line != "" && links:
			found = append(found, violation{changelogFile, i + 1, "changelog", "an entry stands behind the links"})
		case strings.HasPrefix(line, "- ") && seen[line]:
			found = append(found, violation{changelogFile, i + 1, "changelog", "an entry is there twice"})
		}
		seen[line] = true
	}
	return found
}

func TestChangelogEntriesAreInTheirPlaceFindsViolations(t *testing.T) {
	const link = "[Unreleased]: https://example.org\n"
	in := func(text string) map[string]string { return map[string]string{changelogFile: text} }
	tryOut(t, checkChangelog, []specimen{
		{"good", in("# Changelog\n\n- `a`: b.\n- `a`: c.\n\n" + link), nil},
		{"behind", in("- `a`: b.\n\n" + link + "- `a`: c.\n"), []string{"CHANGELOG.md:4: an entry stands behind"}},
		{"twice", in("- `a`: b.\n- `a`: b.\n"), []string{"CHANGELOG.md:2: an entry is there twice"}},
	})
}
