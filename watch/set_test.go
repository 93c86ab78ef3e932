//go:build go1.25

package watch_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/watch"
)

// newSet returns a set with one lane, named critical, that has one permit and these hooks.
func newSet(t *testing.T, name string, hooks lane.Hooks) *lane.Set[int] {
	t.Helper()
	s, err := lane.NewSet[int](lane.SetConfig{Name: name, Default: "critical", Lanes: []lane.Config{{
		Name: "critical", Limit: 1, MaxWaiting: 1, MaxWait: time.Hour, Track: spillway.TrackSite, Hooks: []lane.Hooks{hooks},
	}}})
	require.NoError(t, err)
	return s
}

// crowd takes a set's only permit, has a caller wait for it until his time is over, and one
// more refused.
func crowd(t *testing.T, s *lane.Set[int]) {
	t.Helper()
	p, err := s.Admit(t.Context())
	require.NoError(t, err)
	defer p.Release()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	waited := make(chan error, 1)
	go func() { _, err := s.Admit(ctx); waited <- err }()
	synctest.Wait()
	_, err = s.Admit(t.Context())
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.ErrorIs(t, <-waited, context.DeadlineExceeded)
}

// A set's lanes are sources each, by its name and theirs.
func TestSetIsASourceForEachLane(t *testing.T) {
	s, err := lane.NewSet[int](lane.SetConfig{
		Name: "db", Default: "a", Lanes: []lane.Config{{Name: "a", Limit: 1}, {Name: "b", Limit: 2}},
	})
	require.NoError(t, err)
	all := watch.Set(s)
	require.Len(t, all, 2)
	require.Equal(t, "db/b", all[1].Sample().Name)
	require.Equal(t, "lane", all[1].Sample().Component)
	require.Equal(t, 2, all[1].Sample().Limit)
	require.Empty(t, all[1].Holders())
}

// G-WAT-2: two sets with lanes of the same names are watched both.
func TestWatcherKeepsSetsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newWatcher(t, slog.LevelInfo)
		users, orders := newSet(t, "users", lane.Hooks{}), newSet(t, "orders", lane.Hooks{})
		w.Add(watch.Set(users)...)
		remove := w.Add(watch.Set(orders)...)
		time.Sleep(time.Second)
		crowd(t, users)
		w.Look(t.Context())
		v, ok := w.Verdict("lane", "users/critical")
		require.True(t, ok)
		require.Equal(t, watch.LimitTight, v.Kind)
		v, ok = w.Verdict("lane", "orders/critical")
		require.True(t, ok)
		require.Equal(t, watch.Idle, v.Kind)
		remove()
		_, ok = w.Verdict("lane", "orders/critical")
		require.False(t, ok)
	})
}

// G-WAT-3: a refusal or a timeout in a lane of a set says in which, and how things stand
// there, also if another set has a lane of the same name.
func TestWatcherHooksFindTheLaneOfASet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWatcher(t, slog.LevelInfo)
		users := newSet(t, "users", lane.Hooks{Rejected: w.Rejected, Waited: w.Waited("users/critical")})
		orders := newSet(t, "orders", lane.Hooks{Rejected: w.Rejected})
		w.Add(watch.Set(users)...)
		w.Add(watch.Set(orders)...)
		crowd(t, orders)
		crowd(t, users)
		lines := j.lines()
		require.Len(t, lines, 2, "both hooks of a lane share what they may log")
		for i, name := range []string{"orders/critical", "users/critical"} {
			require.Contains(t, lines[i], `msg="watch: refused"`)
			require.Contains(t, lines[i], "name="+name+" ")
			require.Contains(t, lines[i], "in_use=1")
			require.Contains(t, lines[i], "holders.0.site=")
		}
	})
}

// G-WAT-3, G-WAT-6: a storm of refusals of a lane of a set is one line, and costs nothing.
func TestWatcherBoundsRefusalsOfALaneOfASetAndAllocatesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWatcher(t, slog.LevelInfo)
		w.Add(watch.Set(newSet(t, "users", lane.Hooks{}))...)
		r := &spillway.Rejection{Component: "lane", Name: "users/critical"}
		w.Rejected(t.Context(), r)
		require.Len(t, j.lines(), 1)
		w.Add(watch.Limiter(newLimiter(t)))() // what changes elsewhere doesn't make it forget
		for range 10 {
			w.Rejected(t.Context(), r)
		}
		require.Empty(t, j.lines())
		ctx := context.Background()
		require.True(t, invariant.Enabled || testing.AllocsPerRun(100, func() { w.Rejected(ctx, r) }) == 0)
		time.Sleep(time.Minute)
		w.Rejected(t.Context(), r)
		lines := j.lines()
		require.Len(t, lines, 1)
		require.NotContains(t, lines[0], "suppressed=0")
	})
}
