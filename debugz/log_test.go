//go:build go1.25

package debugz_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/retry"
)

// logged is what a page shows of a log, a line each.
func logged(t *testing.T, log *debugz.Log) (counted, events []string) {
	t.Helper()
	s := look(t, newPage(t, func(c *debugz.Config) { c.Log = log }))
	for _, r := range s.Refusals {
		counted = append(counted, fmt.Sprintf("%s %s %s %s %d", r.Component, r.Name, r.What, r.Class, r.Count))
	}
	for _, e := range s.Events {
		events = append(events, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Component, e.Name, e.What, e.Error)))
	}
	return counted, events
}

func fails(context.Context) (int, error) { return 0, &spillway.Rejection{} }

// G-DBZ-15: what happened last, from the hooks of every kind of component.
func TestLogKeepsWhatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := debugz.NewLog(50)
		bulk := spillway.WithClass(t.Context(), spillway.Bulk)

		l, err := limiter.New[int](limiter.Config{
			Name: "db", Limit: 1, Track: spillway.TrackSite, HoldWarn: time.Second, Hooks: []limiter.Hooks{log.Limiter("db")},
		})
		require.NoError(t, err)
		_, _ = l.Do(t.Context(), func(context.Context) (int, error) {
			for range 3 {
				_, err := l.Do(bulk, fails)
				require.ErrorIs(t, err, spillway.ErrBackpressure)
			}
			time.Sleep(2 * time.Second)
			return 1, nil
		})
		require.NoError(t, l.SetLimit(5))
		n, err := lane.New[int](lane.Config{Name: "critical", Limit: 1, Hooks: []lane.Hooks{log.Lane("db/critical")}})
		require.NoError(t, err)
		require.NoError(t, n.SetMode(spillway.RefuseAll))
		_, _ = n.Do(t.Context(), fails)

		e, err := deadline.New[int](deadline.Config{Name: "jobs", Workers: 1, Queue: 1, TTL: time.Minute, Hooks: []deadline.Hooks{log.Executor("jobs")}})
		require.NoError(t, err)
		require.NoError(t, e.SetWorkers(2))
		require.NoError(t, e.Close(t.Context()))

		p := retry.ReadPolicy()
		p.Name, p.Hooks = "reads", []retry.Hooks{log.Retry()}
		r, err := retry.New[int](p)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(bulk, time.Minute)
		defer cancel()
		_, err = r.Do(ctx, fails)
		require.Error(t, err)

		m, err := lifecycle.New(lifecycle.DefaultConfig("db", func(context.Context, int) error { return nil }))
		require.NoError(t, err)
		m.OnTransition(log.Transitions("cluster"))
		require.Error(t, m.Connect(t.Context(), func(context.Context) (int, error) { return 0, errors.New("secret") }))
		require.NoError(t, m.Connect(t.Context(), func(context.Context) (int, error) { return 0, nil }))
		require.NoError(t, m.Close(t.Context()))
		log.Note("config", "limits", "loaded\nanew")

		counted, events := logged(t, log)
		require.ElementsMatch(t, []string{
			"limiter db refused: limit_reached bulk 3", "lane db/critical refused: refuse_all  1",
			"retry reads retried after local bulk 2", "retry reads gave up: attempts_exhausted bulk 1",
		}, counted)
		require.Equal(t, []string{
			"config limits loaded·anew",
			"lifecycle cluster closing → disconnected (closed), connection 1",
			"lifecycle cluster connected → closing (Close), connection 1",
			"lifecycle cluster connecting → connected (dialled), connection 1",
			"lifecycle cluster disconnected → connecting (Connect)",
			"lifecycle cluster connecting → disconnected (dial failed) unknown (*errors.errorString)",
			"lifecycle cluster disconnected → connecting (Connect)",
			"executor jobs workers 1 → 2",
			"lane db/critical mode enforce → refuse-all",
			"limiter db limit 1 → 5",
		}, events[:10])
		require.Regexp(t, `^limiter db a permit was held for 2\.0s by debugz_test\..* log_test\.go:\d+$`, events[10])
		require.Len(t, events, 11)
	})
}

// G-DBZ-15: a log is bounded, and the newest stay.
func TestLogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := debugz.NewLog(3)
		hooks := log.Lane("db")
		for i := range 10 {
			hooks.LimitChanged(i, i+1)
			ctx := spillway.WithClass(t.Context(), spillway.Class(fmt.Sprint("user", i)))
			hooks.Rejected(ctx, &spillway.Rejection{})
			time.Sleep(time.Second)
		}
		counted, events := logged(t, log)
		require.Equal(t, []string{"lane db limit 9 → 10", "lane db limit 8 → 9", "lane db limit 7 → 8"}, events)
		require.Equal(t, []string{
			"lane db refused: limit_reached user9 1", "lane db refused: limit_reached user8 1", "lane db refused: limit_reached user7 1",
		}, counted)
	})
}

// The zero value, a nil one and one of no size keep nothing, and their hooks harm nobody.
func TestLogsThatKeepNothing(t *testing.T) {
	var none *debugz.Log
	for _, log := range []*debugz.Log{none, {}, debugz.NewLog(0), debugz.NewLog(-1)} {
		log.Limiter("x").Rejected(t.Context(), &spillway.Rejection{})
		log.Lane("x").LimitChanged(1, 2)
		log.Transitions("x")(lifecycle.Transition{})
		log.Note("a", "b", "c")
		counted, events := logged(t, log)
		require.Empty(t, counted)
		require.Empty(t, events)
	}
	page := newPage(t, func(c *debugz.Config) { c.Log = new(debugz.Log) })
	require.Contains(t, get(t, page, "html"), "nothing yet")
	require.NotContains(t, get(t, newPage(t, nil), "html"), "What happened last")
}

// A refusal that is counted is still a cheap one.
func TestLogCountsWithoutAllocating(t *testing.T) {
	hooks := debugz.NewLog(10).Limiter("db")
	ctx := spillway.WithClass(t.Context(), spillway.Bulk)
	r := &spillway.Rejection{Reason: spillway.ReasonQueueFull}
	// The race detector allocates, too.
	require.True(t, invariant.Enabled || testing.AllocsPerRun(1000, func() { hooks.Rejected(ctx, r) }) == 0)
}

func TestLogConcurrentSafe(t *testing.T) {
	log := debugz.NewLog(5)
	page := newPage(t, func(c *debugz.Config) { c.Log, c.Interval = log, 1 })
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			hooks := log.Lane(fmt.Sprint("l", i))
			for j := range 100 {
				hooks.Rejected(t.Context(), &spillway.Rejection{})
				hooks.LimitChanged(j, j+1)
				if j%10 == 0 {
					answer(page, request("/json"))
				}
			}
		})
	}
	all.Wait()
	s := look(t, page)
	require.Len(t, s.Refusals, 5)
	require.Len(t, s.Events, 5)
}
