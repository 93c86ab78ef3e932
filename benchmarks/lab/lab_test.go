//go:build go1.25

package lab_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
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
	require.Positive(t, *seeds, "-lab.seeds")
	all := chosen()
	var used []uint64
	for s := range *seeds {
		used = append(used, uint64(s+1))
	}
	b, jobs := lab.NewBoard(all, selected(), used[0]), list(all, used)
	require.NotEmpty(t, jobs, "nothing to run")
	began := time.Now()
	write := func() error {
		return report.Write(*out, b, report.Meta{
			Date: began.UTC().Format("2006-01-02"), Command: command(), Seeds: used,
			Machine: fmt.Sprintf("%s, %d cores", runtime.Version(), runtime.NumCPU()),
			Took:    time.Since(began).Round(time.Second).String(),
		})
	}
	var next, done atomic.Int64
	var written sync.Mutex
	last := began
	t.Run("runs", func(t *testing.T) {
		for i := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				for at := next.Add(1); at <= int64(len(jobs)); at = next.Add(1) {
					j, start := jobs[at-1], time.Now()
					f := in(t, j.w, j.p, j.seed)
					b.Add(j.w, j.p, j.seed, f)
					fmt.Fprintf(os.Stderr, "%4d/%d %6.0fs  %-16s %-18s seed %d: %-9s %4.1fs\n", done.Add(1), len(jobs), time.Since(began).Seconds(),
						j.w.Name(), j.p.Name, j.seed, j.w.Headline().Format(f.Of(j.w.Headline())), time.Since(start).Seconds())
					written.Lock()
					if time.Since(last) > time.Minute { // so that a run that is interrupted isn't lost
						require.NoError(t, write())
						last = time.Now()
					}
					written.Unlock()
				}
			})
		}
	})
	require.EqualValues(t, len(jobs), done.Load())
	require.NoError(t, write())
}

// job is a run to be made.
type job struct {
	w    lab.Workload
	p    policy.Policy
	seed uint64
}

// list returns the runs in the order in which they are made: what is judged first.
func list(all []lab.Workload, used []uint64) (jobs []job) {
	for _, judged := range []bool{true, false} {
		for _, p := range selected() {
			for _, w := range all {
				if p.Judged == judged && w.Runs(p) {
					for _, seed := range used {
						jobs = append(jobs, job{w, p, seed})
					}
				}
			}
		}
	}
	return jobs
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
	if *policies != "" {
		c += fmt.Sprintf(" POLICIES=%q", *policies)
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
