package rules

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	ciScript   = ".ci/run"
	ciWorkflow = ".github/workflows/ci.yml"
)

var (
	ciSteps  = regexp.MustCompile(`(?m)^readonly ALL_STEPS=\((.*)\)$`)
	ciRow    = regexp.MustCompile(`^\s+- ([a-z0-9 -]+)$`)
	ciByJobs = []string{"env", "race"} // env goes before each row, race runs on every machine
)

func TestWorkflowRunsAllSteps(t *testing.T) { enforce(t, checkWorkflow) }

// checkWorkflow asks that the rows of the workflow are the steps of the script, no more and no less.
func checkWorkflow(tr *tree) []violation {
	all := ciSteps.FindStringSubmatch(tr.texts[ciScript])
	if all == nil {
		return []violation{{ciScript, 1, "workflow", "there is no line ALL_STEPS=(…)"}}
	}
	steps, run := strings.Fields(all[1]), map[string]bool{}
	var found []violation
	inRows := false
	for i, line := range strings.Split(tr.texts[ciWorkflow], "\n") {
		row := ciRow.FindStringSubmatch(line)
		if strings.TrimSpace(line) == "steps:" && !inRows {
			inRows = len(line)-len(strings.TrimLeft(line, " ")) > 4 // that of the matrix, not of a job
			continue
		}
		if inRows && row == nil {
			inRows = false
		}
		if !inRows {
			continue
		}
		for step := range strings.FieldsSeq(row[1]) {
			if run[step] = true; !slices.Contains(steps, step) {
				found = append(found, violation{ciWorkflow, i + 1, "workflow", "there is no step " + step})
			}
		}
	}
	for _, step := range steps {
		if !run[step] && !slices.Contains(ciByJobs, step) {
			found = append(found, violation{ciWorkflow, 1, "workflow", "no row runs the step " + step})
		}
	}
	return found
}

func TestWorkflowRunsAllStepsFindsViolations(t *testing.T) {
	in := func(rows string) map[string]string {
		return map[string]string{
			ciScript:   "x\nreadonly ALL_STEPS=(env vet lint race)\n",
			ciWorkflow: "jobs:\n  checks:\n    strategy:\n      matrix:\n        steps:\n" + rows + "    steps:\n      - uses: x\n",
		}
	}
	tryOut(t, checkWorkflow, []specimen{
		{"good", in("          - vet lint\n"), nil},
		{"missing", in("          - vet\n"), []string{ciWorkflow + ":1: no row runs the step lint"}},
		{"unknown", in("          - vet lint\n          - browser\n"), []string{ciWorkflow + ":7: there is no step browser"}},
		{"no steps", map[string]string{ciScript: "x\n"}, []string{ciScript + ":1: there is no line"}},
	})
}
