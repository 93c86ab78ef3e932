//go:build go1.25

package debugz_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
)

// callers keep n calls going until stop, each of which takes what hold says.
func callers(ctx context.Context, n int, hold func() time.Duration, do func(context.Context, spillway.Op[int]) (int, error)) *sync.WaitGroup {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				_, err := do(ctx, func(context.Context) (int, error) {
					time.Sleep(hold())
					return 1, nil
				})
				if err != nil {
					time.Sleep(ms)
				}
			}
		})
	}
	return &all
}

func always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// forgetful takes a permit and gives it back when the test is over.
func forgetful(ctx context.Context, l *lane.Lane[int]) {
	_, _ = l.Do(spillway.WithClass(ctx, spillway.Bulk), func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	})
}

// G-DBZ-4; R27, R171: who holds a guard that nothing comes back to is on top, with the place in the code, by the first
// look of whoever opens the page, and those who only suffer from it are told from those who were there before.
func TestPageStuckHolderIsOnTopAtTheFirstLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		busy, err := limiter.New[int](limiter.Config{Name: "a-busy-one", Limit: 100})
		require.NoError(t, err)
		stuck, err := lane.New[int](lane.Config{Name: "profiles", Limit: 3, MaxWaiting: 9, MaxWait: time.Hour, Track: spillway.TrackSite})
		require.NoError(t, err)
		all := callers(ctx, 2, always(ms), busy.Do)
		all.Go(func() { forgetful(ctx, stuck) })
		all.Go(func() { forgetful(ctx, stuck) })
		time.Sleep(time.Minute)
		victims := callers(ctx, 5, always(time.Hour), stuck.Do)
		time.Sleep(20 * time.Second)

		s := look(t, debugz.Handler(observe.Limiter(busy), observe.Lane(stuck)))
		require.Equal(t, 1, s.Need)
		require.Equal(t, "bad", s.Worst)
		top := s.Entries[0]
		require.Equal(t, "profiles", top.Name)
		require.Equal(t, "stuck", top.Verdict)
		require.Contains(t, top.Reason, "forgetful page_test.go:")
		require.NotContains(t, top.Reason, "/", "the directories are noise")
		require.Len(t, top.Guard.Holders, 3)
		for i, h := range top.Guard.Holders {
			require.Equal(t, i < 2, h.Before, "%+v", h)
			require.Equal(t, i < 2, h.Class == "bulk")
		}
		require.Regexp(t, `^debugz_test\.forgetful`, top.Guard.Holders[0].Site.Function)
		require.InDelta(t, 80, top.Guard.Holders[0].Age, 1)
		require.InDelta(t, 20, top.Guard.Full, 1, "full since the youngest came")
		require.Len(t, top.Guard.Sites, 2)
		require.Equal(t, 2, top.Guard.Sites[0].Before)

		cancel()
		all.Wait()
		time.Sleep(3 * time.Hour)
		victims.Wait()
	})
}

// G-DBZ-5: refusals at hold times as ever are a tight limit; above them it is the backend; callers who wait are neither.
// The usual is what it was when all was well, however long it is slow.
func TestPageTellsTightAndSlowApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var hold atomic.Int64
		hold.Store(int64(2 * ms))
		now := func() time.Duration { return time.Duration(hold.Load()) }
		l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 8})
		require.NoError(t, err)
		w, err := lane.New[int](lane.Config{Name: "waits", Limit: 8, MaxWaiting: 90, MaxWait: time.Second})
		require.NoError(t, err)
		page := debugz.Handler(observe.Limiter(l), observe.Lane(w))
		watchIt := func(d time.Duration) (s seen) {
			for range d / time.Second {
				time.Sleep(time.Second)
				s = look(t, page)
			}
			return s
		}
		normal := callers(ctx, 6, now, l.Do)
		waiting := callers(ctx, 20, always(2*ms), w.Do)
		s := watchIt(5 * time.Second)
		require.Equal(t, "busy", s.of(t, "limiter", "db").Verdict)
		require.Equal(t, "busy", s.of(t, "lane", "waits").Verdict, "callers who wait are contention, no fault")
		require.Zero(t, s.Need)

		more, stop := context.WithCancel(ctx)
		burst := callers(more, 8, now, l.Do)
		e := watchIt(6*time.Second).of(t, "limiter", "db")
		require.Equal(t, "limit tight", e.Verdict, e.Reason)
		require.Contains(t, e.Reason, "would bear more")
		require.Equal(t, "limit_reached", e.Guard.Refusals[0].Name)
		require.Positive(t, *e.Guard.Refused)

		hold.Store(int64(30 * ms))
		e = watchIt(8*time.Second).of(t, "limiter", "db")
		require.Equal(t, "backend slow", e.Verdict, e.Reason)
		e = watchIt(70*time.Second).of(t, "limiter", "db")
		require.Equal(t, "backend slow", e.Verdict, "what lasts isn't the usual")
		require.InEpsilon(t, 0.002, *e.Guard.Usual, 0.3)
		require.True(t, e.Guard.Hold.Recent)
		require.InEpsilon(t, 0.03, *e.Guard.Hold.Median, 0.3)

		stop()
		burst.Wait()
		hold.Store(int64(2 * ms))
		require.Equal(t, "busy", watchIt(8*time.Second).of(t, "limiter", "db").Verdict)
		cancel()
		normal.Wait()
		waiting.Wait()
		require.Equal(t, "idle", watchIt(8*time.Second).of(t, "limiter", "db").Verdict)
	})
}

// A permit that nobody gives back is a leak though others come and go.
func TestPageShowsALeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l, err := lane.New[int](lane.Config{Name: "db", Limit: 4, Track: spillway.TrackStack})
		require.NoError(t, err)
		all := callers(ctx, 2, always(100*ms), l.Do)
		all.Go(func() { forgetful(ctx, l) })
		time.Sleep(6 * time.Minute)
		page := debugz.Handler(observe.Lane(l))
		e := look(t, page).of(t, "lane", "db")
		require.Equal(t, "leaking", e.Verdict)
		require.Equal(t, "warn", e.Level)
		require.Contains(t, e.Reason, "forgetful")
		require.Contains(t, get(t, page, "html"), "<pre>github.com/spillway-go/spillway/", "the stack")
		cancel()
		all.Wait()
	})
}

// G-DBZ-6: rates are over the last two looks, and there are none without a second look.
func TestPageRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		admitted := uint64(1000)
		page := debugz.Handler(play(func(time.Duration) []observe.Snapshot {
			return []observe.Snapshot{{Component: "lane", Name: "db", Laned: laneOf(4, 0, admitted, ms)}}
		}))
		s := look(t, page)
		require.Nil(t, s.Window)
		require.Nil(t, s.Entries[0].Guard.Admitted)
		require.False(t, s.Entries[0].Guard.Hold.Recent)
		require.NotNil(t, s.Entries[0].Guard.Hold.Median, "that of all its life")
		time.Sleep(2 * time.Second)
		admitted = 1500
		s = look(t, page)
		require.Equal(t, 2.0, *s.Window)
		require.Equal(t, 250.0, *s.Entries[0].Guard.Admitted)
		time.Sleep(time.Second)
		require.Zero(t, *look(t, page).Entries[0].Guard.Admitted, "what is over is over")
		time.Sleep(time.Second)
		admitted = 10
		other := look(t, page).Entries[0].Guard
		require.Nil(t, other.Admitted, "a count that went back is another lane's")
		require.False(t, other.Hold.Recent)
		time.Sleep(2 * time.Minute)
		s = look(t, page)
		require.Nil(t, s.Window, "two minutes ago says nothing about now")
		require.Contains(t, get(t, page, "html"), "rates come with the next look")
	})
}

// Where calls are few the verdict is over a longer time: until enough of them were timed.
func TestPageJudgesRareCallsOverLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := uint64(0)
		page := debugz.Handler(play(func(time.Duration) []observe.Snapshot {
			l := laneOf(4, 1, 1600+16*slow, 2*ms)
			l.Hold = took(took(spillway.Distribution{}, 100, 2*ms), slow, 50*ms)
			return []observe.Snapshot{{Component: "lane", Name: "db", Laned: l}}
		}))
		look(t, page)
		for slow < 9 { // a call is timed each second
			time.Sleep(time.Second)
			slow++
			require.Equal(t, "busy", look(t, page).Entries[0].Verdict, "with %d there is nothing to go by", slow)
		}
		time.Sleep(time.Second)
		slow++
		require.Equal(t, "backend slow", look(t, page).Entries[0].Verdict)
	})
}

// Whoever opens the page late still sees since when a guard has been full, if its holders are tracked.
func TestPageKnowsSinceWhenAGuardIsFull(t *testing.T) {
	page := debugz.Handler(snapshots(observe.Snapshot{Component: "lane", Name: "db", Laned: laneOf(2, 2, 9, ms), Holders: func() []spillway.Holder {
		return append(held(1, "main.old a.go:1", "", time.Hour), held(1, "main.young a.go:2", "", time.Minute)...)
	}}))
	g := look(t, page).Entries[0].Guard
	require.InDelta(t, 60, g.Full, 1)
	require.True(t, g.Holders[0].Before)
	require.False(t, g.Holders[1].Before)
}

// G-DBZ-7: what a lane is at each node is shown beneath its sum, and a node that needs somebody brings it to the top.
func TestPagePartsAreBeneathTheirSum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := debugz.Handler(play(func(d time.Duration) []observe.Snapshot {
			fine := observe.Snapshot{Component: "lane", Name: "first", Laned: laneOf(1, 0, 1, ms)}
			stray := observe.Snapshot{Component: "lane", Name: "stray", Node: "n9", Detail: true, Laned: laneOf(1, 0, 1, ms)}
			return append([]observe.Snapshot{fine, stray}, cluster(d)...)
		}))
		look(t, page)
		time.Sleep(4 * time.Second)
		s := look(t, page)
		require.Equal(t, 1, s.Need)
		require.Len(t, s.Entries, 3)
		top := s.Entries[0]
		require.Equal(t, "busy", top.Verdict, "the whole is well")
		require.Len(t, top.Parts, 3)
		require.Equal(t, "10.0.0.2:3000", top.Parts[0].Node)
		require.Equal(t, "backend slow", top.Parts[0].Verdict)
		require.Equal(t, []string{"10.0.0.1:3000", "10.0.0.3:3000"}, []string{top.Parts[1].Node, top.Parts[2].Node})
		require.Contains(t, get(t, page, "html"), `<tbody data-key="lane cluster/read" class="open">`, "its parts are shown unasked")
		require.Equal(t, "n9", s.Entries[2].Node, "a part without a whole stands for itself")
	})
}

// One who looks every second and one who looks now and then see the same.
func TestPageConcurrentSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		log := debugz.NewLog(4)
		l, err := lane.New[int](lane.Config{Name: "db", Limit: 3, Track: spillway.TrackSite, Hooks: []lane.Hooks{log.Lane("db")}})
		require.NoError(t, err)
		all := callers(ctx, 6, always(ms), l.Do)
		page := newPage(t, func(c *debugz.Config) { c.Log, c.Interval = log, ms }, observe.Lane(l), play(shop))
		for _, form := range []string{"html", "text", "json", "metrics", "openmetrics"} {
			all.Go(func() {
				for range 30 {
					get(t, page, form)
					time.Sleep(700 * time.Microsecond)
				}
			})
		}
		time.Sleep(100 * ms)
		cancel()
		all.Wait()
	})
}
