//go:build go1.25

package permit_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/internal/permit"
)

// book is a meter that writes down what it is told.
type book struct {
	mu    sync.Mutex
	label uint8
	began []time.Duration
	full  []time.Duration
	ended []spillway.Sample
	panic bool
}

func (b *book) Begin(_ context.Context, at time.Duration) uint8 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.panic {
		panic("begin")
	}
	b.began = append(b.began, at)
	return b.label
}

func (b *book) Full(at time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.panic {
		panic("full")
	}
	b.full = append(b.full, at)
}

func (b *book) End(s spillway.Sample) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.panic {
		panic("end")
	}
	b.ended = append(b.ended, s)
}

// G-LIM-10: a meter is told of each call that ends, in every way to end, with its label, its
// time, and what was in use; but not of one that it wasn't there for, tracked or not.
func TestMeterIsToldHowEachCallEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, track := range []spillway.Track{spillway.TrackOff, spillway.TrackSite} {
			b := &book{label: 15}
			c := newCore(permit.Options{Limit: 10, Track: track})
			before := enter(t, c, 1)
			require.NoError(t, c.SetMeter(b, 1))
			c.Leave(before, spillway.OutcomeOK)
			require.Empty(t, b.ended)
			use, abort := enter(t, c, 2), enter(t, c, 1)
			p, err := c.Admit(t.Context(), 3)
			require.NoError(t, err)
			b.label = 4
			ghost, err := c.Admit(t.Context(), 4)
			require.NoError(t, err)
			time.Sleep(time.Millisecond)
			c.Leave(use, spillway.OutcomeOverload)
			c.Abort(abort)
			p.ReleaseWith(spillway.Outcome(200))
			time.Sleep(time.Millisecond)
			ghost.ReleaseAfter(time.Second)
			ghost.Release()
			require.Len(t, b.began, 4)
			require.Len(t, b.ended, 4)
			for i, want := range []spillway.Sample{
				{InUse: 10, Weight: 2, Outcome: spillway.OutcomeOverload, Label: 15, Took: time.Millisecond},
				{InUse: 8, Weight: 1, Outcome: spillway.OutcomeLocal, Label: 15, Took: time.Millisecond},
				{InUse: 7, Weight: 3, Outcome: spillway.OutcomeUnknown, Label: 15, Took: time.Millisecond},
				{InUse: 4, Weight: 4, Outcome: spillway.OutcomeTimeout, Label: 4, Took: 2 * time.Millisecond},
			} {
				got := b.ended[i]
				require.InDelta(t, want.Took, got.Took, 32)
				require.InDelta(t, b.began[0]+want.Took, got.At, 32)
				want.Took, want.At = got.Took, got.At
				require.Equal(t, want, got)
			}
		}
	})
}

// G-LIM-10: it is told of who comes to wait, and of every eighth who is refused for want
// of room.
func TestMeterIsToldThatThereIsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		c := newCore(permit.Options{MaxWait: time.Second})
		require.NoError(t, c.SetMeter(b, 1))
		u := enter(t, c, 1)
		for range 16 {
			refusedFor(t, c, spillway.ReasonLimit)
		}
		require.Len(t, b.full, 2)
		w := wait(c, 1, 1)
		require.Len(t, b.full, 3)
		c.Leave(u, spillway.OutcomeOK)
		w.requireAdmitted(t)
		w.leave()
		require.Len(t, b.began, 2, "who waited is begun when it is admitted")
		require.NoError(t, c.SetMode(spillway.RefuseAll))
		for range 16 {
			refusedFor(t, c, spillway.ReasonRefuseAll)
		}
		require.Len(t, b.full, 3, "that is no want of room")
	})
}

// G-LIM-10: one in so many is measured, however many are tracked; nobody is after SetMeter(nil).
func TestMeterMeasuresOneInSoMany(t *testing.T) {
	for _, track := range []spillway.Track{spillway.TrackOff, spillway.TrackSite} {
		testMeterMeasuresOneInSoMany(t, track)
	}
}

func testMeterMeasuresOneInSoMany(t *testing.T, track spillway.Track) {
	b := &book{label: 99}
	c := newCore(permit.Options{Limit: 2, Track: track})
	call := func(n int) {
		for range n {
			c.Leave(enter(t, c, 1), spillway.OutcomeOK)
		}
	}
	require.NoError(t, c.SetMeter(b, 8))
	call(64)
	require.Len(t, b.ended, 8)
	require.Zero(t, b.ended[0].Label, "a label that there isn't")
	require.NoError(t, c.SetMeter(b, 1))
	call(3)
	require.Len(t, b.ended, 11)
	for _, every := range []int{0, -1, 3, 2048} {
		require.ErrorContains(t, c.SetMeter(b, every), "Every is")
	}
	u := enter(t, c, 1)
	require.NoError(t, c.SetMeter(nil, 0))
	c.Leave(u, spillway.OutcomeOK)
	call(3)
	require.Len(t, b.ended, 11)
	requireWhole(t, c)
}

// G-LIM-10: a meter that panics harms neither the call nor the core.
func TestMeterThatPanicsHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{MaxWait: time.Second})
		require.NoError(t, c.SetMeter(&book{panic: true}, 1))
		u := enter(t, c, 1)
		for range 8 {
			refusedFor(t, c, spillway.ReasonLimit)
		}
		w := wait(c, 1, 1)
		c.Leave(u, spillway.OutcomeOK)
		w.requireAdmitted(t)
		w.leave()
		p, err := c.Admit(t.Context(), 1)
		require.NoError(t, err)
		p.Release()
		requireWhole(t, c)
	})
}

// manyFaced is a meter that can't be compared.
type manyFaced struct {
	nothing
	faces []int
}

// G-LIM-10: a meter may be of any type, and be set again.
func TestMeterMayBeOfATypeThatCannotBeCompared(t *testing.T) {
	c := newCore(permit.Options{})
	for _, every := range []int{1, 2, 2} {
		require.NoError(t, c.SetMeter(manyFaced{faces: []int{every}}, every))
	}
	requireWhole(t, c)
}

// nothing is a meter that does nothing.
type nothing struct{}

func (nothing) Begin(context.Context, time.Duration) uint8 { return 3 }
func (nothing) Full(time.Duration)                         {}
func (nothing) End(spillway.Sample)                        {}

// G-LIM-6: measuring allocates nothing.
func TestMeterAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	c := newCore(permit.Options{Limit: 1})
	require.NoError(t, c.SetMeter(nothing{}, 1))
	for name, f := range map[string]func(){
		"call": func() {
			u, err := c.Enter(ctx, 1)
			if err != nil {
				t.Error(err)
			}
			c.Leave(u, spillway.OutcomeOK)
		},
		"permit": func() {
			p, err := c.Admit(ctx, 1)
			if err != nil {
				t.Error(err)
			}
			p.Release()
		},
		"refusal": func() {
			u, _ := c.Enter(ctx, 1)
			for range 8 {
				if _, err := c.Enter(ctx, 1); err == nil {
					t.Error("admitted")
				}
			}
			c.Leave(u, spillway.OutcomeOK)
		},
	} {
		if allocs := testing.AllocsPerRun(100, f); !invariant.Enabled {
			require.Zero(t, allocs, name)
		}
	}
}

// Of calls that have waited four times as many are timed; a meter gets as many as it asks for.
func TestCoreTimesMoreOfTheCallsThatHaveWaited(t *testing.T) {
	for name, tt := range map[string]struct {
		waits bool
		meter spillway.Meter
		want  uint64
	}{
		"none waits": {false, nil, 512 / 64},
		// Every second admission is one that has waited, and no other is ever a sample.
		"half of them wait": {true, nil, 1024 / 16},
		"with a meter":      {true, nothing{}, 1024 / 64},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCore(permit.Options{Sample: 64, Room: 1, MaxWait: time.Second})
				if tt.meter != nil {
					require.NoError(t, c.SetMeter(tt.meter, 64))
				}
				for range 512 {
					var held permit.Use
					if tt.waits {
						held = enter(t, c, 1)
					}
					go func() {
						_, err := permit.Do(t.Context(), c, 1, func(context.Context) (int, error) { return 0, nil })
						require.NoError(t, err)
					}()
					synctest.Wait()
					if tt.waits {
						c.Leave(held, spillway.OutcomeOK)
						synctest.Wait()
					}
				}
				require.Equal(t, tt.want, c.Stats().Hold.Count)
			})
		})
	}
}

// A core that estimates times its first calls, all of them, and takes what they say for
// what a call needs; then one in Sample, also after a meter.
func TestCoreTimesItsFirstCallsToKnowThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{Limit: 4, Sample: 16, Estimate: true})
		calls := func(n int, d time.Duration) (timed uint64) {
			before := c.Stats().Hold.Count
			for range n {
				u, err := c.Enter(t.Context(), 1)
				require.NoError(t, err)
				time.Sleep(d)
				c.Leave(u, spillway.OutcomeOK)
			}
			return c.Stats().Hold.Count - before
		}
		require.EqualValues(t, 1, calls(1, time.Hour), "connects, say")
		require.EqualValues(t, 2, calls(2, time.Millisecond))
		require.False(t, c.Brief(24*time.Hour), "three calls are no knowledge")
		require.NoError(t, c.SetMeter(nothing{}, 16))
		require.EqualValues(t, 1, calls(13, time.Millisecond), "the meter says how many")
		require.NoError(t, c.SetMeter(nil, 0))
		require.EqualValues(t, 28, calls(28, time.Millisecond))
		require.True(t, c.Brief(2*time.Millisecond), "the first is forgotten: %v", c.Service())
		require.EqualValues(t, 10, calls(160, time.Millisecond))
		require.NoError(t, c.SetMeter(nothing{}, 1))
		require.EqualValues(t, 16, calls(16, time.Millisecond))
		require.NoError(t, c.SetMeter(nil, 0))
		require.EqualValues(t, 10, calls(160, time.Millisecond))
	})
}
