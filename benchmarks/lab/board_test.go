package lab

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/benchmarks/lab/policy"
)

// boardOf has a workload with the targets, and the given values of goodput and recovery for each
// policy and seed.
func boardOf(targets []Target, goodput, recoveries map[string][]float64) (*Board, Workload) {
	w := Workload{ID: "X", Targets: targets}
	b := NewBoard([]Workload{w}, []policy.Policy{{Name: "a"}, {Name: "b"}, {Name: "c"}}, 1)
	for name, vs := range goodput {
		for i, v := range vs {
			f := &Figures{}
			f.values[Goodput], f.values[Recovery] = v, recoveries[name][i]
			b.Add(w, policy.Policy{Name: name}, uint64(i+1), f)
		}
	}
	return b, w
}

func TestBoardJudgesByTheWorstSeed(t *testing.T) {
	target, back := Target{Metric: Goodput, Bound: .95}, Target{Metric: Recovery, Bound: .5}
	b, w := boardOf([]Target{target, back},
		map[string][]float64{"a": {.99, .94, .97}, "b": {.96, .97, .98}},
		map[string][]float64{"a": {0, .2, .1}, "b": {.1, math.Inf(1), .2}})
	require.Equal(t, Verdict{Median: .97, Worst: .94, Bound: .95, Known: true}, b.Judge(w, target, "a"))
	require.True(t, b.Judge(w, target, "b").Met)
	require.True(t, b.Judge(w, back, "a").Met)
	require.Equal(t, Verdict{Median: .2, Worst: math.Inf(1), Bound: .5, Known: true}, b.Judge(w, back, "b"))
	met, of := b.Met(w, "a")
	require.Equal(t, []int{1, 2}, []int{met, of})
	require.Len(t, b.Policies(w), 2, "c was not run")
	require.False(t, b.Judge(w, target, "c").Known)
}

// A relative target compares each seed with itself.
func TestBoardJudgesRelativeTargetsSeedBySeed(t *testing.T) {
	over := Target{Metric: Recovery, Bound: 1.1, Over: "b"}
	b, w := boardOf([]Target{over},
		map[string][]float64{"a": {1, 1}, "b": {1, 1}},
		map[string][]float64{"a": {1, 4}, "b": {1, 4}})
	require.Equal(t, Verdict{Median: 1, Worst: 1, Bound: 1.1, Known: true, Met: true}, b.Judge(w, over, "a"))
	b, w = boardOf([]Target{over},
		map[string][]float64{"a": {1, 1}, "b": {1, 1}},
		map[string][]float64{"a": {1, 4}, "b": {4, 1}})
	require.InDelta(t, 4, b.Judge(w, over, "a").Worst, 1e-9)
}

// A limit that learns has a target of its own where one is given.
func TestBoardAsksLessOfALimitThatLearns(t *testing.T) {
	target := Target{Metric: Goodput, Bound: .95, Learned: .8}
	w := Workload{ID: "W1", Targets: []Target{target}}
	ps := []policy.Policy{{Name: "static"}, {Name: "learned", Static: "static"}, {Name: "aimed", Static: "static", Aimed: true}}
	b := NewBoard([]Workload{w}, ps, 1)
	for _, p := range ps {
		f := &Figures{}
		f.values[Goodput] = .9
		b.Add(w, p, 1, f)
	}
	require.Equal(t, Verdict{Median: .9, Worst: .9, Bound: .95, Known: true}, b.Judge(w, target, "static"))
	require.Equal(t, Verdict{Median: .9, Worst: .9, Bound: .8, Known: true, Met: true}, b.Judge(w, target, "learned"))
	require.False(t, b.Judge(w, target, "aimed").Met)
	require.Equal(t, "goodput ≥ 95 %, learned ≥ 80 %", target.Text())
}

// A metric that a policy doesn't have is no verdict.
func TestBoardKnowsWhatItDoesNotKnow(t *testing.T) {
	target := Target{Metric: Recovery, Bound: 1}
	b, w := boardOf([]Target{target}, map[string][]float64{"a": {1}}, map[string][]float64{"a": {math.NaN()}})
	require.False(t, b.Judge(w, target, "a").Known)
	met, of := b.Met(w, "a")
	require.Zero(t, met)
	require.Zero(t, of)
	b, w = boardOf([]Target{target}, map[string][]float64{"a": {1, 1}}, map[string][]float64{"a": {.5, math.NaN()}})
	require.False(t, b.Judge(w, target, "a").Known, "not with every seed")
}

func TestMetricsAreWritten(t *testing.T) {
	for want, got := range map[string]string{
		"98.5 %": Goodput.Format(.985), "99.994 %": Goodput.Format(.99994), "100.0 %": Goodput.Format(1), "41 %": Goodput.Format(.41), "1.2 %": Waste.Format(.012),
		"0": RefuseP50.Format(0), "200 µs": P50.Format(.0002), "9.9 ms": P50.Format(.0099), "150 ms": P99.Format(.15), "1.5 s": Recovery.Format(1.5), "never": Recovery.Format(math.Inf(1)),
		"–": Fairness.Format(math.NaN()), "2.56": Amplification.Format(2.56), "∞": SendsPerGood.Format(math.Inf(1)), "24": LimitMean.Format(24), "78802": PeakPending.Format(78802),
	} {
		require.Equal(t, want, got)
	}
	require.Equal(t, `recovery ≤ 1.10 of "b"`, Target{Metric: Recovery, Bound: 1.1, Over: "b"}.Text())
	require.Equal(t, "goodput ≥ 98 %", Target{Metric: Goodput, Bound: .98}.Text())
	for _, m := range Metrics() {
		require.NotEmpty(t, m.Name())
		require.Contains(t, "%sxn", string(m.info().scale))
	}
}
