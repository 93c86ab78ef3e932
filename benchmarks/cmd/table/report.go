package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// report is what a run has found.
type report struct {
	began time.Time
	lines []line
	story []tale // the founding article's own table
}

func newReport() report { return report{began: time.Now()} }

// markdown writes the report as the text that docs/benchmarks.md holds.
func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s with %s on %d processors (%s), in %v.\n",
		r.began.Format("2006-01-02"), runtime.Version(), runtime.GOMAXPROCS(0), processor(), time.Since(r.began).Round(time.Second))
	if revision := commit(); revision != "" {
		fmt.Fprintf(&b, "Commit %s.\n", revision)
	}
	if versions := rivals(); len(versions) > 0 {
		fmt.Fprintf(&b, "Beside it: %s.\n", strings.Join(versions, ", "))
	}
	if len(r.lines) > 0 {
		b.WriteString("\n| what | against | load | ours | its | ratio | budget | result | allocs |\n")
		b.WriteString("|---|---|---|---:|---:|---:|---|---|---|\n")
		for _, l := range r.lines {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
				l.what, l.against, l.load, duration(l.ours), duration(l.its), l.ratio, l.budget, l.result(), l.allocs)
		}
		fmt.Fprintf(&b, "\n%s\n", r.verdict())
	}
	if len(r.story) > 0 {
		b.WriteString("\n| work | how | wall clock | of the first | done | failed | most goroutines | most memory | budget | result |\n")
		b.WriteString("|---|---|---:|---:|---:|---:|---:|---:|---|---|\n")
		for _, t := range r.story {
			b.WriteString(t.row())
		}
	}
	return b.String()
}

// verdict is the sum of it.
func (r report) verdict() string {
	judged, missed := 0, 0
	for _, l := range r.lines {
		if l.judged {
			judged++
		}
		if l.missed {
			missed++
		}
	}
	return fmt.Sprintf("%d lines have a budget: %d met, %d missed.", judged, judged-missed, missed)
}

// duration writes nanoseconds with as many figures as mean something.
func duration(ns float64) string {
	switch size := math.Abs(ns); {
	case size < 100:
		return fmt.Sprintf("%.1f ns", ns)
	case size < 10_000:
		return fmt.Sprintf("%.0f ns", ns)
	case size < 10_000_000:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	}
	return fmt.Sprintf("%.1f ms", ns/1e6)
}

// processor names the machine's, if it says so.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.SplitSeq(string(info), "\n") {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, " \t:"))
		}
	}
	return runtime.GOARCH
}

// commit is what was measured, if the build knows it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = ", with changes"
			}
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}

// rivals are the modules that we are measured beside, with the versions that the build has: a
// workspace takes newer ones than go.mod asks for.
func rivals() (versions []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, m := range info.Deps {
		switch m.Path {
		case "golang.org/x/sync", "github.com/failsafe-go/failsafe-go", "github.com/platinummonkey/go-concurrency-limits", "github.com/slok/goresilience",
			"github.com/marusama/semaphore/v2", "github.com/eapache/go-resiliency", "github.com/alitto/pond/v2", "github.com/panjf2000/ants/v2", "go.opentelemetry.io/otel/sdk":
			versions = append(versions, m.Path+" "+m.Version)
		}
	}
	return versions
}
