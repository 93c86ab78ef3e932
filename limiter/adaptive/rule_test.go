package adaptive

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	ms  = time.Millisecond
	ref = 2 * ms
)

// ruleFor is a rule between low and high whose unmarked calls should take ref.
func ruleFor(low, high float64) *rule {
	r := &rule{low: low, high: high}
	r.targets[0] = targetOverReference * float64(ref)
	return r
}

// calls is a window of n calls that took so many times what they should.
func calls(n int, ratio float64) window {
	took := ratio * float64(ref)
	w := window{span: minWindow, ok: n, sum: float64(n) * took}
	w.class[0] = classWindow{n: n, log: float64(n) * math.Log(took)}
	return w
}

// used returns the window with so many permits in use at most.
func (w window) used(peak int) window {
	w.peak = peak
	return w
}

// refused returns the window with n more calls that were answered with overload, and had
// that share of the permits' time.
func (w window) refused(n int, wasted float64) window {
	w.errors, w.fast, w.wasted = w.errors+n, w.fast+n, wasted
	return w
}

// late returns the window with n more calls that timed out, after 50 times what they
// should take.
func (w window) late(n int) window {
	w.errors += n
	w.class[0].n += n
	w.class[0].log += float64(n) * math.Log(timeoutFactor*50*float64(ref))
	return w
}

// at is a state with that limit, which was in use lately, and was too high before.
func at(limit float64) state {
	return state{limit: limit, peak: limit, latency: float64(ref)}
}

// G-ADA-2: what a limit becomes after a window, and why.
func TestRuleDecides(t *testing.T) {
	starting := func(s state) state { s.starting = true; return s }
	fallen := func(s state, healthy float64) state { s.fallen, s.healthy = true, healthy; return s }
	healthy := func(s state, h float64) state { s.healthy = h; return s }
	silent := func(w window) window { w.silent = true; return w }
	full := func(w window) window { w.full = true; return w }
	for name, c := range map[string]struct {
		state state
		seen  window
		want  float64
		cause Cause
	}{
		"well, and not in use":          {at(20), calls(100, 1).used(17), 20, Steady},
		"well, in use, for the first":   {starting(at(20)), calls(100, 1).used(20), 30, Growth},
		"well, in use":                  {at(20), calls(100, 1).used(18), 25, Growth},
		"well, and somebody was turned": {at(20), full(calls(100, 1)).used(12), 25, Growth},
		"fair, in use":                  {at(20), calls(100, 1.5).used(20), 20.309, Growth},
		"slow, as is tolerated":         {at(20), calls(100, 1.7).used(20), 20.033, Growth},
		"slow":                          {at(20), calls(100, 2).used(20), 18.618, Latency},
		"very slow":                     {at(20), calls(100, 50).used(20), 14, Latency},
		"slow, but not in use":          {at(20), calls(100, 2).used(2), 18.618, Latency},
		"slow, at the floor":            {healthy(at(20), 13), calls(100, 50).used(20), 19.5, Latency},
		"slow, below the floor":         {healthy(at(20), 100), calls(100, 50).used(20), 20, Latency},
		"slow, of a small limit":        {at(2), calls(100, 2).used(2), 2.089, Growth},
		"a slow call":                   {at(20), calls(1, 5).used(20), 20, Steady},
		"some slow calls":               {at(20), calls(10, 3).used(20), 20, Steady},
		"some very slow calls":          {at(20), calls(10, 8).used(20), 14, Latency},
		"slow enough for chance":        {at(20), calls(47, 1.9).used(20), 20, Steady},
		"answers of overload":           {at(20), calls(50, 1).refused(50, 0.2).used(20), 15.6, Errors},
		"answers of nothing else":       {at(20), calls(0, 1).refused(50, 1).used(20), 10, Errors},
		"a few answers of overload":     {at(20), calls(95, 1).refused(5, 0.01).used(20), 19.4, Errors},
		"noise":                         {at(20), calls(99, 1).refused(1, 0.01).used(10), 20, Steady},
		"timeouts and slow":             {at(20), calls(91, 2).late(9).used(20), 17, Errors},
		"timeouts of all":               {at(20), calls(0, 2).late(50).used(20), 10, Errors},
		"timeouts, while all is well":   {at(20), calls(94, 1).late(6).used(10), 20, Steady},
		"timeouts and well, in use":     {at(20), calls(94, 1).late(6).used(20), 20.591, Growth},
		"silence":                       {at(20), silent(window{span: minWindow}), 10, Silence},
		"silence of a small limit":      {at(1.5), silent(window{span: minWindow}), 1, Silence},
		"silence, paced":                {at(0.3), silent(window{span: minWindow}), 0.3, Silence},
		"paced and well":                {at(0.5), calls(8, 1).used(1), 0.8, Growth},
		"paced and fair":                {at(0.5), calls(8, 2.3).used(1), 0.539, Growth},
		"paced and slow":                {at(0.5), calls(8, 20).used(1), 0.35, Latency},
		"back from a fall, paced":       {fallen(at(0.1), 12), calls(1, 1).used(1), 1, Recovery},
		"back from a fall":              {fallen(at(1), 12), calls(8, 1).used(1), 3, Recovery},
		"back from a fall, higher":      {fallen(state{limit: 7, peak: 20, latency: 2e6}, 12), calls(50, 1).used(7), 12, Recovery},
		"back where it went well":       {fallen(state{limit: 13, peak: 20, latency: 2e6}, 12), calls(50, 1).used(13), 16.25, Growth},
		"a fall goes on":                {fallen(at(0.8), 12), calls(0, 1).late(1).used(1), 0.4, Errors},
		"idle":                          {state{limit: 30, peak: 4}, calls(50, 1).used(3), 29.4, Idle},
		"idle, nearly enough":           {state{limit: 9.1, peak: 4}, calls(50, 1).used(4), 9, Idle},
		"no more than twice what is used": {
			state{limit: 9, peak: 4, starting: true}, full(calls(50, 1)).used(4), 9, Growth,
		},
		"the highest": {at(39), calls(100, 1).used(39), 40, Growth},
		"the lowest":  {at(0.12), calls(0, 1).refused(50, 1).used(1), 0.1, Errors},
	} {
		s, ch := ruleFor(0.1, 40).next(c.state, c.seen)
		require.InDelta(t, c.want, ch.To, 0.001, "%s: %v", name, ch)
		require.Equal(t, c.cause, ch.Cause, "%s: %v", name, ch)
		require.Equal(t, s.limit, ch.To, name)
		require.Equal(t, c.state.limit, ch.From, name)
	}
}

// G-ADA-3: a change says what it was decided on.
func TestRuleTellsItsGrounds(t *testing.T) {
	s := at(20)
	s.healthy = 3
	_, ch := ruleFor(1, 40).next(s, calls(80, 2).late(20).used(19))
	require.Equal(t, Errors, ch.Cause)
	require.InDelta(t, 0.2, ch.Errors, 1e-9)
	require.InDelta(t, math.Exp(0.8*math.Log(2)+0.2*math.Log(75)), ch.Ratio, 1e-6)
	require.InDelta(t, 1.5+1/math.Sqrt(20), ch.Tolerance, 1e-9)
	require.Equal(t, []any{100, 19, 3.0}, []any{ch.Samples, ch.InUse, ch.Healthy})
	ch.Name = "db"
	require.Equal(t, "db: 20 -> 13.33: errors, latency 4.13 times its reference (1.72 tolerated), errors 20.0 %, 100 samples, 19 in use, healthy 3", ch.String())
	ch.Shadow, ch.Pace = true, 1234567
	require.Contains(t, ch.String(), "errors (shadow), ")
	require.Contains(t, ch.String(), ", a call every 1.235ms")
	require.Equal(t, "cause(200)", Cause(200).String())
	require.Zero(t, CauseCounts{}.Of(200))
	require.Equal(t, uint64(3), CauseCounts{Idle: 3}.Of(Idle))
}

// G-ADA-2: from wherever it starts, the limit ends at some 1.2 to 1.8 times the slots of
// a backend that is always wanted, and stays there.
func TestRuleConverges(t *testing.T) {
	for _, slots := range []float64{4, 16, 100} {
		for _, start := range []float64{0.1, 1, 20, 800} {
			r, s := ruleFor(0.1, 1000), state{limit: start, latency: float64(ref)}
			for i := range 4000 {
				n := max(1, math.Floor(s.limit))
				s, _ = r.next(s, calls(100, max(1, n/slots)).used(int(n)))
				if i > 2000 {
					require.Greater(t, s.limit, 1.2*slots, "%v slots from %v", slots, start)
					require.Less(t, s.limit, 2.1*slots, "%v slots from %v", slots, start)
				}
			}
		}
	}
}

// Swift: of two that share a bottleneck, each gets half in the end, whatever they had.
func TestRuleIsFairWithATarget(t *testing.T) {
	const slots = 16
	r := ruleFor(0.1, 1000)
	a, b := at(30), at(1)
	for range 3000 {
		ratio := max(1, (a.limit+b.limit)/slots)
		a, _ = r.next(a, calls(100, ratio).used(int(max(1, a.limit))))
		b, _ = r.next(b, calls(100, ratio).used(int(max(1, b.limit))))
	}
	require.InDelta(t, 1, a.limit/b.limit, 0.1)
	require.InDelta(t, 1.6*slots, a.limit+b.limit, 0.3*slots)
}

// G-ADA-4: a backend that has become slower for good keeps 1.5 times what it had when all
// was well; without that the limit would starve it.
func TestRuleDoesNotStarveASlowerBackend(t *testing.T) {
	r, s := ruleFor(0.1, 100), at(40)
	for range 200 {
		w := calls(100, 1).used(12)
		w.busy = 11
		s, _ = r.next(s, w)
	}
	require.InDelta(t, 11, s.healthy, 0.1)
	for range 1000 {
		s, _ = r.next(s, calls(100, 3.3).used(int(s.limit)))
	}
	require.InDelta(t, 16.5, s.limit, 0.2)
}

// Near the limit at which a backend answered with overload it grows slowly, past it fast.
func TestRuleIsSlowNearTheWall(t *testing.T) {
	r := ruleFor(0.1, 100)
	s, _ := r.next(at(20), calls(90, 1).refused(10, 0.05).used(20))
	require.InDelta(t, 18.6, s.limit, 1e-9)
	require.Equal(t, 20.0, s.wall)
	var last, steps float64
	for s.wall > 0 {
		last = s.limit
		s, _ = r.next(s, calls(100, 1).used(int(s.limit)))
		require.LessOrEqual(t, s.limit, max(last*1.011, 19.01))
		steps++
	}
	require.Greater(t, steps, 8.0)
	last = s.limit
	s, _ = r.next(s, calls(100, 1).used(int(s.limit)))
	require.InDelta(t, 1.25*last, s.limit, 1e-9)
	s, _ = r.next(s, calls(0, 1).refused(50, 1).used(20))
	require.Zero(t, s.wall, "an outage is no wall")
}

// G-ADA-6: the gap of a limit below one, in latencies; doubled while nothing but errors
// comes back at the lowest limit, and never above maxGap.
func TestStateGap(t *testing.T) {
	r := ruleFor(0.1, 100)
	require.Zero(t, (&state{limit: 1, latency: 2e6}).gap())
	require.Equal(t, 2*time.Millisecond, (&state{limit: 0.5, latency: 2e6}).gap())
	require.Equal(t, maxGap, (&state{limit: 0.1, latency: 2e9}).gap())
	s := state{limit: 0.1, latency: 2e6, fallen: true}
	require.Equal(t, 18*time.Millisecond, s.gap())
	for _, want := range []time.Duration{36, 72, 100, 100} {
		s, _ = r.next(s, calls(0, 1).refused(1, 1).used(1))
		require.Equal(t, want*time.Millisecond, s.gap())
	}
	for range 50 {
		s, _ = r.next(s, calls(0, 1).refused(1, 1).used(1))
	}
	require.Equal(t, maxGap, s.gap())
	require.Equal(t, maxGap+minSilence, s.silence(s.latency))
	s, _ = r.next(s, calls(1, 1).used(1))
	require.Equal(t, 10500*time.Microsecond, s.gap().Round(time.Microsecond), "of a limit of 0.16")
}

// How long a window is, and when it is judged.
func TestRuleKnowsWhenItHasSeenEnough(t *testing.T) {
	r := ruleFor(0.1, 100)
	spanned := func(w window, d time.Duration) window { w.span = d; return w }
	small, paced, looks := at(1.5), at(0.5), at(20)
	paced.fallen, looks.again.from = true, 60
	for name, c := range map[string]struct {
		state state
		seen  window
		want  bool
	}{
		"too short":         {at(20), spanned(calls(1000, 1), minWindow-1), false},
		"enough":            {at(20), spanned(calls(48, 1), minWindow), true},
		"too few":           {at(20), spanned(calls(47, 1), longWindow-1), false},
		"too few, for long": {at(20), spanned(calls(0, 1), longWindow), true},
		"small":             {small, spanned(calls(8, 1), minWindow), true},
		"small, too few":    {small, spanned(calls(7, 1), longSmallWindow-1), false},
		"after a fall":      {paced, spanned(calls(1, 1), minWindow), true},
		"slow for sure":     {at(20), spanned(calls(5, 20), minWindow), true},
		"slow by chance":    {at(20), spanned(calls(5, 5), minWindow), false},
		"slow, if at all":   {at(20), spanned(calls(5, 5), time.Minute), false},
		"that, in a look":   {looks, spanned(calls(5, 5), longWindow), true},
		"that, and errors":  {at(20), spanned(calls(20, 3).refused(3, 0.1), longWindow), true},
		"errors":            {at(20), spanned(calls(5, 1).refused(3, 0.1), minWindow), true},
		"two errors":        {at(20), spanned(calls(1, 1).refused(2, 0.1), minWindow), false},
	} {
		require.Equal(t, c.want, r.enough(&c.state, &c.seen), name)
	}
	for latency, want := range map[time.Duration]time.Duration{0: minWindow, 10 * time.Millisecond: 60 * time.Millisecond, time.Second: maxWindow} {
		require.Equal(t, want, (&state{latency: float64(latency)}).length())
	}
}
