package adaptive

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
)

func newGather(classes int) *gather {
	g := new(gather)
	g.prepare(classes, 1000)
	return g
}

func TestGatherLogIsWithinAHundredth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		n := rng.Uint64() >> rng.IntN(64)
		got := float64(log2(n)) / logUnit
		require.InDelta(t, math.Log2(math.Max(float64(n), 1)), got, 0.02, "log2(%d)", n)
	}
	require.Zero(t, log2(0))
	require.Less(t, log2(math.MaxUint64), uint64(64*logUnit))
}

// G-ADA-7: which outcomes say what: of latency, of overload, or nothing.
func TestGatherReadsOutcomes(t *testing.T) {
	const ms = time.Millisecond
	for o := spillway.OutcomeOK; o <= spillway.OutcomeUnknown; o++ {
		g := newGather(1)
		g.add(&spillway.Sample{Took: 4 * ms, Weight: 2, InUse: 5, Outcome: o})
		w := g.draw(8 * ms)
		require.Equal(t, 5, w.peak)
		require.InDelta(t, 1, w.busy, 1e-9)
		got := []any{w.ok, w.errors, w.fast, w.neutral, w.class[0].n, w.wasted}
		switch o {
		case spillway.OutcomeOK, spillway.OutcomeLate:
			require.Equal(t, []any{1, 0, 0, 0, 1, 0.0}, got, o)
			require.InDelta(t, math.Log(4e6), w.class[0].log, 0.01)
			require.InDelta(t, 4e6, w.sum, 1)
		case spillway.OutcomeTimeout:
			require.Equal(t, []any{0, 1, 0, 0, 1, 0.0}, got, o)
			require.InDelta(t, math.Log(6e6), w.class[0].log, 0.01, "1.5 times as long as it was watched")
			require.Zero(t, w.sum)
		case spillway.OutcomeOverload, spillway.OutcomeNetwork:
			require.Equal(t, []any{0, 1, 1, 0, 0, 1.0}, got, o)
		default:
			require.Equal(t, []any{0, 0, 0, 1, 0, 0.0}, got, o)
		}
		require.Equal(t, window{span: ms}, g.draw(ms), "all was taken out")
	}
}

// G-ADA-13: calls that hold all there can be for as long as they like are numbers as others,
// and not below zero, which broke the controller.
func TestGatherTakesTheHeaviestCalls(t *testing.T) {
	for _, took := range []time.Duration{time.Minute, time.Hour, math.MaxInt64} {
		g := new(gather)
		g.prepare(1, limiter.MaxLimit)
		for _, o := range []spillway.Outcome{spillway.OutcomeOK, spillway.OutcomeOverload} {
			g.add(&spillway.Sample{Took: took, Weight: limiter.MaxLimit / 2, InUse: limiter.MaxLimit, Outcome: o})
		}
		w := g.draw(10 * time.Second)
		require.Greater(t, w.busy, float64(limiter.MaxLimit), took)
		require.InDelta(t, 0.5, w.wasted, 1e-9, took)
	}
}

// G-ADA-8: nothing is lost or counted twice, however many add while others draw.
func TestGatherLosesNothingConcurrentSafe(t *testing.T) {
	g := newGather(3)
	const adders, each = 4, 5000
	var sum window
	var adding, drawing sync.WaitGroup
	done := make(chan struct{})
	take := func() {
		w := g.draw(1)
		sum.ok, sum.errors, sum.fast, sum.neutral = sum.ok+w.ok, sum.errors+w.errors, sum.fast+w.fast, sum.neutral+w.neutral
		sum.sum, sum.busy, sum.peak = sum.sum+w.sum, sum.busy+w.busy, max(sum.peak, w.peak)
		for i := range w.class {
			sum.class[i].n += w.class[i].n
			sum.class[i].log += w.class[i].log
		}
	}
	drawing.Add(1)
	go func() {
		defer drawing.Done()
		for {
			select {
			case <-done:
				take()
				return
			default:
				g.read(1)
				take()
			}
		}
	}()
	for a := range adders {
		adding.Add(1)
		go func() {
			defer adding.Done()
			outcomes := []spillway.Outcome{spillway.OutcomeOK, spillway.OutcomeTimeout, spillway.OutcomeOverload, spillway.OutcomePermanent}
			for i := range each {
				g.add(&spillway.Sample{Took: 1 << 10, Weight: 1, InUse: a + i, Label: uint8(i % 5), Outcome: outcomes[i%4]})
			}
		}()
	}
	adding.Wait()
	close(done)
	drawing.Wait()
	const quarter = adders * each / 4
	require.Equal(t, quarter, sum.fast)
	require.Equal(t, 2*quarter, sum.errors)
	require.Equal(t, quarter, sum.neutral)
	require.Equal(t, 2*quarter, sum.class[0].n+sum.class[1].n+sum.class[2].n)
	require.InDelta(t, adders*each<<10, sum.busy, 1)
	require.InDelta(t, quarter<<10, sum.sum, 1)
	require.Equal(t, adders-1+each-1, sum.peak)
	require.InDelta(t, quarter*(10+10+math.Log2(1.5))*math.Ln2, sum.class[0].log+sum.class[1].log+sum.class[2].log, quarter*0.02)
}
