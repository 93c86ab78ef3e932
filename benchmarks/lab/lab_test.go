//go:build go1.25

package lab_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/benchmarks/lab"
	"github.com/spillway-go/spillway/benchmarks/lab/policy"
	"github.com/spillway-go/spillway/benchmarks/lab/report"
)

var (
	out      = flag.String("lab.out", "", "run all of the lab, and write the scoreboard and the pictures into this directory")
	seeds    = flag.Int("lab.seeds", 3, "with -lab.out: how many seeds")
	only     = flag.String("lab.workloads", "", "with -lab.out: only workloads whose names begin with one of these, separated by commas")
	policies = flag.String("lab.policies", "", "with -lab.out: only these policies, separated by commas")
)

// in runs a workload in a bubble of its own.
func in(t *testing.T, w lab.Workload, p policy.Policy, seed uint64) (f *lab.Figures) {
	synctest.Test(t, func(*testing.T) { f = lab.Run(context.Background(), w, p, seed) })
	require.NotNil(t, f, "%s with %s", w.Name(), p.Name)
	return f
}

// The long form, by "make lab". Without -lab.out it is the short form: each workload that takes no
// more than a moment, shortened, with one seed.
func TestLab(t *testing.T) {
	if *out == "" {
		short(t)
		return
	}
	all := chosen()
	var used []uint64
	for s := range *seeds {
		used = append(used, uint64(s+1))
	}
	b := lab.NewBoard(all, selected(), used[0])
	began, total := time.Now(), 0
	for _, w := range all {
		for _, p := range selected() {
			if w.Runs(p) {
				total += len(used)
			}
		}
	}
	require.Positive(t, total, "nothing to run")
	var done atomic.Int64
	t.Run("runs", func(t *testing.T) {
		for _, w := range all {
			for _, p := range selected() {
				for _, seed := range used {
					if !w.Runs(p) {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%d", w.Name(), p.Name, seed), func(t *testing.T) {
						t.Parallel()
						start := time.Now()
						f := in(t, w, p, seed)
						b.Add(w, p, seed, f)
						fmt.Fprintf(os.Stderr, "%4d/%d %6.0fs  %-16s %-18s seed %d: %-9s %4.1fs\n", done.Add(1), total, time.Since(began).Seconds(),
							w.Name(), p.Name, seed, w.Headline().Format(f.Of(w.Headline())), time.Since(start).Seconds())
					})
				}
			}
		}
	})
	require.EqualValues(t, total, done.Load())
	require.NoError(t, report.Write(*out, b, report.Meta{
		Date: time.Now().UTC().Format("2006-01-02"), Command: command(), Seeds: used,
		Machine: fmt.Sprintf("%s, %d cores", runtime.Version(), runtime.GOMAXPROCS(0)),
		Took:    time.Since(began).Round(time.Second).String(),
	}))
}

// command is what repeats the run.
func command() string {
	c := "make lab"
	if *seeds != 3 {
		c += fmt.Sprintf(" SEEDS=%d", *seeds)
	}
	if *only != "" {
		c += fmt.Sprintf(" LAB=%q", *only)
	}
	return c
}

func chosen() []lab.Workload {
	var all []lab.Workload
	for _, w := range lab.Plan() {
		for prefix := range strings.SplitSeq(*only, ",") {
			if strings.HasPrefix(w.Name(), prefix) {
				all = append(all, w)
				break
			}
		}
	}
	return all
}

func selected() []policy.Policy {
	if *policies == "" {
		return policy.All()
	}
	return policy.Find(strings.Split(*policies, ",")...)
}
