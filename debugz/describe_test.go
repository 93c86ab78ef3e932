//go:build go1.25

package debugz_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/retry"
)

// verdicts of two looks, a second apart, at a component that was one thing and is another.
func verdicts(t *testing.T, before, now observe.Snapshot) (first, second entry) {
	t.Helper()
	s := before
	page := debugz.Handler(play(func(time.Duration) []observe.Snapshot { return []observe.Snapshot{s} }))
	first = look(t, page).Entries[0]
	time.Sleep(time.Second)
	s = now
	second = look(t, page).Entries[0]
	for _, form := range []string{"html", "text"} {
		require.Contains(t, get(t, page, form), second.Verdict)
	}
	return first, second
}

func TestPageJudgesRetriers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := func(change func(*retry.Stats)) observe.Snapshot {
			s := &retry.Stats{Name: "reads", Originals: 1000, Retries: 50}
			s.Ended[retry.StopSuccess] = 1000
			change(s)
			return observe.Snapshot{Component: "retry", Name: "reads", Retry: s}
		}
		quiet := of(func(*retry.Stats) {})
		first, second := verdicts(t, quiet, quiet)
		require.Equal(t, "idle", first.Verdict)
		require.Equal(t, "idle", second.Verdict)
		_, e := verdicts(t, quiet, of(func(s *retry.Stats) { s.Originals, s.Ended[retry.StopSuccess] = 1100, 1100 }))
		require.Equal(t, "busy", e.Verdict)
		require.Equal(t, 100.0, e.Figures["operations_per_second"])
		_, e = verdicts(t, quiet, of(func(s *retry.Stats) { s.Originals, s.Retries, s.Ended[retry.StopSuccess] = 1100, 75, 1100 }))
		require.Equal(t, "retrying", e.Verdict)
		require.Equal(t, "1.25", e.Figures["attempts_each"])
		for _, why := range []retry.StopReason{retry.StopAttempts, retry.StopElapsed, retry.StopDeadline, retry.StopHint, retry.StopBudget} {
			_, e = verdicts(t, quiet, of(func(s *retry.Stats) { s.Originals, s.Ended[retry.StopSuccess], s.Ended[why] = 1100, 1098, 2 }))
			require.Equal(t, "giving up", e.Verdict, why)
			require.Equal(t, "warn", e.Level)
		}
		_, e = verdicts(t, quiet, of(func(s *retry.Stats) {
			s.Originals, s.Ended[retry.StopSuccess], s.Ended[retry.StopNotRetryable] = 1100, 1050, 50
		}))
		require.Equal(t, "busy", e.Verdict, "what isn't worth repeating isn't given up")
	})
}

// Whoever finds every call refused at night has to see why, and not that nothing is going on.
func TestPageSaysThatAGuardSheds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := func(mode spillway.Mode, refused uint64) observe.Snapshot {
			s := &limiter.Stats{Name: "db", Limit: 8, Mode: mode}
			s.Refused[spillway.ReasonRefuseAll] = refused
			return observe.Snapshot{Component: "limiter", Name: "db", Limiter: s}
		}
		first, e := verdicts(t, of(spillway.RefuseAll, 100), of(spillway.RefuseAll, 133))
		require.Equal(t, "idle", first.Verdict) // nothing to compare with
		require.Equal(t, "shedding", e.Verdict)
		require.Equal(t, "warn", e.Level)
		require.Equal(t, "33/s calls are refused by mode refuse-all: somebody has set it", e.Reason)
		_, e = verdicts(t, of(spillway.RefuseAll, 100), of(spillway.RefuseAll, 100))
		require.Equal(t, "idle", e.Verdict) // nobody is turned away
		_, e = verdicts(t, of(spillway.Enforce, 100), of(spillway.Enforce, 100))
		require.Equal(t, "idle", e.Verdict)
	})
}

func TestPageJudgesBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := func(granted, denied uint64) observe.Snapshot {
			return observe.Snapshot{Component: "budget", Name: "db", Budget: &retry.BudgetStats{Burst: 10, Available: 2, Granted: granted, Denied: denied}}
		}
		_, e := verdicts(t, of(5, 5), of(5, 5))
		require.Equal(t, "idle", e.Verdict)
		_, e = verdicts(t, of(5, 5), of(7, 5))
		require.Equal(t, "in use", e.Verdict)
		_, e = verdicts(t, of(5, 5), of(7, 8))
		require.Equal(t, "used up", e.Verdict)
		require.Equal(t, "warn", e.Level)
		require.Contains(t, e.Reason, "3.0/s")
	})
}

func TestPageJudgesConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			stats       lifecycle.Stats
			word, level string
		}{
			{lifecycle.Stats{}, "disconnected", "idle"},
			{lifecycle.Stats{Failed: 1, LastError: errors.New("secret")}, "disconnected", "bad"},
			{lifecycle.Stats{Connected: 1}, "disconnected", "bad"},
			{lifecycle.Stats{State: lifecycle.Connecting}, "connecting", "ok"},
			{lifecycle.Stats{State: lifecycle.Connecting, Since: time.Now().Add(-6 * time.Second)}, "connecting", "warn"},
			{lifecycle.Stats{State: lifecycle.Connected, Connected: 1}, "connected", "ok"},
			{lifecycle.Stats{State: lifecycle.Connected, Connected: 2, Orphans: 1}, "orphans", "warn"},
			{lifecycle.Stats{State: lifecycle.Closing}, "closing", "ok"},
		} {
			s := observe.Snapshot{Component: "lifecycle", Name: "db", Lifecycle: &c.stats}
			e, _ := verdicts(t, s, s)
			require.Equal(t, c.word+" "+c.level, e.Verdict+" "+e.Level, "%+v", c.stats)
			if c.stats.LastError != nil {
				require.Equal(t, "unknown (*errors.errorString)", e.Figures["last_error"])
			}
		}
	})
}

func TestPageShowsErrorTextsIfAllowed(t *testing.T) {
	s := &lifecycle.Stats{Failed: 1, LastError: fmt.Errorf("dial: %w", &spillway.Rejection{Reason: spillway.ReasonLimit})}
	db := snapshots(observe.Snapshot{Component: "lifecycle", Name: "db", Lifecycle: s})
	require.Equal(t, "local (limit_reached)", look(t, newPage(t, nil, db)).Entries[0].Figures["last_error"])
	texts := newPage(t, func(c *debugz.Config) { c.ErrorTexts = true }, db)
	require.Contains(t, look(t, texts).Entries[0].Figures["last_error"], "dial: ")
}

func TestPageJudgesRegistries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := func(change func(*lifecycle.RegistryStats)) observe.Snapshot {
			s := &lifecycle.RegistryStats{Name: "clusters", MaxKeys: 4}
			change(s)
			return observe.Snapshot{Component: "registry", Name: "clusters", Registry: s}
		}
		nothing := of(func(*lifecycle.RegistryStats) {})
		_, e := verdicts(t, nothing, nothing)
		require.Equal(t, "idle", e.Verdict)
		_, e = verdicts(t, nothing, of(func(s *lifecycle.RegistryStats) { s.Keys = 2 }))
		require.Equal(t, "busy", e.Verdict)
		_, e = verdicts(t, nothing, of(func(s *lifecycle.RegistryStats) { s.Failed = 2 }))
		require.Equal(t, "dials fail", e.Verdict)
		_, e = verdicts(t, nothing, of(func(s *lifecycle.RegistryStats) { s.Keys, s.Refused = 4, 9 }))
		require.Equal(t, "full", e.Verdict)
		require.Contains(t, e.Reason, "4 of 4 keys")
	})
}

// A component of somebody else's is shown by what it says of itself.
func TestPageShowsOwnPoints(t *testing.T) {
	gauge := observe.Metric{Name: "pool.size", Kind: observe.Gauge, Unit: "{connection}"}
	wait := observe.Metric{Name: "pool.wait", Kind: observe.Histogram, Unit: "s"}
	d := took(spillway.Distribution{}, 10, 2*ms)
	own := []observe.Point{
		{Metric: gauge, Value: 7, Attributes: []observe.Attribute{{Key: "state", Value: "idle"}}},
		{Metric: wait, Distribution: &d},
		{Metric: observe.Metric{Name: "pool.age", Kind: observe.Gauge, Unit: "s"}, Value: 90},
	}
	for range 100 {
		own = append(own, observe.Point{Metric: gauge})
	}
	page := debugz.Handler(snapshots(observe.Snapshot{Component: "pool", Name: "db", Own: own}))
	e := look(t, page).Entries[0]
	require.Equal(t, "7", e.Facts["pool.size_idle"])
	require.InEpsilon(t, 0.002, e.Facts["pool.wait_p99_seconds"], 0.3)
	require.Equal(t, 90.0, e.Facts["pool.age_seconds"])
	require.Equal(t, 53.0, e.Facts["more"])
	require.Contains(t, get(t, page, "html"), "<dd>1m30s")
	require.Contains(t, get(t, page, "text"), "pool.age=1m30s")
}
