//go:build go1.25

package lane_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
)

func newSet(t testing.TB, change ...func(*lane.SetConfig)) *lane.Set[int] {
	t.Helper()
	cfg := lane.SetConfig{
		Name: "db", Default: "normal", Classes: map[spillway.Class]string{spillway.Critical: "critical", spillway.Bulk: "bulk"},
		Lanes: []lane.Config{{Name: "critical", Limit: 4}, {Name: "normal", Limit: 4}, {Name: "bulk", Limit: 2}},
	}
	for _, f := range change {
		f(&cfg)
	}
	s, err := lane.NewSet[int](cfg)
	require.NoError(t, err)
	return s
}

func admittedBy(s *lane.Set[int]) map[string]uint64 {
	m := map[string]uint64{}
	for _, st := range s.Stats() {
		m[st.Name] = st.Admitted
	}
	return m
}

// R55, R58: Into speaks to its set alone, a class to every set that maps it, and
// everything else goes to the default.
func TestSetRoutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := newSet(t), newSet(t)
		for _, ctx := range []context.Context{
			t.Context(),
			spillway.WithClass(t.Context(), spillway.Critical),
			spillway.WithClass(t.Context(), "unmapped"),
			s.Into(t.Context(), "bulk"),
			s.Into(spillway.WithClass(t.Context(), spillway.Critical), "bulk"),
			other.Into(t.Context(), "bulk"),
		} {
			_, err := s.Do(ctx, nop)
			require.NoError(t, err)
		}
		require.Equal(t, map[string]uint64{"critical": 1, "normal": 3, "bulk": 2}, admittedBy(s))
		_, err := s.Do(s.Into(t.Context(), "blk"), nop)
		var unknown *lane.UnknownLaneError
		require.ErrorAs(t, err, &unknown)
		require.EqualError(t, err, `lane set "db" has no lane "blk": there are critical, normal, bulk`)
		require.NotErrorIs(t, err, spillway.ErrBackpressure)
		require.Nil(t, s.Lane("blk"))
		require.Equal(t, "db/bulk", s.Lane("bulk").Name())
		require.Equal(t, "db/bulk", s.Lane("bulk").Stats().Name)
		require.Equal(t, "bulk", s.Stats()[2].Name)
		require.Equal(t, "db", s.Name())
		_, err = lane.ShareSet[string](s).Do(t.Context(), func(context.Context) (string, error) { return "", nil })
		require.NoError(t, err)
		require.EqualValues(t, 4, admittedBy(s)["normal"])
	})
}

// G-LAN-7; R30, R57: a full lane, and a panic in it, leave the others alone.
func TestSetLanesAreIsolated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t)
		hold(t, s.Lane("bulk"), 2)
		_, err := s.Do(spillway.WithClass(t.Context(), spillway.Bulk), nop)
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		require.Panics(t, func() {
			_, _ = s.Do(t.Context(), func(context.Context) (int, error) { panic("boom") })
		})
		for range 100 {
			_, err = s.Do(spillway.WithClass(t.Context(), spillway.Critical), nop)
			require.NoError(t, err)
		}
	})
}

// R124, R17: Close refuses in every lane before it waits for the first.
func TestSetCloseClosesEveryLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t)
		first, second := hold(t, s.Lane("critical"), 1), hold(t, s.Lane("bulk"), 1)
		done := make(chan error, 1)
		go func() { done <- s.Close(t.Context()) }()
		synctest.Wait()
		_, err := s.Do(t.Context(), nop)
		require.ErrorIs(t, err, spillway.ErrClosed)
		first()
		synctest.Wait()
		require.Empty(t, done)
		second()
		require.NoError(t, <-done)
	})
}

// R59, W9, B21: with lending a full lane that holds briefly uses what another leaves idle,
// within its ceiling, and never what the lender keeps; the next permit that comes
// back is the lender's.
func TestSetLending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, func(c *lane.SetConfig) {
			c.Lanes[0].MaxWaiting, c.Lanes[0].MaxWait = 4, time.Second
			c.Lending = lane.Lending{Brief: 5 * time.Millisecond, Keep: 1, Ceiling: 2, NoLend: []string{"normal"}}
		})
		bulk := spillway.WithClass(t.Context(), spillway.Bulk)
		brief := func(context.Context) (int, error) { time.Sleep(time.Millisecond); return 0, nil }
		hold(t, s.Lane("bulk"), 1)
		_, err := s.Do(bulk, nop) // still fits
		require.NoError(t, err)
		release := hold(t, s.Lane("bulk"), 1)
		_, err = s.Do(bulk, nop)
		require.ErrorIs(t, err, spillway.ErrBackpressure, "nobody knows yet how long bulk holds")
		release()
		for range 32 { // now somebody does
			_, err := s.Do(bulk, brief)
			require.NoError(t, err)
		}
		hold(t, s.Lane("bulk"), 1)

		gate := make(chan struct{})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				_, err := s.Do(bulk, func(context.Context) (int, error) { <-gate; return 0, nil })
				require.NoError(t, err)
			})
		}
		synctest.Wait()
		require.Equal(t, 2, s.Lane("bulk").Stats().Borrowed)
		require.EqualValues(t, 2, s.Lane("critical").Stats().Lent)
		require.Equal(t, 2, s.Lane("critical").Stats().InUse)
		require.Zero(t, s.Lane("normal").Stats().Lent)
		_, err = s.Do(bulk, brief)
		require.ErrorIs(t, err, spillway.ErrBackpressure, "the ceiling")

		// The lender still has what it keeps, and then waits for one release, no more.
		critical := spillway.WithClass(t.Context(), spillway.Critical)
		hold(t, s.Lane("critical"), 2)
		served := make(chan error, 1)
		go func() {
			_, err := s.Do(critical, nop)
			served <- err
		}()
		synctest.Wait()
		require.Equal(t, 1, s.Lane("critical").Stats().Waiting)
		gate <- struct{}{}
		require.NoError(t, <-served)
		close(gate)
		wg.Wait()
		require.Zero(t, s.Lane("bulk").Stats().Borrowed)
		require.Equal(t, 2, s.Lane("critical").Stats().InUse)
	})
}

// W9: lanes that hold long don't borrow; nor does a lane whose mode isn't Enforce.
func TestSetLendingOnlyToTheBrief(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, func(c *lane.SetConfig) { c.Lending = lane.Lending{Brief: 5 * time.Millisecond, Keep: 1, Ceiling: 2} })
		bulk := spillway.WithClass(t.Context(), spillway.Bulk)
		for range 32 {
			_, err := s.Do(bulk, func(context.Context) (int, error) { time.Sleep(100 * time.Millisecond); return 0, nil })
			require.NoError(t, err)
		}
		hold(t, s.Lane("bulk"), 2)
		_, err := s.Do(bulk, nop)
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		require.NoError(t, s.Lane("bulk").SetMode(spillway.RefuseAll))
		_, err = s.Do(bulk, nop)
		require.Equal(t, spillway.ReasonRefuseAll, reasonOf(t, err))
		for _, st := range s.Stats() {
			require.Zero(t, st.Lent)
		}
	})
}

// L-22, E18: the set's faults and those of its lanes, all at once, and nothing is started.
func TestSetConfigListsEveryFault(t *testing.T) {
	_, err := lane.NewSet[int](lane.SetConfig{
		Lanes: []lane.Config{{Name: "a", Limit: 1}, {Name: "a", Limit: 0}}, Default: "b",
		Classes: map[spillway.Class]string{spillway.Bulk: "c"}, Lending: lane.Lending{Brief: 1, NoLend: []string{"d"}},
	})
	for _, want := range []string{
		`Lanes[1].Limit is 0`, `Name is ""`, `Lanes[1].Name is "a": must be unique`, `Default is "b"`, `Classes[bulk] is "c"`,
		`Lending.Keep is 0`, `Lending.Ceiling is 0`, `Lending.NoLend[0] is "d"`,
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = lane.NewSet[int](lane.SetConfig{Name: "s", Lending: lane.Lending{Keep: 1}})
	require.ErrorContains(t, err, "Lanes is []: must have at least one lane")
	require.ErrorContains(t, err, "Lending.Brief is 0s: must be positive for lending to be on")
	_, err = lane.NewRouter(lane.RouterConfig[int]{Name: "r", Lanes: map[string]lane.Runner[int]{"x": nil}, Default: "y"})
	require.ErrorContains(t, err, "Lanes[x] is <nil>")
	require.ErrorContains(t, err, `Default is "y"`)
}

// R55: the same routing over anything that runs operations.
func TestRouterRoutes(t *testing.T) {
	fast, slow := newLane(t, lane.Config{Name: "fast", Limit: 1}), newLane(t, lane.Config{Name: "slow", Limit: 1})
	r, err := lane.NewRouter(lane.RouterConfig[int]{
		Name: "r", Lanes: map[string]lane.Runner[int]{"fast": fast, "slow": slow}, Default: "fast",
		Classes: map[spillway.Class]string{spillway.Bulk: "slow"},
	})
	require.NoError(t, err)
	op := r.Wrap(nop)
	for _, ctx := range []context.Context{t.Context(), r.Into(t.Context(), "slow"), spillway.WithClass(t.Context(), spillway.Bulk)} {
		_, err := op(ctx)
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, fast.Stats().Admitted)
	require.EqualValues(t, 2, slow.Stats().Admitted)
	_, err = op(r.Into(t.Context(), "?"))
	var unknown *lane.UnknownLaneError
	require.ErrorAs(t, err, &unknown)
	require.EqualError(t, err, `lane router "r" has no lane "?": there are fast, slow`)
}

// Every error of a lane of a set says whose lane it is: another set may have one of the
// same name.
func TestErrorsOfALaneNameItsSet(t *testing.T) {
	s, err := lane.NewSet[int](lane.SetConfig{Name: "db", Default: "bulk", Lanes: []lane.Config{{Name: "bulk", Limit: 1, DetectNested: true}}})
	require.NoError(t, err)
	_, err = s.Do(t.Context(), func(ctx context.Context) (int, error) { return s.Do(ctx, nop) })
	require.ErrorContains(t, err, `lane "db/bulk"`)
	_, err = s.AdmitN(t.Context(), 2)
	require.ErrorContains(t, err, `lane "db/bulk"`)
	p, err := s.Admit(t.Context())
	require.NoError(t, err)
	_, err = s.Do(t.Context(), nop)
	require.EqualError(t, err, `lane "db/bulk" refused the call: all permits are in use (limit 1)`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, s.Close(ctx), `lane "db/bulk"`)
	p.Release()
	_, err = s.Do(t.Context(), nop)
	require.EqualError(t, err, `lane "db/bulk" is closed`)
}
