//go:build go1.25

package group_test

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/group"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
)

// members counts the goroutines of members, those on their way out included. The number
// that the runtime gives is off by dozens while many of them end.
func members() int32 {
	buf := make([]byte, 1<<20)
	return int32(bytes.Count(buf[:runtime.Stack(buf, true)], []byte("group.(*crew).run(")))
}

// G-GRP-1, G-GRP-7; R33, R38: a lane, and a limiter of its own, let as many run as they
// have permits, and the sequence is read no faster.
func TestEachRunsAsManyAsThereArePermits(t *testing.T) {
	for name, admission := range map[string]func(*testing.T) group.Admission{
		"lane":    func(t *testing.T) group.Admission { return newLane(t, 20) },
		"limiter": func(t *testing.T) group.Admission { return newLimiter(t, 20) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now, peak, goroutines atomic.Int32
				start := time.Now()
				stats, err := group.Each(t.Context(), admission(t), group.Config{}, count(2000), func(_ context.Context, i int) error {
					raise(&peak, now.Add(1))
					defer now.Add(-1)
					if i%50 == 0 {
						raise(&goroutines, members())
					}
					time.Sleep(time.Second)
					return nil
				})
				require.NoError(t, err)
				require.EqualValues(t, 2000, stats.Succeeded())
				require.EqualValues(t, 20, peak.Load())
				require.LessOrEqual(t, goroutines.Load(), int32(20+8+4), "those with a permit, and a few on their way out")
				require.InDelta(t, 100, time.Since(start).Seconds(), 2)
				requireConserved(t, stats)
			})
		})
	}
}

// E12: an empty sequence is no work and no error.
func TestEachWithoutItems(t *testing.T) {
	stats, err := group.Each(t.Context(), newLimiter(t, 1), group.Config{}, count(0), func(context.Context, int) error { return nil })
	require.NoError(t, err)
	require.Zero(t, stats)
	for range group.Map(t.Context(), newLimiter(t, 1), group.Config{}, count(0), func(context.Context, int) (int, error) { return 0, nil }) {
		t.Fatal("nothing comes of nothing")
	}
}

// G-GRP-6, R142: a done context ends the run after the item that met it, and the error says so.
func TestEachEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		read := 0
		seq := func(yield func(int) bool) {
			for i := 0; yield(i); i++ {
				read++
			}
		}
		stats, err := group.Each(ctx, newLane(t, 2), group.Config{}, seq, func(ctx context.Context, _ int) error {
			select {
			case <-time.After(2 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, read, 6, "an endless sequence wasn't read on")
		require.EqualValues(t, 2, stats.Succeeded())
		require.EqualValues(t, 1, stats.Refused)
		requireConserved(t, stats)
	})
}

// E22, T-17: with CancelOnError the first failure ends the run; without it nothing does.
func TestEachFirstFailureEndsTheRun(t *testing.T) {
	for _, cancels := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			cfg := group.Config{Name: "import", CancelOnError: cancels}
			stats, err := group.Each(t.Context(), newLane(t, 4), cfg, count(1000), func(_ context.Context, i int) error {
				time.Sleep(time.Second)
				if i%10 == 9 {
					panic(errMember)
				}
				return nil
			})
			require.ErrorIs(t, err, errMember)
			requireConserved(t, stats)
			if cancels {
				require.Less(t, stats.Submitted, uint64(20))
				require.ErrorContains(t, err, `group "import": 1 of `)
				return
			}
			require.EqualValues(t, 1000, stats.Submitted)
			require.EqualValues(t, 100, stats.Aborted)
			var e *group.Error
			require.ErrorAs(t, err, &e)
			require.Len(t, e.Unwrap(), 32, "a run of millions keeps the first failures only")
		})
	}
}

// R142: a refusal is no outcome while items are under way; when none is, it is.
func TestEachAsksAgainWhenAnItemHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 3)
		others, err := l.AdmitN(t.Context(), 2)
		require.NoError(t, err)
		stats, err := group.Each(t.Context(), l, group.Config{}, count(10), func(context.Context, int) error {
			time.Sleep(time.Second)
			return nil
		})
		require.NoError(t, err, "one permit was left, and nothing was lost")
		require.EqualValues(t, 10, stats.Succeeded())

		last, err := l.Admit(t.Context())
		require.NoError(t, err)
		stats, err = group.Each(t.Context(), l, group.Config{}, count(10), func(context.Context, int) error { return nil })
		require.ErrorIs(t, err, spillway.ErrBackpressure)
		require.EqualValues(t, 10, stats.Refused)
		require.Equal(t, spillway.OutcomeLocal, spillway.OutcomeOf(err), "nothing was sent")
		others.Release()
		last.Release()
	})
}

// An admission's error that would meet every item ends the run: closed, or misconfigured.
func TestEachEndsWhenItsAdmissionIsClosed(t *testing.T) {
	l := newLimiter(t, 1)
	require.NoError(t, l.Close(t.Context()))
	stats, err := group.Each(t.Context(), l, group.Config{}, count(1_000_000_000), func(context.Context, int) error { return nil })
	require.ErrorIs(t, err, spillway.ErrClosed)
	require.EqualValues(t, 1, stats.Submitted)

	unbounded, err := lane.New[int](lane.Config{Name: "x", Limit: 1, MaxWaiting: 1})
	require.NoError(t, err)
	var faults *spillway.ConfigError
	for _, r := range group.Map(t.Context(), unbounded, group.Config{}, count(1_000_000_000), func(context.Context, int) (int, error) { return 0, nil }) {
		require.ErrorAs(t, r.Err, &faults)
	}
}

// G-GRP-2: a sequence that panics, or exits, leaves nobody behind.
func TestEachSequenceThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(t, 2)
		seq := func(yield func(int) bool) { yield(1); yield(2); panic("boom") }
		require.PanicsWithValue(t, "boom", func() {
			_, _ = group.Each(t.Context(), l, group.Config{}, seq, func(ctx context.Context, _ int) error {
				_, err := untilDone(ctx)
				return err
			})
		})
		require.PanicsWithValue(t, "boom", func() {
			for range group.Map(t.Context(), l, group.Config{}, seq, func(ctx context.Context, _ int) (int, error) { return untilDone(ctx) }) {
				t.Fatal("all wait until they are cancelled")
			}
		})
		require.Zero(t, l.Stats().InUse)
	})
}

// G-GRP-5; T-11: Map yields each item with its result, as they end, and the errors too.
func TestMapYieldsEveryItemAsItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []int
		for in, r := range group.Map(t.Context(), newLimiter(t, 5), group.Config{}, count(5), func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Duration(5-i) * time.Second)
			if i == 2 {
				return 0, errMember
			}
			return i * i, nil
		}) {
			require.True(t, r.Started)
			if in == 2 {
				require.ErrorIs(t, r.Err, errMember)
			} else {
				require.Equal(t, in*in, r.Value)
			}
			order = append(order, in)
		}
		require.Equal(t, []int{4, 3, 2, 1, 0}, order)
	})
}

// G-GRP-7; T-12: results come early, a slow consumer slows the sequence, and no more are
// on the way than permits.
func TestMapIsSlowedByItsConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, first, got := 0, 0, 0
		seq := func(yield func(int) bool) {
			for i := range 1000 {
				read++
				if !yield(i) {
					return
				}
			}
		}
		for range group.Map(t.Context(), newLane(t, 10), group.Config{}, seq, func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Second)
			return i, nil
		}) {
			if got++; got == 1 {
				first = read
			}
			require.LessOrEqual(t, read-got, 12)
			time.Sleep(time.Second)
		}
		require.Equal(t, 1000, got)
		require.LessOrEqual(t, first, 12)
	})
}

// G-GRP-2, T-13: a consumer that breaks off cancels what is under way, and sees it end.
func TestMapBrokenOffLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, l := range []interface {
			group.Admission
			Stats() limiter.Stats
		}{newLimiter(t, 4)} {
			ended := atomic.Int32{}
			n := 0
			for range group.Map(t.Context(), l, group.Config{}, count(1000), func(ctx context.Context, i int) (int, error) {
				defer ended.Add(1)
				if i > 10 {
					_, err := untilDone(ctx)
					time.Sleep(time.Second) // takes a while to notice
					return 0, err
				}
				return i, nil
			}) {
				if n++; n == 5 {
					break
				}
			}
			require.Equal(t, 5, n)
			require.Zero(t, l.Stats().InUse)
			require.EqualValues(t, l.Stats().Admitted, ended.Load(), "whatever was admitted was seen to its end, or never began")
		}
	})
}

// P4: a consumer that panics or exits in the middle of the loop leaves nobody behind.
func TestMapConsumerThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		require.PanicsWithValue(t, "boom", func() {
			for range group.Map(t.Context(), l, group.Config{}, count(9), func(context.Context, int) (int, error) { return 1, nil }) {
				panic("boom")
			}
		})
		require.Zero(t, l.Stats().InUse)
	})
}

// G-GRP-5: items that aren't started are yielded with the reason, those that are refused and the
// one that ends the run.
func TestMapYieldsWhatIsNotStarted(t *testing.T) {
	l := newLimiter(t, 1)
	held, err := l.Admit(t.Context())
	require.NoError(t, err)
	results := map[int]error{}
	for in, r := range group.Map(t.Context(), l, group.Config{}, slices.Values([]int{1, 2, 3}), func(context.Context, int) (int, error) { return 0, nil }) {
		require.False(t, r.Started)
		results[in] = r.Err
		if in == 2 {
			held.Release()
			require.NoError(t, l.Close(t.Context()))
		}
	}
	require.Len(t, results, 3)
	require.ErrorIs(t, results[1], spillway.ErrBackpressure)
	require.ErrorIs(t, results[2], spillway.ErrBackpressure)
	require.ErrorIs(t, results[3], spillway.ErrClosed)
}

// Each range over a Map is a run of its own.
func TestMapCanBeRangedOverAgain(t *testing.T) {
	squares := group.Map(t.Context(), newLimiter(t, 1), group.Config{}, count(3), func(_ context.Context, i int) (int, error) { return i * i, nil })
	for range 2 {
		var got []int
		for _, r := range squares {
			require.NoError(t, r.Err)
			got = append(got, r.Value)
		}
		require.Equal(t, []int{0, 1, 4}, slices.Sorted(slices.Values(got)))
	}
}

// E24, L-22: what is nil or wrong is named, and nothing is read.
func TestEachAndMapNameTheirFaults(t *testing.T) {
	_, err := group.Each[int](t.Context(), newLimiter(t, 1), group.Config{}, nil, nil)
	require.ErrorContains(t, err, "seq is")
	require.ErrorContains(t, err, "fn is")
	read := func(func(int) bool) { t.Fatal("read") }
	n := 0
	for _, r := range group.Map(t.Context(), nil, group.Config{MemberTimeout: -1}, read, func(context.Context, int) (int, error) { return 0, nil }) {
		require.ErrorContains(t, r.Err, "admission is")
		n++
	}
	require.Equal(t, 1, n)
}

// G-GRP-1, G-GRP-7: under the race detector, with others at the same limiter.
func TestEachConcurrentSafe(t *testing.T) {
	l := newLimiter(t, 4)
	var now, peak atomic.Int32
	total := make(chan uint64, 3)
	for range 3 {
		go func() {
			stats, _ := group.Each(context.Background(), l, group.Config{}, count(500), func(_ context.Context, i int) error {
				raise(&peak, now.Add(1))
				defer now.Add(-1)
				if i%100 == 0 {
					panic(i)
				}
				return nil
			})
			total <- stats.Started() + stats.Refused
		}()
	}
	for range 3 {
		require.EqualValues(t, 500, <-total)
	}
	require.LessOrEqual(t, peak.Load(), int32(4))
	require.Zero(t, l.Stats().InUse)
}

// G-GRP-7: nothing is kept of what has ended, whatever became of it: behind twenty thousand
// items of 1 KB the heap is as it was behind a thousand.
func TestEachAndMapKeepNothingOfWhatHasEnded(t *testing.T) {
	const items = 20_000
	var before, after runtime.MemStats
	seq := func(yield func(*item) bool) {
		for i := range items {
			if i == 1000 {
				runtime.GC()
				runtime.ReadMemStats(&before)
			}
			if !yield(&item{bad: i%3 == 0}) {
				return
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
	}
	work := func(_ context.Context, i *item) (*item, error) {
		if i.bad {
			return i, i
		}
		return i, nil
	}
	for name, run := range map[string]func(){
		"each": func() {
			_, err := group.Each(t.Context(), newLane(t, 4), group.Config{}, seq, func(ctx context.Context, i *item) error {
				_, err := work(ctx, i)
				return err
			})
			require.Error(t, err)
		},
		"map": func() {
			n := 0
			for _, r := range group.Map(t.Context(), newLane(t, 4), group.Config{}, seq, work) {
				if n++; r.Err != nil {
					require.Same(t, r.Value, r.Err)
				}
			}
			require.Equal(t, items, n)
		},
	} {
		run()
		require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(1<<20), name)
	}
}

// item is a kilobyte, and its own failure.
type item struct {
	_   [1024]byte
	bad bool
}

func (*item) Error() string { return "bad item" }
