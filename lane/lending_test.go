//go:build go1.25

package lane_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
)

// lends has lanes that hold briefly borrow of all but normal.
func lends(ceiling int) func(*lane.SetConfig) {
	return func(c *lane.SetConfig) {
		c.Lending = lane.Lending{Brief: 5 * time.Millisecond, Keep: 1, Ceiling: ceiling, NoLend: []string{"normal"}}
	}
}

// briefBulk makes it known that calls of bulk hold briefly, and returns a context for them.
func briefBulk(t testing.TB, s *lane.Set[int]) context.Context {
	t.Helper()
	bulk := spillway.WithClass(t.Context(), spillway.Bulk)
	for range 64 {
		_, err := s.Do(bulk, takes(time.Millisecond))
		require.NoError(t, err)
	}
	return bulk
}

// A lender shows who has borrowed of it, and names nobody else when that takes long.
func TestSetTracksWhoBorrowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held []spillway.Holder
		s := newSet(t, func(c *lane.SetConfig) {
			for i := range c.Lanes {
				c.Lanes[i].Track = spillway.TrackSite
				c.Lanes[i].HoldWarn = time.Second
			}
			c.Lanes[0].Limit = 3
			c.Lanes[0].Hooks = []lane.Hooks{{HeldLong: func(h spillway.Holder) { held = append(held, h) }}}
		}, lends(2))
		bulk := spillway.WithClass(t.Context(), spillway.Bulk)
		critical := spillway.WithClass(t.Context(), spillway.Critical)
		for range 200 {
			_, err := s.Do(critical, nop)
			require.NoError(t, err)
			_, err = s.Do(bulk, takes(time.Millisecond))
			require.NoError(t, err)
		}
		hold(t, s.Lane("bulk"), 2)
		_, err := s.Do(bulk, func(context.Context) (int, error) {
			holders := s.Lane("critical").Holders()
			require.Len(t, holders, 1)
			require.Equal(t, spillway.Bulk, holders[0].Class)
			time.Sleep(time.Minute)
			return 0, nil
		})
		require.NoError(t, err)
		require.Len(t, held, 1)
		require.Equal(t, spillway.Bulk, held[0].Class)
	})
}

// Ghosts that are over make nobody borrow, and keep nobody from lending.
func TestSetLendingForgetsGhostsThatAreOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, lends(2))
		bulk := briefBulk(t, s)
		haunt := func(name string, n int) {
			for range n {
				p, err := s.Lane(name).Admit(t.Context())
				require.NoError(t, err)
				p.ReleaseAfter(time.Millisecond)
			}
			time.Sleep(time.Hour)
		}
		haunt("bulk", 2)
		_, err := s.Do(bulk, nop)
		require.NoError(t, err)
		require.Zero(t, s.Lane("bulk").Stats().BorrowedTotal)
		haunt("critical", 4)
		hold(t, s.Lane("bulk"), 2)
		_, err = s.Do(bulk, nop)
		require.NoError(t, err)
		require.EqualValues(t, 1, s.Lane("bulk").Stats().BorrowedTotal)
	})
}

// G-LAN-7: a lane borrows once enough is known of it; one brief call among long ones
// doesn't make it one that holds briefly.
func TestSetLendsNothingToALaneItDoesNotKnow(t *testing.T) {
	for name, tt := range map[string]struct {
		calls int
		long  time.Duration
		want  uint64
	}{
		"few calls":                 {31, time.Millisecond, 0},
		"enough":                    {32, time.Millisecond, 1},
		"long ones, and one is not": {64, 50 * time.Millisecond, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSet(t, lends(2))
				bulk := spillway.WithClass(t.Context(), spillway.Bulk)
				for i := range tt.calls {
					d := tt.long
					if (i+1)%16 == 0 {
						d = time.Millisecond
					}
					_, err := s.Do(bulk, takes(d))
					require.NoError(t, err)
				}
				hold(t, s.Lane("bulk"), 2)
				_, _ = s.Do(bulk, nop)
				require.Equal(t, tt.want, s.Lane("bulk").Stats().BorrowedTotal)
			})
		})
	}
}

// G-LAN-7: what is borrowed shows how long the lane holds, however few of its own calls
// are timed.
func TestSetStopsLendingToALaneThatHasBecomeSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, lends(2))
		bulk := briefBulk(t, s)
		for _, borrow := range []func() error{
			func() error { _, err := s.Do(bulk, takes(time.Second)); return err },
			func() error {
				p, err := s.Admit(bulk)
				time.Sleep(time.Second)
				p.Release()
				return err
			},
		} {
			release := hold(t, s.Lane("bulk"), 2)
			loans := 0
			for ; borrow() == nil; loans++ {
			}
			require.Positive(t, loans)
			require.Less(t, loans, 50)
			release()
			release()
			for range 2000 { // brief again
				_, err := s.Do(bulk, takes(time.Millisecond))
				require.NoError(t, err)
			}
		}
	})
}

// A permit that was borrowed for work that ends elsewhere counts once, is back with its
// lender and off the borrower's ceiling whoever releases it how often.
func TestSetAdmitBorrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, lends(2))
		bulk := briefBulk(t, s)
		hold(t, s.Lane("bulk"), 2)
		critical, borrower := s.Lane("critical"), s.Lane("bulk")
		for _, end := range []func(spillway.Permit){
			spillway.Permit.Release,
			func(p spillway.Permit) { p.ReleaseWith(spillway.OutcomeOverload) },
			func(p spillway.Permit) { p.ReleaseAfter(time.Second) },
		} {
			p, err := s.Admit(bulk)
			require.NoError(t, err)
			require.Equal(t, 1, borrower.Stats().Borrowed)
			require.Equal(t, 1, critical.Stats().InUse)
			end(p)
			end(p)
			require.Zero(t, borrower.Stats().Borrowed)
			time.Sleep(2 * time.Second)
		}
		require.Equal(t, uint64(1), critical.Stats().Ended.Of(spillway.OutcomeOverload))
		require.Equal(t, uint64(1), critical.Stats().GhostsTotal)
		require.Equal(t, critical.Stats().Admitted, critical.Stats().Ended.Total())
		p, err := s.Admit(t.Context()) // the default lane is free: nothing is borrowed
		require.NoError(t, err)
		require.Equal(t, 1, s.Lane("normal").Stats().InUse)
		p.Release()
		_, err = s.AdmitN(bulk, 2)
		require.ErrorIs(t, err, spillway.ErrBackpressure, "only single permits are borrowed")
	})
}

// Admit goes where Do goes.
func TestSetAdmitRoutes(t *testing.T) {
	s := newSet(t)
	for _, ctx := range []context.Context{t.Context(), spillway.WithClass(t.Context(), spillway.Critical), s.Into(t.Context(), "bulk")} {
		p, err := s.AdmitN(ctx, 2)
		require.NoError(t, err)
		p.Release()
	}
	require.Equal(t, map[string]uint64{"critical": 1, "normal": 1, "bulk": 1}, admittedBy(s))
	_, err := s.Admit(s.Into(t.Context(), "blk"))
	var unknown *lane.UnknownLaneError
	require.ErrorAs(t, err, &unknown)
	var zero lane.Set[int]
	_, err = zero.Admit(t.Context())
	require.ErrorIs(t, err, spillway.ErrClosed)
}

// B22: a call that runs with a borrowed permit holds one of the lender's, and stands for
// one of its own lane: from within it neither may be entered again, and nothing more is
// borrowed of a lane that it holds a permit of.
func TestSetLendingFindsNestedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, func(c *lane.SetConfig) {
			for i := range c.Lanes {
				c.Lanes[i].DetectNested = true
			}
		}, lends(9))
		bulk := func(ctx context.Context) context.Context { return spillway.WithClass(ctx, spillway.Bulk) }
		critical := func(ctx context.Context) context.Context { return spillway.WithClass(ctx, spillway.Critical) }
		briefBulk(t, s)
		var nested *spillway.NestedError
		release := hold(t, s.Lane("bulk"), 1)
		_, err := s.Do(bulk(t.Context()), func(ctx context.Context) (int, error) {
			return s.Do(bulk(ctx), nop) // its lane is full now, and another has permits
		})
		require.ErrorAs(t, err, &nested, "within its own lane")
		require.Equal(t, "db/bulk", nested.Name)

		hold(t, s.Lane("bulk"), 1)
		for name, class := range map[string]func(context.Context) context.Context{"bulk": bulk, "critical": critical} {
			_, err := s.Do(bulk(t.Context()), func(ctx context.Context) (int, error) {
				require.Equal(t, 1, s.Lane("bulk").Stats().Borrowed)
				return s.Do(class(ctx), nop)
			})
			require.ErrorAs(t, err, &nested, "with a borrowed permit into %s", name)
			require.Equal(t, "db/"+name, nested.Name)
		}
		_, err = s.Do(critical(t.Context()), func(ctx context.Context) (int, error) {
			return s.Do(bulk(ctx), nop) // which finds bulk full, and critical behind itself
		})
		require.Equal(t, spillway.ReasonLimit, reasonOf(t, err), "bulk has no permit")
		require.EqualValues(t, 2, s.Lane("bulk").Stats().Invalid)
		require.EqualValues(t, 1, s.Lane("critical").Stats().Invalid)
		require.EqualValues(t, 2, s.Lane("bulk").Stats().BorrowedTotal)

		_, err = s.Do(critical(t.Context()), func(ctx context.Context) (int, error) {
			require.NoError(t, s.Lane("critical").SetMode(spillway.Off))
			return s.Do(critical(ctx), nop) // the kill switch asks nothing
		})
		require.NoError(t, err)
		release()
	})
}

// A12: a context that panics, or exits, when it is asked costs no permit and no place
// under the ceiling.
func TestSetLendingSurvivesTheContextsOwnCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, func(c *lane.SetConfig) {
			for i := range c.Lanes {
				c.Lanes[i].DetectNested, c.Lanes[i].Track = true, spillway.TrackSite
			}
			c.Lending = lane.Lending{Brief: 5 * time.Millisecond, Keep: 1, Ceiling: 2}
		})
		bulk := briefBulk(t, s)
		hold(t, s.Lane("bulk"), 2)
		for nth := range 20 {
			asked := 0
			ctx := curious{bulk, func() {
				if asked++; asked == nth {
					panic("a context's own")
				}
			}}
			func() {
				defer func() { _ = recover() }()
				_, err := s.Do(ctx, nop)
				require.NoError(t, err)
			}()
		}
		for _, st := range s.Stats() {
			require.Zero(t, st.Borrowed, st.Name)
		}
		require.Zero(t, s.Lane("critical").Stats().InUse)
		require.Positive(t, s.Lane("critical").Stats().Lent)
	})
}

// A12, G-LIM-10: a meter of the lender's that ends the goroutine of the borrower costs
// neither a permit nor a place under the ceiling.
func TestSetLendingSurvivesAMeterThatExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, lends(1))
		bulk := briefBulk(t, s)
		hold(t, s.Lane("bulk"), 2)
		critical := s.Lane("critical")
		require.NoError(t, critical.SetMeter(leaver{}, 1))
		for _, call := range []func(){
			func() { _, _ = s.Do(bulk, nop) },
			func() { _, _ = s.Admit(bulk) },
		} {
			over := make(chan struct{})
			go func() { defer close(over); call() }()
			<-over
			require.Zero(t, critical.Stats().InUse)
			require.Zero(t, s.Lane("bulk").Stats().Borrowed)
		}
		require.EqualValues(t, 2, critical.Stats().Aborted)
	})
}

// leaver is a meter that ends the goroutine of every call.
type leaver struct{}

func (leaver) Begin(context.Context, time.Duration) uint8 { runtime.Goexit(); return 0 }
func (leaver) Full(time.Duration)                         {}
func (leaver) End(spillway.Sample)                        {}

// curious is a context that looks on whenever it is asked for a value.
type curious struct {
	context.Context
	look func()
}

func (c curious) Value(key any) any { c.look(); return c.Context.Value(key) }

// A call whose wait nothing would bound is wrong also where it could borrow.
func TestSetLendsNothingToACallThatCouldWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, lends(2), func(c *lane.SetConfig) {
			c.Lanes[2].MaxWaiting, c.Lanes[2].MaxWait = 1, 0
		})
		bounded, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		bulk := spillway.WithClass(bounded, spillway.Bulk)
		for range 64 {
			_, err := s.Do(bulk, takes(time.Millisecond))
			require.NoError(t, err)
		}
		_, err := s.Do(bulk, func(ctx context.Context) (int, error) {
			return s.Do(bulk, func(ctx context.Context) (int, error) {
				_, err := s.Do(bulk, nop)
				require.NoError(t, err)
				require.EqualValues(t, 1, s.Lane("bulk").Stats().BorrowedTotal)
				_, err = s.Do(spillway.WithClass(t.Context(), spillway.Bulk), nop)
				var wrong *spillway.ConfigError
				require.ErrorAs(t, err, &wrong)
				_, err = s.Admit(spillway.WithClass(t.Context(), spillway.Bulk))
				require.ErrorAs(t, err, &wrong)
				return 0, nil
			})
		})
		require.NoError(t, err)
	})
}

// G-LAN-7, G-LAN-9: a lane that is paced neither borrows, which would undo the pace, nor
// lends; without the pace it does both again.
func TestSetLendingKeepsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, func(c *lane.SetConfig) {
			c.Lending = lane.Lending{Brief: 5 * time.Millisecond, Keep: 1, Ceiling: 8}
		})
		critical := spillway.WithClass(t.Context(), spillway.Critical)
		bulk := spillway.WithClass(t.Context(), spillway.Bulk)
		for range 64 {
			for _, ctx := range []context.Context{bulk, critical} {
				_, err := s.Do(ctx, takes(time.Millisecond))
				require.NoError(t, err)
			}
		}
		require.NoError(t, s.Lane("bulk").SetPace(time.Second))
		_, err := s.Do(bulk, nop)
		require.Equal(t, spillway.ReasonPaced, reasonOf(t, err), "in the gap")
		time.Sleep(time.Second)
		_, err = s.Do(bulk, func(context.Context) (int, error) {
			_, err := s.Do(bulk, nop)
			require.Equal(t, spillway.ReasonLimit, reasonOf(t, err), "while one is under way")
			_, err = s.Admit(bulk)
			require.Equal(t, spillway.ReasonLimit, reasonOf(t, err))
			return 0, nil
		})
		require.NoError(t, err)
		time.Sleep(time.Second)
		hold(t, s.Lane("normal"), 4)
		hold(t, s.Lane("critical"), 4)
		_, err = s.Do(critical, nop)
		require.Equal(t, spillway.ReasonLimit, reasonOf(t, err), "bulk could be, but lends nothing")
		require.NoError(t, s.Lane("bulk").SetPace(0))
		_, err = s.Do(critical, nop)
		require.NoError(t, err)
		require.EqualValues(t, 1, s.Lane("bulk").Stats().Lent)
		for _, st := range s.Stats() {
			require.Zero(t, st.Borrowed, st.Name)
		}
		require.Zero(t, s.Lane("bulk").Stats().BorrowedTotal)
	})
}
