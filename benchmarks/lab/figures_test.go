package lab

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/benchmarks/lab/model"
	"github.com/spillway-go/spillway/benchmarks/lab/policy"
)

// course makes bins with so many good ones of 100.
func course(good ...int) []bin {
	var all []bin
	for _, g := range good {
		all = append(all, bin{offered: 100, good: g})
	}
	return all
}

func times(n, v int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// Recovery is where ten good tenths of a second begin, and a single bad one begins it anew.
func TestRecoveryIsTenGoodBinsInARow(t *testing.T) {
	bad := times(5, 0)
	require.Equal(t, time.Duration(0), recovery(course(append(bad, times(10, 100)...)...), 500*time.Millisecond))
	require.Equal(t, 200*time.Millisecond, recovery(course(append(bad, append([]int{0, 98}, times(10, 99)...)...)...), 500*time.Millisecond))
	relapse := append(append([]int{}, times(9, 100)...), append([]int{50}, times(10, 100)...)...)
	require.Equal(t, time.Second, recovery(course(relapse...), 0))
	require.Equal(t, time.Duration(math.MaxInt64), recovery(course(times(9, 100)...), 0), "nine are not enough")
	require.Equal(t, time.Duration(math.MaxInt64), recovery(make([]bin, 20), 0), "nothing offered proves nothing")
}

func TestQuantilesCountRefusalsThatTookNoTime(t *testing.T) {
	require.Equal(t, 3*time.Second, quantile([]time.Duration{5 * time.Second, 1 * time.Second, 3 * time.Second, 2 * time.Second}, .5))
	require.Equal(t, 5*time.Second, quantile([]time.Duration{5 * time.Second, 1 * time.Second}, .999))
	require.Zero(t, quantile(nil, .5))
	r := &record{once: 98, refusals: []time.Duration{2 * time.Second, time.Second}}
	require.Zero(t, r.refusalQuantile(.5))
	require.Equal(t, time.Second, r.refusalQuantile(.98))
	require.Equal(t, 2*time.Second, r.refusalQuantile(.999))
}

func TestJainAndTrend(t *testing.T) {
	require.InDelta(t, 1, jain([]int{7, 7, 7}), 1e-9)
	require.InDelta(t, .25, jain([]int{9, 0, 0, 0}), 1e-9)
	require.True(t, math.IsNaN(jain([]int{0, 0})))
	mean, deviation, slope := trend([]float64{0, 1, 2}, []float64{10, 12, 14})
	require.InDelta(t, 12, mean, 1e-9)
	require.InDelta(t, math.Sqrt(8.0/3), deviation, 1e-9)
	require.InDelta(t, 2, slope, 1e-9)
}

// The ideal is what comes or what can be served, whichever is less, at each moment, node by node.
func TestIdealIsTheLessOfLoadAndCapacity(t *testing.T) {
	node := model.Config{Slots: 10, Mean: 10 * time.Millisecond} // 1000/s
	w := Workload{
		Nodes:   []model.Config{node},
		Streams: []Stream{{Rate: model.Profile{{Value: 500}, {At: time.Second, Value: 3000}}}, {Rate: steady(9000), Foreign: true}},
	}
	require.InDelta(t, 500+1000, w.Ideal(0, 2*time.Second), 2)
	w.Nodes[0].Speed = dent(time.Second, 2*time.Second, .3)
	require.InDelta(t, 500+300, w.Ideal(0, 2*time.Second), 2)
	w.Nodes = append(w.Nodes, node) // the load is spread, so the second node serves 1000 of its 1500
	require.InDelta(t, 500+300+1000, w.Ideal(0, 2*time.Second), 2)
	heavy := Workload{Nodes: []model.Config{node}, Streams: []Stream{{Rate: steady(1000), Times: 11, Heavy: steady(.1)}}}
	require.InDelta(t, 500, heavy.Ideal(0, time.Second), 2, "twice the work a call")
}

// A policy that doesn't differ isn't run.
func TestWorkloadRunsWhatDiffers(t *testing.T) {
	w := Workload{Attempts: 1}
	p := policy.Policy{Name: "a", Needs: policy.NeedsRetries}
	require.False(t, w.Runs(p))
	w.Attempts = 3
	require.True(t, w.Runs(p))
	require.False(t, w.Runs(policy.Policy{Needs: policy.NeedsClasses}))
	w.Only = []string{"b"}
	require.False(t, w.Runs(p))
}
