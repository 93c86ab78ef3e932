//go:build go1.25

package adaptive_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// staggered has n callers call again and again for a while, one after the other at first.
func staggered(l *limiter.Limiter[int], n int, long time.Duration, op spillway.Op[int]) {
	end := time.Now().Add(long)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 37 * ms)
			for time.Now().Before(end) {
				if _, err := l.Do(context.Background(), op); err != nil {
					time.Sleep(20 * ms)
				}
			}
		})
	}
	wg.Wait()
}

// G-ADA-11: a backend that takes seconds, each time, isn't silent in between.
func TestControllerOfASlowBackendHearsNoSilence(t *testing.T) {
	for _, latency := range []time.Duration{300 * ms, 1100 * ms, 2 * time.Second, 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(t, 16)
			cfg := trusted(32)
			cfg.Target = latency * 7 / 4
			ctl := drive(t, l, cfg)
			staggered(l, 16, 150*latency, lasting(latency, nil))
			st := ctl.Stats()
			require.Zero(t, st.Changes.Of(adaptive.Silence), "%v", latency)
			require.GreaterOrEqual(t, st.Limit, 16.0, "%v", latency)
		})
	}
}

// Nobody said how long a call takes: what is found silent before the first answer is made
// up for as quickly as a limit starts.
func TestControllerStartsOnASlowBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 16)
		ctl := drive(t, l, trusted(32))
		keepBusy(l, 40, 6*time.Second, lasting(300*ms, nil))
		require.LessOrEqual(t, ctl.Stats().Changes.Of(adaptive.Silence), uint64(1))
		require.Equal(t, 32, l.Limit())
	})
}

// G-ADA-5, G-ADA-11: a class whose calls take long isn't silent before they could be back; another
// that has calls under way is.
func TestControllerHearsEachClassByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 40)
		cfg := trusted(40)
		cfg.Classes = []adaptive.Class{{Name: "scan", Target: 10 * time.Second}}
		ctl := drive(t, l, cfg)
		keepBusy(l, 60, time.Second, lasting(2*ms, nil))
		scans := adaptive.WithClass(context.Background(), "scan")
		for range 100 {
			go func() { _, _ = l.Do(scans, lasting(5*time.Second, nil)) }()
			time.Sleep(500 * ms)
		}
		require.Zero(t, ctl.Stats().Changes.Of(adaptive.Silence), "a scan takes 5 s")
		for range 4 {
			go func() { _, _ = l.Do(context.Background(), lasting(time.Minute, nil)) }()
		}
		for range 20 { // scans go on, and come back
			go func() { _, _ = l.Do(scans, lasting(5*time.Second, nil)) }()
			time.Sleep(50 * ms)
		}
		require.Positive(t, ctl.Stats().Changes.Of(adaptive.Silence), "reads take 2 ms")
		time.Sleep(time.Minute)
	})
}

// G-ADA-5, G-ADA-11: nobody knows how long the first call of a class takes. As long as others
// are answered, the backend doesn't stand still.
func TestControllerHearsNoSilenceBehindTheFirstOfAClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 40)
		cfg := trusted(40)
		cfg.Classes = []adaptive.Class{{Name: "scan"}}
		ctl := drive(t, l, cfg)
		keepBusy(l, 20, time.Second, lasting(2*ms, nil))
		scan := func() {
			_, _ = l.Do(adaptive.WithClass(context.Background(), "scan"), lasting(10*time.Second, nil))
		}
		go scan()
		keepBusy(l, 20, 5*time.Second, lasting(2*ms, nil))
		require.Zero(t, ctl.Stats().Changes.Of(adaptive.Silence))
		staggered(l, 8, time.Second, lasting(2*time.Second, nil))
		require.Positive(t, ctl.Stats().Changes.Of(adaptive.Silence), "of all")
		time.Sleep(10 * time.Second)
	})
}

// G-ADA-5, G-ADA-11: nor if the others take seconds, and so are answered seconds apart.
func TestControllerHearsNoSilenceBehindTheFirstOfAClassBesideSlowOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 8)
		cfg := trusted(8)
		cfg.Target = 4 * time.Second
		cfg.Classes = []adaptive.Class{{Name: "scan"}}
		ctl := drive(t, l, cfg)
		staggered(l, 20, time.Minute, lasting(2*time.Second, nil))
		require.Zero(t, ctl.Stats().Changes.Of(adaptive.Silence))
		go func() {
			_, _ = l.Do(adaptive.WithClass(context.Background(), "scan"), lasting(20*time.Second, nil))
		}()
		staggered(l, 20, 15*time.Second, lasting(2*time.Second, nil))
		require.Zero(t, ctl.Stats().Changes.Of(adaptive.Silence))
		staggered(l, 20, 20*time.Second, lasting(time.Minute, nil))
		require.Positive(t, ctl.Stats().Changes.Of(adaptive.Silence), "of all")
	})
}

// G-ADA-7, G-ADA-11: that callers go away is no answer.
func TestControllerHearsSilenceBehindCancelledCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 50)
		ctl := drive(t, l, trusted(100))
		keepBusy(l, 30, 2*time.Second, lasting(2*ms, nil))
		keepBusy(l, 30, time.Second, func(ctx context.Context) (int, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			time.AfterFunc(80*ms, cancel)
			<-ctx.Done()
			return 0, ctx.Err()
		})
		require.Positive(t, ctl.Stats().Changes.Of(adaptive.Silence))
		require.LessOrEqual(t, l.Limit(), 2)
	})
}

// G-ADA-11: calls that end by a panic, or of which the caller wants no answer any more, one at a
// time, are no silence: there is nothing under way.
func TestControllerHearsNoSilenceWithNothingUnderWay(t *testing.T) {
	for name, op := range map[string]spillway.Op[int]{
		"panics":   func(context.Context) (int, error) { panic("no luck") },
		"canceled": func(context.Context) (int, error) { return 0, context.Canceled },
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(t, 20)
			ctl := drive(t, l, trusted(40))
			for range 100 {
				func() {
					defer func() { _ = recover() }()
					_, _ = l.Do(t.Context(), op)
				}()
				time.Sleep(300 * ms) // longer than a backend may be silent
			}
			require.Zero(t, ctl.Stats().Changes.Of(adaptive.Silence), name)
		})
	}
}

// G-ADA-4: a call that took a minute was never more than its own permit.
func TestControllerTakesALongCallForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 100)
		cfg := trusted(100)
		cfg.Target = 4 * ms
		ctl := drive(t, l, cfg)
		keepBusy(l, 3, 5*time.Second, lasting(2*ms, nil))
		go func() { _, _ = l.Do(context.Background(), lasting(time.Minute, nil)) }()
		keepBusy(l, 2, 61*time.Second, lasting(2*ms, nil))
		require.LessOrEqual(t, ctl.Stats().Healthy, 3.0)
	})
}

// G-ADA-4, G-ADA-8: that every holder is tracked doesn't change what is measured.
func TestControllerBesideTrackedHolders(t *testing.T) {
	for _, track := range []spillway.Track{spillway.TrackOff, spillway.TrackSite} {
		synctest.Test(t, func(t *testing.T) {
			l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 200, Track: track})
			require.NoError(t, err)
			ctl := drive(t, l, trusted(1000))
			var wg sync.WaitGroup
			for range 20000 { // 4,000 a second: 80 at once
				wg.Go(func() { _, _ = l.Do(context.Background(), lasting(20*ms, nil)) })
				time.Sleep(250 * time.Microsecond)
			}
			wg.Wait()
			st := ctl.Stats()
			require.Greater(t, st.Every, 1)
			require.InDelta(t, 80, st.Healthy, 8, "%v", track)
		})
	}
}
