package permit_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/internal/permit"
	"github.com/spillway-go/spillway/internal/permit/permittest"
)

// bounded returns a context that ends long after a test that works, so that a lost
// wake-up fails the test and doesn't hang it.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// worker runs the functions it is sent, one after the other, and answers each on
// the channel it returns.
func worker(t *testing.T) (do chan<- func(), done <-chan struct{}) {
	work, answers := make(chan func()), make(chan struct{})
	t.Cleanup(func() { close(work) })
	go func() {
		for f := range work {
			f()
			answers <- struct{}{}
		}
	}()
	return work, answers
}

// spin takes a little while, in which no goroutine gives way.
func spin(n int) {
	var turns atomic.Int64
	for range n {
		turns.Add(1)
	}
}

// againstGrant is how often, for each kind of thing that can happen to a waiter, it happens
// in the very moment of a grant: a hundred thousand times in one run of the five tests.
const againstGrant = 20_000

// race has a waiter granted its permits in the moment in which disturb does something to
// it, again and again, and returns how often it got an error instead, which ok must know.
// Each time begins with all permits of c out.
func race(t *testing.T, c *permit.Core, disturb func(round int, cancel context.CancelFunc), ok func(error) bool) (errs int) {
	release, released := worker(t)
	disturbing, disturbed := worker(t)
	grants := 0
	for round := range againstGrant {
		u := enter(t, c, c.Limit())
		ctx, cancel := context.WithCancel(context.Background())
		release <- func() { spin(round % 97); c.Leave(u, spillway.OutcomeOK) }
		disturbing <- func() { spin(round % 89); disturb(round, cancel) }
		w, err := c.Wait(ctx, 1+round%3, 1)
		<-released
		<-disturbed
		cancel()
		if err == nil {
			grants++
			c.Leave(w, spillway.OutcomeOK)
		} else {
			errs++
			require.True(t, ok(err), "%v", err)
		}
		require.NoError(t, c.SetLimit(3))
		require.NoError(t, c.SetMode(spillway.Enforce))
		require.Zero(t, c.Stats().InUse)
	}
	require.Positive(t, grants)
	require.Positive(t, errs)
	requireWhole(t, c)
	return errs
}

// A2, B23, B26, B27.
func TestQueueStressGrantAgainstCancelLosesNoPermit(t *testing.T) {
	c := newCore(permit.Options{Limit: 3})
	cancels := race(t, c, func(_ int, cancel context.CancelFunc) { cancel() }, func(err error) bool { return errors.Is(err, context.Canceled) })
	require.EqualValues(t, cancels, c.Stats().Canceled)
}

// A2, B26.
func TestQueueStressGrantAgainstTimeoutLosesNoPermit(t *testing.T) {
	c := newCore(permit.Options{Limit: 3, MaxWait: 10 * time.Microsecond})
	timeouts := race(t, c, func(round int, _ context.CancelFunc) { spin(round % 97 * 8) }, isRefusal)
	require.EqualValues(t, timeouts, c.Stats().Refused.Of(spillway.ReasonMaxWait))
}

// B14, B23, B27, R16: the limit falls below what the waiter wants, and rises.
func TestQueueStressGrantAgainstResizeLosesNoPermit(t *testing.T) {
	c := newCore(permit.Options{Limit: 3})
	shrunk := race(t, c, func(round int, _ context.CancelFunc) { _ = c.SetLimit(1 + round%5) }, func(err error) bool {
		var weight *spillway.WeightError // it came after the resize
		return isRefusal(err) || errors.As(err, &weight)
	})
	require.EqualValues(t, shrunk, c.Stats().Refused.Of(spillway.ReasonLimitShrunk)+c.Stats().Invalid)
}

// B27, R32: whoever waits is sent away, or let in uncounted, or over the limit.
func TestQueueStressGrantAgainstModeLosesNoPermit(t *testing.T) {
	c := newCore(permit.Options{Limit: 3})
	refused := race(t, c, func(round int, _ context.CancelFunc) { _ = c.SetMode(spillway.Mode(1 + round%3)) }, isRefusal)
	require.EqualValues(t, refused, c.Stats().Refused.Of(spillway.ReasonRefuseAll))
}

func isRefusal(err error) bool { return errors.Is(err, spillway.ErrBackpressure) }

// B27, F2: the triangle of grant, cancel and close.
func TestQueueStressGrantAgainstCancelAgainstCloseLeavesNothing(t *testing.T) {
	release, released := worker(t)
	cancelling, cancelled := worker(t)
	closing, closed := worker(t)
	outcomes := map[string]int{}
	for round := range againstGrant {
		c := newCore(permit.Options{Limit: 2})
		u := enter(t, c, 2)
		ctx, cancel := context.WithCancel(context.Background())
		release <- func() { spin(round % 97); c.Leave(u, spillway.OutcomeOK) }
		cancelling <- func() { spin(round % 89 * 2); cancel() }
		closing <- func() {
			spin(round % 83)
			if err := c.Close(context.Background()); err != nil {
				panic(err)
			}
		}
		w, err := c.Wait(ctx, 1, 2)
		if err == nil {
			c.Leave(w, spillway.OutcomeOK)
		} else if !errors.Is(err, spillway.ErrClosed) {
			require.ErrorIs(t, err, context.Canceled)
		}
		outcomes[permittest.TextOf(err)]++
		<-released
		<-cancelled
		<-closed
		requireWhole(t, c)
		_, err = c.Enter(t.Context(), 1)
		require.ErrorIs(t, err, spillway.ErrClosed)
	}
	for _, how := range []string{"ok", "canceled", "closed"} {
		require.Positive(t, outcomes[how], how)
	}
}

// B1, B3: there is one permit, and nothing but its release wakes anybody.
func TestQueueStressReleaseBetweenTryAndWaitIsNotLost(t *testing.T) {
	ctx := bounded(t)
	c := newCore(permit.Options{})
	hammer.Together(4, func(int) {
		for range 5_000 {
			u, err := c.Wait(ctx, 1, 4)
			require.NoError(t, err)
			c.Leave(u, spillway.OutcomeOK)
		}
	})
	requireWhole(t, c)
}

// B1, B3: as before, where the newest is served first, and so may be at its arrival.
func TestQueueStressReleaseBetweenTryAndWaitOfTheNewest(t *testing.T) {
	ctx := bounded(t)
	c := newCore(permit.Options{Newest: true})
	release, released := worker(t)
	for round := range 10_000 {
		u := enter(t, c, 1)
		release <- func() { spin(round % 41); c.Leave(u, spillway.OutcomeOK) }
		spin(round % 37)
		w, err := c.Wait(ctx, 1, 4)
		<-released
		require.NoError(t, err)
		c.Leave(w, spillway.OutcomeOK)
		require.Empty(t, c.Bits())
	}
	requireWhole(t, c)
}

// B14: as before, but what wakes is the limit.
func TestQueueStressRaiseBetweenTryAndWaitIsNotLost(t *testing.T) {
	ctx := bounded(t)
	c := newCore(permit.Options{})
	enter(t, c, 1)
	raise, raised := worker(t)
	for range 5_000 {
		raise <- func() { _ = c.SetLimit(2) }
		u, err := c.Wait(ctx, 1, 1)
		<-raised
		require.NoError(t, err)
		c.Leave(u, spillway.OutcomeOK)
		require.NoError(t, c.SetLimit(1))
	}
}

// B23, B27: everything that can happen to a waiter happens at once.
func TestQueueStressByAllAtOnceIsWholeAfterwards(t *testing.T) {
	for name, opts := range map[string]permit.Options{
		"fifo":    {},
		"newest":  {Newest: true, Room: 8},
		"predict": {Predict: true, Estimate: true, Room: 8, Track: spillway.TrackSite, Sample: 1},
	} {
		t.Run(name, func(t *testing.T) {
			opts.Limit, opts.MaxWait = 5, 200*time.Microsecond
			c := newCore(opts)
			require.Positive(t, stress(c))
			require.NoError(t, c.SetMode(spillway.Enforce))
			require.NoError(t, c.SetLimit(8))
			ctx := bounded(t)
			for range 8 { // the last ghosts wake who waits for them
				u, err := c.Wait(ctx, 1, 8)
				if opts.Predict && errors.Is(err, spillway.ErrBackpressure) {
					continue
				}
				require.NoError(t, err)
				defer c.Leave(u, spillway.OutcomeOK)
			}
			if !opts.Predict {
				require.Equal(t, 8, c.Stats().InUse)
			}
			require.NotContains(t, c.Bits(), "waiting")
			require.False(t, c.Armed())
		})
	}
}

// stress has thirty-two goroutines do everything there is to be done with a core, and
// returns how many calls were let in.
func stress(c *permit.Core) int64 {
	var busy atomic.Int64
	hammer.Together(32, func(i int) {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		for n := range 250 {
			switch {
			case i == 0:
				_ = c.SetLimit(1 + r.IntN(8))
				continue
			case i == 1 && n%8 == 0:
				_ = c.SetMode(spillway.Mode(r.IntN(4)))
				continue
			}
			ctx, cancel := context.WithCancel(context.Background())
			if r.IntN(3) == 0 {
				defer time.AfterFunc(time.Duration(r.IntN(100))*time.Microsecond, cancel).Stop()
			}
			if u, err := c.Wait(ctx, 1+r.IntN(4), 16); err == nil {
				busy.Add(1)
				p := c.Own(u)
				if r.IntN(4) == 0 {
					p.ReleaseAfter(time.Duration(r.IntN(100)) * time.Microsecond)
				} else {
					p.Release()
				}
			}
			cancel()
		}
	})
	return busy.Load()
}
