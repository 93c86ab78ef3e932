package adaptive

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// of is a window of n calls of a class that took so long each.
func of(class, n int, took time.Duration) window {
	w := window{span: minWindow, ok: n, sum: float64(n) * float64(took)}
	w.class[class] = classWindow{n: n, log: float64(n) * math.Log(float64(took))}
	return w
}

// both joins two windows.
func both(a, b window) window {
	a.ok, a.sum = a.ok+b.ok, a.sum+b.sum
	for i := range a.class {
		a.class[i].n += b.class[i].n
		a.class[i].log += b.class[i].log
	}
	return a
}

// G-ADA-5, W5: a change of the mix of classes is no change of latency.
func TestReferenceKeepsClassesApart(t *testing.T) {
	r := &rule{low: 1, high: 100}
	r.targets[1] = targetOverReference * float64(40*time.Millisecond)
	r.targets[2] = targetOverReference * float64(2*time.Millisecond)
	for _, heavy := range []int{1, 20, 60} {
		w := both(of(1, heavy, 40*time.Millisecond), of(2, 100, 2*time.Millisecond))
		require.InDelta(t, 1, r.ratio(&state{}, &w), 1e-9)
		w = both(of(1, heavy, 80*time.Millisecond), of(2, 100, 4*time.Millisecond))
		require.InDelta(t, 2, r.ratio(&state{}, &w), 1e-9)
	}
	// Light calls that wait for a heavy one don't double the whole.
	w := both(of(1, 50, 42*time.Millisecond), of(2, 50, 4*time.Millisecond))
	require.InDelta(t, 46./42, r.ratio(&state{}, &w), 1e-9)
	unknown := of(0, 50, time.Hour)
	require.InDelta(t, 1, r.ratio(&state{}, &unknown), 1e-9, "a class of which nothing is known says nothing")
}

// G-ADA-5: without a target the reference is learned: from the first calls, down to faster
// ones, up only while the limit is half used, and never while it is in use.
func TestReferenceIsLearned(t *testing.T) {
	r := &rule{low: 1, high: 100}
	s := state{limit: 20}
	learn := func(n int, took time.Duration, peak int, batches int) time.Duration {
		for range batches {
			w := of(0, n, took).used(peak)
			r.learn(&s, &w)
		}
		return time.Duration(math.Round(s.refs[0].value))
	}
	require.Zero(t, learn(47, 4*time.Millisecond, 20, 1))
	require.Equal(t, 4*time.Millisecond, learn(1, 4*time.Millisecond, 20, 1))
	require.Equal(t, 4*time.Millisecond, learn(255, 2*time.Millisecond, 20, 1))
	require.Equal(t, 3400*time.Microsecond, learn(1, 2*time.Millisecond, 20, 1))
	require.InDelta(t, 2*time.Millisecond, learn(256, 2*time.Millisecond, 20, 40), 2)
	require.InDelta(t, 2*time.Millisecond, learn(256, 50*time.Millisecond, 20, 1000), 2, "W10: no drift under load")
	require.InDelta(t, 3*time.Millisecond, learn(256, 3*time.Millisecond, 9, 400), 2000, "a slower backend")
	w := of(0, 256, 9*time.Millisecond).used(1).refused(1, 0)
	r.learn(&s, &w)
	require.InDelta(t, 3*time.Millisecond, s.refs[0].value, 2000, "errors")
}

// A target is the latency that is held, by a limit of about 16.
func TestReferenceOfATarget(t *testing.T) {
	r := &rule{}
	r.targets[0] = float64(3500 * time.Microsecond)
	require.InDelta(t, 2*time.Millisecond, r.reference(&state{}, 0), 1)
	require.InDelta(t, 1.75, toleranceOf(16), 1e-9)
	require.InDelta(t, 3.5, toleranceOf(0.01), 1e-9)
}
