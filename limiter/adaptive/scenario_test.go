//go:build go1.25

package adaptive_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// backend serves so many calls at once; what comes beyond waits.
type backend struct {
	slots chan struct{}
	mean  time.Duration // of an exponential time
	fail  error         // what all calls end with
}

func newBackend(slots int, mean time.Duration) *backend {
	return &backend{slots: make(chan struct{}, slots), mean: mean}
}

// call is a call that takes d, once it has a slot.
func (b *backend) call(d time.Duration, err error) spillway.Op[int] {
	return func(context.Context) (int, error) {
		b.slots <- struct{}{}
		time.Sleep(d)
		<-b.slots
		return 0, err
	}
}

// flow sends so many calls a second for d, whatever becomes of them, and returns the share
// that was refused.
func (b *backend) flow(l *limiter.Limiter[int], rate float64, d time.Duration) float64 {
	r, refused, all := rand.New(rand.NewPCG(3, 4)), l.Stats().Refused.Total(), 0.0
	for end := time.Now().Add(d); time.Now().Before(end); all++ {
		time.Sleep(time.Duration(r.ExpFloat64() / rate * float64(time.Second)))
		op := b.call(time.Duration(r.ExpFloat64()*float64(b.mean)), b.fail)
		go func() { _, _ = l.Do(context.Background(), op) }()
	}
	synctest.Wait()
	return float64(l.Stats().Refused.Total()-refused) / all
}

// D11, D13, G-ADA-4: calls come to take longer, and it isn't their number: after some
// seconds all are served again, each time.
func TestControllerServesABackendThatIsSlowerForGood(t *testing.T) {
	for name, tt := range map[string]struct {
		rate  float64
		times []float64
	}{
		"three times, again and again": {500, []float64{3, 9, 27}},
		"much slower":                  {500, []float64{25}},
		"of few calls":                 {100, []float64{20}},
		"of many":                      {2000, []float64{4}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, b := newLimiter(t, 16), newBackend(1000, ms)
				ctl := drive(t, l, trusted(200))
				require.Less(t, b.flow(l, tt.rate, 10*time.Second), 0.01)
				for _, times := range tt.times {
					b.mean = time.Duration(times * float64(ms))
					require.Greater(t, b.flow(l, tt.rate, 2*time.Second), 0.2, "the limit was made for other times")
					b.flow(l, tt.rate, 18*time.Second)
					require.Less(t, b.flow(l, tt.rate, 10*time.Second), 0.01, "%v: %+v", b.mean, ctl.Stats().Last)
				}
				require.Positive(t, ctl.Stats().Changes.Of(adaptive.Remeasure))
				b.mean = ms
				b.flow(l, tt.rate, max(20*time.Second, time.Duration(6000/tt.rate)*time.Second))
				require.Less(t, ctl.Stats().Classes[0].Reference, ms, "and it is quick again")
				time.Sleep(time.Minute)
			})
		})
	}
}

// D13, G-ADA-4: the same with so few calls, or such slow ones, that no window has enough of them.
func TestControllerServesFewCallsThatAreSlowerForGood(t *testing.T) {
	for name, rate := range map[string]float64{"one in half a second": 2, "a few": 20, "some at once": 80} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, b := newLimiter(t, 64), newBackend(1000, 100*ms)
				ctl := drive(t, l, trusted(500))
				b.flow(l, rate, time.Duration(2000/rate)*time.Second)
				b.mean = time.Second
				b.flow(l, rate, 15*time.Minute)
				require.Less(t, b.flow(l, rate, 5*time.Minute), 0.02, "%+v", ctl.Stats().Last)
				time.Sleep(time.Minute)
			})
		})
	}
}

// G-ADA-4, G-ADA-14: the same with a target, which isn't raised: the static limit serves
// then, and the target when it can be kept again.
func TestControllerWithATargetThatCannotBeKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := newLimiter(t, 32), newBackend(1000, ms)
		cfg := trusted(200)
		cfg.Target = 2 * ms
		ctl := drive(t, l, cfg)
		require.Less(t, b.flow(l, 1000, 20*time.Second), 0.01)
		b.mean = 15 * ms
		require.Greater(t, b.flow(l, 1000, 2*time.Second), 0.2)
		b.flow(l, 1000, 28*time.Second)
		require.Less(t, b.flow(l, 1000, 60*time.Second), 0.03, "%+v", ctl.Stats())
		require.Equal(t, 32, l.Limit())
		require.Equal(t, 2*ms, ctl.Stats().Classes[0].Target)
		require.Positive(t, ctl.Stats().Held)
		b.mean = ms
		require.Less(t, b.flow(l, 1000, 20*time.Second), 0.01)
		require.Zero(t, ctl.Stats().Held)
		time.Sleep(time.Minute)
	})
}

// G-ADA-4: an overload that lasts isn't taken for a slower backend, and one that is both is
// used as far as it goes.
func TestControllerTellsOverloadFromASlowerBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := newLimiter(t, 16), newBackend(16, 2*ms)
		ctl := drive(t, l, trusted(200))
		b.flow(l, 5600, 5*time.Second)
		before := ctl.Stats().Classes[0].Reference
		b.flow(l, 16_000, 20*time.Second)
		require.InDelta(t, before, ctl.Stats().Classes[0].Reference, float64(before)/4)
		require.Less(t, l.Limit(), 40)
		b.mean = 6 * ms // of which 16 do 2667 a second
		b.flow(l, 5600, 10*time.Second)
		refused := b.flow(l, 5600, 10*time.Second)
		require.Less(t, refused, 0.56, "1 - 2667/5600 is 0.52")
		require.Less(t, l.Limit(), 40)
		time.Sleep(time.Minute)
	})
}

// D7: what is learned from health checks doesn't bind the load that comes.
func TestControllerIsNotBoundToWhatAHealthCheckTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := newLimiter(t, 16), newBackend(1000, ms)
		ctl := drive(t, l, trusted(200))
		for range 300 {
			_, err := l.Do(t.Context(), lasting(100*time.Microsecond, nil))
			require.NoError(t, err)
			time.Sleep(time.Second)
		}
		require.Less(t, ctl.Stats().Classes[0].Reference, 110*time.Microsecond)
		b.mean = 10 * ms
		b.flow(l, 1000, 10*time.Second)
		require.Less(t, b.flow(l, 1000, 20*time.Second), 0.01, "%+v", ctl.Stats())
		time.Sleep(time.Minute)
	})
}

// D1, D17: the limit of a backend that is always wanted is within twice the truth, and
// stays there.
func TestControllerFindsTheTruthAndStaysThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := newLimiter(t, 4), newBackend(16, 2*ms)
		drive(t, l, trusted(500))
		b.flow(l, 3000, 3*time.Second)
		for range 20 {
			b.flow(l, 24_000, time.Second)
			require.GreaterOrEqual(t, l.Limit(), 16)
			require.LessOrEqual(t, l.Limit(), 32)
		}
		time.Sleep(time.Minute)
	})
}

// D3, D10, D16: with nothing but drops the limit is at its floor, and not below; once the backend
// is well it takes all within a second.
func TestControllerFallsToItsFloorAndComesBack(t *testing.T) {
	for least, want := range map[float64]float64{0.1: 0.1, 3: 3, 2.5: 3} {
		synctest.Test(t, func(t *testing.T) {
			l, b := newLimiter(t, 16), newBackend(1000, ms)
			cfg := trusted(100)
			cfg.Min = least
			ctl := drive(t, l, cfg)
			b.flow(l, 5000, 5*time.Second)
			b.fail = outcome(spillway.OutcomeOverload)
			b.flow(l, 5000, 10*time.Second)
			require.Equal(t, want, ctl.Stats().Limit)
			require.Equal(t, max(1, int(want)), l.Limit())
			b.fail = nil
			b.flow(l, 5000, time.Second)
			require.Less(t, b.flow(l, 5000, time.Second), 0.01)
			time.Sleep(time.Minute)
		})
	}
}

// D15: two of three calls that fail are no reason to shed.
func TestControllerShedsNothingForTwoFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 16)
		ctl := drive(t, l, trusted(32))
		for i := range 30 {
			for j := range 3 {
				var err error
				if j > 0 {
					err = outcome(spillway.OutcomeOverload)
				}
				_, _ = l.Do(t.Context(), lasting(time.Duration(i)*ms, err))
			}
			time.Sleep(time.Minute)
		}
		require.Zero(t, ctl.Stats().Changes.Of(adaptive.Errors))
		require.Zero(t, l.Stats().Refused.Total())
	})
}

// D8: a latency beyond reason is a latency: nothing overflows, and it is forgotten.
func TestControllerBearsALatencyBeyondReason(t *testing.T) {
	f := &fake{limit: 10}
	ctl := drive(t, f, trusted(20))
	at := f.feed(ms, 2000, time.Second, 10)
	for range 5000 {
		at += time.Millisecond
		label := f.meter.Begin(context.Background(), at)
		f.meter.End(spillway.Sample{At: at, Took: 1 << 62, InUse: 10, Weight: 1, Label: label})
	}
	st := ctl.Stats()
	require.False(t, st.Broken, "%+v", st)
	require.Positive(t, st.Changes.Of(adaptive.Latency))
	for range 60 {
		at = f.feed(at, 2000, time.Second, f.limit)
	}
	require.False(t, ctl.Stats().Broken)
	require.Equal(t, 20, f.limit)
}

// D5, D9, D29: there is one limit: the guard's, the hook's, that of the statistics and that
// of the gauge; and a hook sees what a change was decided on.
func TestControllerHasOneLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := newLimiter(t, 16), newBackend(16, 2*ms)
		var mu sync.Mutex
		var last adaptive.Change // guarded by mu
		cfg := trusted(200)
		cfg.Hooks = []adaptive.Hooks{{Changed: func(ch adaptive.Change) {
			mu.Lock()
			defer mu.Unlock()
			last = ch
			if ch.Cause == adaptive.Latency || ch.Cause == adaptive.Growth {
				require.Equal(t, ch.Cause == adaptive.Latency, ch.Ratio > ch.Tolerance)
			}
			require.Positive(t, ch.To)
		}}}
		ctl := drive(t, l, cfg)
		for range 30 {
			b.flow(l, 10_000, 100*ms)
			st := ctl.Stats()
			mu.Lock()
			require.Equal(t, last.To, st.Limit)
			mu.Unlock()
			require.Equal(t, max(1, int(st.Limit)), l.Limit())
			require.Equal(t, l.Limit(), l.Stats().Limit)
			for s := range ctl.Observe {
				require.Equal(t, st.Limit, s.Own[0].Value)
			}
		}
		time.Sleep(time.Minute)
	})
}
