package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever disturbs the machine has to disturb both: so they take turns, and neither
// always comes after the other.
func TestMeasureRunsItsSidesInTurn(t *testing.T) {
	var order []string
	sides := []*side{
		{name: "a", work: func(int) { order = append(order, "a") }},
		{name: "b", work: func(int) { order = append(order, "b") }},
	}
	m := serial()
	m.chunk = 0 // any size will do
	measureMode(sides, m, 4)
	require.Equal(t, []string{"a", "a", "b", "b"}, order[:4], "their sizes are found")
	require.Equal(t, []string{"a", "b", "b", "a", "a", "b", "b", "a"}, order[4:])
	require.Len(t, sides[0].ns, 1)
}

// Of parallel callers the stretches count in which they meet, and not the one in which they don't;
// and a run that was held up, while the size is looked for, isn't taken for the work.
func TestMeasureIsOfCallersWhoMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs, size atomic.Int64
		each := int64(runtime.GOMAXPROCS(0))
		s := &side{work: func(n int) {
			run := (runs.Add(1) - 1) / each
			size.Store(int64(n))
			d := time.Duration(n) * 40
			switch {
			case run == 0:
				d += time.Second
			case run%4 == 0:
				d /= 4
			}
			time.Sleep(d)
		}}
		measureMode([]*side{s}, parallel(), 8)
		require.InDelta(t, 40/float64(each), s.ns[0], 1)
		require.Greater(t, size.Load(), int64(1000))
	})
}

// However many processors there are, no pool refuses a job: handIn would panic.
func TestPoolsHaveRoomForEveryCaller(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	f := &family{}
	require.NoError(t, f.addPools(newOpened(t)))
	for _, name := range []string{nameGo, namePondGo, nameAnts, nameWorkers} {
		parallel().run(f.side(t, name).work, 8*2*burst)
	}
}

// A row is judged by its ratio and by its allocations, in every mode.
func TestFamilyJudgesItsRows(t *testing.T) {
	f := &family{modes: []mode{serial()}, rows: []row{
		{ours: "quick", its: "slow", most: 1, allocs: 0},
		{ours: "slow", its: "quick", most: 1, allocs: 0},
		{ours: "slow", its: "slow", most: 2, allocs: 0},
		versus("slow", "quick"),
		{ours: "greedy", its: "slow", allocs: 0},
		{ours: "greedy", its: "slow", allocs: 1},
		{ours: "half", its: "slow", allocs: 0},
	}}
	spin := func(n int) {
		x := uint64(1)
		for range n {
			x ^= x << 13
			x ^= x >> 7
		}
		if x == 0 {
			panic("never: it keeps the loop")
		}
	}
	f.add("quick", spin)
	f.add("slow", func(n int) { spin(20 * n) })
	var kept *[64]byte
	f.add("greedy", func(n int) {
		for range n {
			kept = new([64]byte)
		}
	})
	f.add("half", func(n int) {
		for i := range n {
			if i%2 == 0 {
				kept = new([64]byte)
			}
		}
	})
	lines := f.lines(3)
	require.NotNil(t, kept)
	var got []string
	for _, l := range lines {
		got = append(got, l.result())
	}
	want := []string{"met", "**missed**", "met", "", "**missed**", "met", "**missed**"}
	if exact {
		require.Equal(t, want, got)
	}
}

func TestRatiosAreWrittenShort(t *testing.T) {
	for ratio, want := range map[float64]string{2.946: "2.95×", 57.3: "57×", 1.0 / 18: "1/18", 0.5: "0.50×", -0.2: "-0.20×"} {
		require.Equal(t, want, times(ratio))
	}
	require.Equal(t, "5.1 ns", duration(5.12))
	require.Equal(t, "819 ns", duration(819))
	require.Equal(t, "12.3 µs", duration(12_300))
	require.Equal(t, "0", count(0.004))
	require.Equal(t, "0.50", count(0.5))
	require.True(t, math.IsNaN(median(nil)))
	require.InDelta(t, 2.5, median([]float64{4, 1, 2, 3}), 0)
	require.InDelta(t, 1, least([]float64{4, 1, 2, 3}), 0)
}

func TestReportIsATable(t *testing.T) {
	r := newReport()
	r.lines = []line{
		{what: "a", against: "b", load: "serial", ours: 2, its: 1, ratio: "2.00×", budget: "≤ 3×", judged: true, allocs: "0 / 0"},
		{what: "a", against: "c", load: "serial", ours: 2, its: 1, ratio: "2.00×", budget: "≤ 1×", judged: true, missed: true, allocs: "0 / 0"},
	}
	r.story = []tale{{work: "w", how: "all at once", wall: time.Second, done: 3, failed: 1}}
	text := r.markdown()
	require.Contains(t, text, "| a | b | serial | 2.0 ns | 1.0 ns | 2.00× | ≤ 3× | met | 0 / 0 |\n")
	require.Contains(t, text, "| **missed** | 0 / 0 |\n")
	require.Len(t, rivals(), 9, "%v", rivals())
	require.Contains(t, text, "github.com/alitto/pond/v2 v2.")
	require.Contains(t, text, "2 lines have a budget: 1 met, 1 missed.")
	require.Contains(t, text, "| w | all at once | 1s |  | 3 | 1 | 0 | 0 MB |  |  |\n")
}

func TestDocumentIsWrittenBetweenItsMarkers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "doc.md")
	require.NoError(t, os.WriteFile(name, []byte("before\n"+beginMark+"\nold\n"+endMark+"\nafter\n"), 0o644))
	for range 2 {
		require.NoError(t, writeBetween(name, "new\n"))
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, "before\n"+beginMark+"\n\nnew\n\n"+endMark+"\nafter\n", string(text))
	}
	require.NoError(t, os.WriteFile(name, []byte(endMark+beginMark), 0o644))
	require.ErrorContains(t, writeBetween(name, "new"), "no markers")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, endMark+beginMark, string(text))
}

// The document that make bench writes has the markers.
func TestOurDocumentHasItsMarkers(t *testing.T) {
	text, err := os.ReadFile("../../../docs/benchmarks.md")
	require.NoError(t, err)
	require.Contains(t, string(text), beginMark)
	require.Contains(t, string(text), endMark)
}

func TestOptionsAreChecked(t *testing.T) {
	marks := filepath.Join(t.TempDir(), "without.md")
	require.NoError(t, os.WriteFile(marks, nil, 0o644))
	for _, args := range [][]string{
		{"-rounds", "0"},
		{"-only", "("},
		{"-only", "no such part"},
		{"-only", "waiting", "-write", "y"},
		{"-write", marks},
		{"-write", filepath.Join(t.TempDir(), "none.md")},
		{"waiting"},
	} {
		_, err := parse(args)
		require.Error(t, err, "%v", args)
	}
	o, err := parse([]string{"-only", "^waiting$"})
	require.NoError(t, err)
	require.True(t, o.only.MatchString("waiting"))
}

// A part opens, measures and closes. The others take long.
func TestPartsRun(t *testing.T) {
	o, err := parse([]string{"-rounds", "1", "-only", "^(admitted|refused|nested|telemetry)$"})
	require.NoError(t, err)
	r, err := o.measure(t.Context())
	require.NoError(t, err)
	require.Greater(t, len(r.lines), 40)
	for _, l := range r.lines {
		require.Positive(t, l.its, "%+v", l)
	}
}

// What an interrupted part has measured is calls that a done context refused: it isn't a result.
func TestInterruptedRunHasNoResult(t *testing.T) {
	o, err := parse([]string{"-rounds", "1", "-only", "^telemetry$"})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	_, err = o.measure(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
