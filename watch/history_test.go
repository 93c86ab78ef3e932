package watch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/watch"
)

// looks are samples of one guard, a second apart.
type looks struct {
	history watch.History
	now     watch.Sample
}

func newLooks() *looks {
	return &looks{now: watch.Sample{
		Component: "limiter", Name: "db", At: noon, Limit: 4, Admitted: 1000, Released: 1000, Hold: held(1000, time.Millisecond),
	}}
}

func (l *looks) next(change func(*watch.Sample)) watch.Verdict {
	l.now.At = l.now.At.Add(time.Second)
	if change != nil {
		change(&l.now)
	}
	return l.history.Judge(watch.Sample{}, l.now, watch.DefaultThresholds())
}

// calls are n calls that have ended, all of them timed.
func calls(n uint64, d time.Duration) func(*watch.Sample) {
	return func(s *watch.Sample) {
		s.Admitted += n
		s.Released += n
		s.Hold = plus(s.Hold, n, d)
	}
}

// A long slow time doesn't become the usual: only what was measured while all was well counts.
func TestHistoryRemembersWhatIsUsual(t *testing.T) {
	l := newLooks()
	l.next(nil)
	usual := l.history.Baseline(watch.DefaultThresholds())
	require.InEpsilon(t, time.Millisecond, usual, 0.25)
	for range 100 {
		require.Equal(t, watch.BackendSlow, l.next(calls(1000, 50*time.Millisecond)).Kind)
	}
	require.Equal(t, usual, l.history.Baseline(watch.DefaultThresholds()))
	require.Equal(t, watch.Busy, l.next(calls(1000, time.Millisecond)).Kind)

	given := watch.DefaultThresholds()
	given.Baseline = time.Minute
	require.Equal(t, time.Minute, l.history.Baseline(given))
	require.Zero(t, new(watch.History).Baseline(watch.DefaultThresholds()), "nothing is known yet")
}

// What stays in use while nothing else happens is quiet since the first look at it, however rare looks are.
func TestHistoryCountsQuietAcrossLooks(t *testing.T) {
	l := newLooks()
	require.Equal(t, watch.Idle, l.next(nil).Kind)
	full := func(s *watch.Sample) { s.Admitted, s.InUse, s.Waiting = 1004, 4, 2 }
	require.NotEqual(t, watch.Stuck, l.next(full).Kind)
	require.Equal(t, watch.Stuck, l.next(func(s *watch.Sample) { s.At = s.At.Add(time.Minute) }).Kind)
	require.Equal(t, watch.Busy, l.next(func(s *watch.Sample) { s.Released, s.InUse, s.Waiting = 1001, 3, 0 }).Kind)
}

// Counts that went back are those of another guard: comparing them would give nonsense.
func TestHistoryBeginsAnewWithAnotherGuard(t *testing.T) {
	l := newLooks()
	for range 3 {
		l.next(calls(1000, time.Millisecond))
	}
	v := l.next(func(s *watch.Sample) { s.Admitted, s.Released, s.Hold = 50, 50, held(50, time.Second) })
	require.Equal(t, watch.Idle, v.Kind, v.Reason)
	require.InEpsilon(t, time.Second, l.history.Baseline(watch.DefaultThresholds()), 0.25)

	// More of everything but in one bucket.
	v = l.next(func(s *watch.Sample) { s.Admitted, s.Released, s.Hold = 9000, 9000, held(9000, time.Millisecond) })
	require.Equal(t, watch.Idle, v.Kind, v.Reason)
	require.InEpsilon(t, time.Millisecond, l.history.Baseline(watch.DefaultThresholds()), 0.25)
}

// Whoever looks for the first time sees at once for how long a guard has been stuck.
func TestHoldersSayForHowLongNothingCameBack(t *testing.T) {
	s := watch.Sample{Component: "lane", Name: "db", At: noon, Limit: 3, InUse: 3, Waiting: 1, Admitted: 3}
	all := []spillway.Holder{{Weight: 2, Age: time.Hour, Site: "main.stall a.go:1"}, {Weight: 1, Age: time.Minute}}
	v := new(watch.History).Judge(watch.Sample{}, s.WithHolders(all, 1), watch.DefaultThresholds())
	require.Equal(t, watch.Stuck, v.Kind, v.Reason)
	require.Contains(t, v.Reason, "1m0s")
	require.Contains(t, v.Reason, "main.stall")
	require.Len(t, s.WithHolders(all, 1).Holders, 1)
	require.Empty(t, s.WithHolders(nil, 1).Holders)
	require.Empty(t, s.WithHolders(all, -1).Holders)

	require.Zero(t, s.WithHolders(all[:1], 1).Quiet, "one permit isn't tracked: it may come and go")
	s.InUse = 2
	require.Zero(t, s.WithHolders(all, 1).Quiet, "one came back just now")
	s.InUse, s.Limit = 3, 2
	require.Zero(t, s.WithHolders(all, 1).Quiet, "one may have come back to a limit that was lowered")
}

// A limit that was lowered isn't stuck while what is over it comes back, though those who hold
// the rest have had it for long.
func TestDrainingToALowerLimitIsNotStuck(t *testing.T) {
	l := newLooks()
	l.now.Hold = spillway.Distribution{}
	l.next(func(s *watch.Sample) { s.Admitted, s.InUse, s.Waiting = 1020, 20, 5 })
	drain := func(s *watch.Sample) {
		s.InUse, s.Released = s.InUse-1, s.Released+1
		all := make([]spillway.Holder, s.InUse)
		for i := range all {
			all[i] = spillway.Holder{Age: time.Minute, Weight: 1}
		}
		*s = s.WithHolders(all, 5)
	}
	for range 5 {
		v := l.next(drain)
		require.Equal(t, watch.Busy, v.Kind, v.Reason)
	}
}
