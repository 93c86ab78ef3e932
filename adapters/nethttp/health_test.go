//go:build go1.25

package nethttp_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/lifecycle"
)

func newReadiness(t testing.TB, cfg nethttp.ReadinessConfig) *nethttp.Readiness {
	t.Helper()
	r, err := nethttp.NewReadiness(cfg)
	require.NoError(t, err)
	return r
}

func TestNewReadinessNamesItsFaults(t *testing.T) {
	_, err := nethttp.NewReadiness(nethttp.ReadinessConfig{
		Checks:       []nethttp.Check{{}, nethttp.Connected("db", (*lifecycle.Machine[int])(nil))},
		UnreadyAfter: -1, ReadyAfter: -1,
	})
	for _, text := range []string{
		"readiness: invalid configuration", `Checks[0].Name is ""`, "Checks[0].Healthy is <nil>", "Checks[1].Healthy is <nil>",
		"UnreadyAfter is -1ns", "ReadyAfter is -1ns", "RetryAfter is 0s",
	} {
		require.ErrorContains(t, err, text)
	}
}

// R145: liveness asks nobody.
func TestLivenessAlwaysAnswers(t *testing.T) {
	w := take(nethttp.Liveness())
	require.Equal(t, 200, w.Code)
	require.Equal(t, "alive\n", w.Body.String())
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
}

// G-HTTP-17; X13, R145: it takes more than a moment to become unready, and to become
// ready again, but for the first time.
func TestReadinessHasHysteresis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		r := newReadiness(t, nethttp.ReadinessConfig{
			Checks:       []nethttp.Check{{Name: "db", Healthy: up.Load}},
			UnreadyAfter: 10 * time.Second, ReadyAfter: 5 * time.Second, RetryAfter: 1500 * time.Millisecond,
		})
		// looks probes for so many seconds, one probe each, and returns what was said.
		looks := func(seconds int) (said string) {
			for range seconds {
				said += map[bool]string{true: "R", false: "-"}[r.Ready()]
				time.Sleep(time.Second)
			}
			return said
		}
		require.Equal(t, "---", looks(3), "not before the first success")
		up.Store(true)
		require.Equal(t, "RRR", looks(3), "then at once")
		up.Store(false)
		require.Equal(t, "RRRRRRRRR", looks(9))
		up.Store(true)
		require.Equal(t, "R", looks(1), "a blip")
		up.Store(false)
		require.Equal(t, "RRRRRRRRRR---", looks(13), "unready 10 s after the first failure in a row")
		w := take(r)
		require.Equal(t, 503, w.Code)
		require.Equal(t, "2", w.Header().Get("Retry-After"))
		require.Equal(t, "not ready: db\n", w.Body.String())
		up.Store(true)
		require.Equal(t, "-----RR", looks(7))
		w = take(r)
		require.Equal(t, 200, w.Code)
		require.Equal(t, "ready\n", w.Body.String())
		require.Empty(t, w.Header().Get("Retry-After"))
		up.Store(false)
		require.Equal(t, "R", looks(1))
		r.Retire()
		up.Store(true)
		require.Equal(t, "---", looks(3), "at once, and for good")
		require.Equal(t, "not ready: shutting down\n", take(r).Body.String())
	})
}

func TestReadinessWithoutHysteresis(t *testing.T) {
	up := true
	r := newReadiness(t, nethttp.ReadinessConfig{Checks: []nethttp.Check{{Name: "db", Healthy: func() bool { return up }}}, RetryAfter: 1})
	for _, up = range []bool{true, false, true, false} {
		require.Equal(t, up, r.Ready())
	}
	require.Equal(t, "1", take(r).Header().Get("Retry-After"), "a second at least")
}

// A check that panics has said no; all that are missing are named.
func TestReadinessChecks(t *testing.T) {
	r := newReadiness(t, nethttp.DefaultReadinessConfig(
		nethttp.Check{Name: "well", Healthy: func() bool { return true }},
		nethttp.Check{Name: "bad", Healthy: func() bool { return false }},
		nethttp.Check{Name: "worse", Healthy: func() bool { panic(errSecret) }},
	))
	require.Equal(t, "not ready: bad, worse\n", take(r).Body.String())
	require.True(t, newReadiness(t, nethttp.DefaultReadinessConfig()).Ready(), "nothing is needed")
	var zero nethttp.Readiness
	require.False(t, zero.Ready())
	w := take(&zero)
	require.Equal(t, 503, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
}

// A machine's state is a check.
func TestConnectedFollowsTheMachine(t *testing.T) {
	m, err := lifecycle.New(lifecycle.DefaultConfig("db", func(context.Context, int) error { return nil }))
	require.NoError(t, err)
	cfg := nethttp.DefaultReadinessConfig(nethttp.Connected("db", m))
	cfg.UnreadyAfter, cfg.ReadyAfter = 0, 0
	r := newReadiness(t, cfg)
	require.False(t, r.Ready())
	require.NoError(t, m.Connect(t.Context(), func(context.Context) (int, error) { return 1, nil }))
	require.True(t, r.Ready())
	require.NoError(t, m.Close(t.Context()))
	require.False(t, r.Ready())
}

func TestReadinessConcurrentSafe(t *testing.T) {
	var up atomic.Bool
	r := newReadiness(t, nethttp.ReadinessConfig{Checks: []nethttp.Check{{Name: "db", Healthy: up.Load}}, RetryAfter: time.Second})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 100 {
				up.Store((i+j)%2 == 0)
				w := take(r)
				require.Contains(t, []int{http.StatusOK, http.StatusServiceUnavailable}, w.Code)
			}
		})
	}
	wg.Wait()
	r.Retire()
	require.False(t, r.Ready())
}
