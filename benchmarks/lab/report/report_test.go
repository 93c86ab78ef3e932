//go:build go1.25

package report_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/benchmarks/lab"
	"github.com/spillway-go/spillway/benchmarks/lab/model"
	"github.com/spillway-go/spillway/benchmarks/lab/policy"
	"github.com/spillway-go/spillway/benchmarks/lab/report"
)

// small is a workload that is over at once, with a target that is met and one that can't be.
func small() lab.Workload {
	return lab.Workload{
		ID: "W1", Variant: "κ, µ", About: "a load & a <backend>", Nodes: []model.Config{{Slots: 2, Mean: time.Millisecond}}, Clients: 1,
		Streams: []lab.Stream{{Rate: model.Profile{{Value: 6000}}, Deadline: 20 * time.Millisecond}},
		Length:  300 * time.Millisecond, To: 300 * time.Millisecond, Ends: 200 * time.Millisecond, Picture: true,
		Targets: []lab.Target{{Metric: lab.Goodput, Bound: .5}, {Metric: lab.Success, Bound: .999, Cause: "there is too much of it"}},
	}
}

// A limit that was given a target misses for other reasons than one that learns.
func TestWriteNamesTheCauseOfEachPolicy(t *testing.T) {
	w, ps := small(), policy.Find("stack", "adaptive", "adaptive target")
	w.Targets[1].Moving, w.Targets[1].Aimed = "it learned the wrong thing", "the target is out of reach"
	b := lab.NewBoard([]lab.Workload{w}, ps, 1)
	for _, p := range ps {
		synctest.Test(t, func(*testing.T) { b.Add(w, p, 1, lab.Run(context.Background(), w, p, 1)) })
	}
	dir := filepath.Join(t.TempDir(), "lab")
	require.NoError(t, report.Write(dir, b, report.Meta{Date: "2026-12-01", Command: "make lab", Machine: "a machine", Seeds: []uint64{1}, Took: "1s"}))
	text, err := os.ReadFile(filepath.Join(dir, "scoreboard.md"))
	require.NoError(t, err)
	for name, cause := range map[string]string{"stack": "There is too much of it", "adaptive": "It learned the wrong thing", "adaptive target": "The target is out of reach"} {
		require.Regexp(t, "Missed by `"+name+"`, with the worst seed, and why:\n\n- .*"+cause+`\.\n\n`, string(text))
	}
}

func TestWriteShowsVerdictsAndPictures(t *testing.T) {
	w, ps := small(), policy.Find("none", "static 1.5c", "stack")
	b := lab.NewBoard([]lab.Workload{w}, ps, 1)
	for _, p := range ps {
		for seed := range uint64(2) {
			synctest.Test(t, func(*testing.T) { b.Add(w, p, seed+1, lab.Run(context.Background(), w, p, seed+1)) })
		}
	}
	dir := filepath.Join(t.TempDir(), "lab")
	require.NoError(t, report.Write(dir, b, report.Meta{Date: "2026-11-30", Command: "make lab", Machine: "a machine", Seeds: []uint64{1, 2}, Took: "1s"}))

	text, err := os.ReadFile(filepath.Join(dir, "scoreboard.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "`make lab` on 2026-11-30")
	require.Contains(t, string(text), "- `stack` meets 1 of 2 targets.")
	require.Regexp(t, `\| W1 κ, µ \| goodput ≥ 50 % \| .* \| met \| .*\(static 1\.5c\) \|`, string(text))
	require.Regexp(t, `- W1 κ, µ, success ≥ 99\.9 %: .* There is too much of it\.`, string(text))
	require.Contains(t, string(text), "![W1 κ, µ](img/w1-k-u.svg)")

	for _, name := range []string{"overview.svg", "w1-k-u.svg"} {
		svg, err := os.ReadFile(filepath.Join(dir, "img", name))
		require.NoError(t, err)
		d, elements := xml.NewDecoder(bytes.NewReader(svg)), 0
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
			if _, ok := token.(xml.StartElement); ok {
				elements++
			}
		}
		require.Greater(t, elements, 8, name)
	}
}

// Workloads that weren't run have nothing to draw, and that ends, too.
func TestWriteDrawsNothingOfNothing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, report.Write(dir, lab.NewBoard([]lab.Workload{small()}, policy.All(), 1), report.Meta{}))
	require.FileExists(t, filepath.Join(dir, "img", "w1-k-u.svg"))
}

func TestWriteFailsWhereItCannotWrite(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o644))
	require.Error(t, report.Write(blocked, lab.NewBoard(nil, nil, 1), report.Meta{}))
}
