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
	"github.com/spillway-go/spillway/internal/permit"
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

// A2, B23, B26, B27.
func TestQueueGrantAgainstCancelLosesNoPermit(t *testing.T) {
	c := newCore(permit.Options{Limit: 3})
	release, released := worker(t)
	cancelling, cancelled := worker(t)
	var grants, cancels int
	for round := range 100_000 {
		u := enter(t, c, 3)
		ctx, cancel := context.WithCancel(context.Background())
		release <- func() { spin(round % 97); c.Leave(u, spillway.OutcomeOK) }
		cancelling <- func() { spin(round % 89); cancel() }
		w, err := c.Wait(ctx, 1+round%3, 1)
		<-released
		<-cancelled
		if err == nil {
			grants++
			c.Leave(w, spillway.OutcomeOK)
		} else {
			cancels++
			require.Equal(t, context.Canceled, err)
		}
	}
	require.Positive(t, grants)
	require.Positive(t, cancels)
	require.EqualValues(t, cancels, c.Stats().Canceled)
	requireWhole(t, c)
}

// A2, B26.
func TestQueueGrantAgainstTimeoutLosesNoPermit(t *testing.T) {
	c := newCore(permit.Options{Limit: 3, MaxWait: 10 * time.Microsecond})
	release, released := worker(t)
	var grants, timeouts int
	for round := range 100_000 {
		u := enter(t, c, 3)
		release <- func() { spin(round % 97 * 8); c.Leave(u, spillway.OutcomeOK) }
		w, err := c.Wait(t.Context(), 1+round%3, 1)
		<-released
		if err == nil {
			grants++
			c.Leave(w, spillway.OutcomeOK)
		} else {
			timeouts++
			require.ErrorIs(t, err, spillway.ErrBackpressure)
		}
	}
	require.Positive(t, grants)
	require.Positive(t, timeouts)
	require.EqualValues(t, timeouts, c.Stats().Refused.Of(spillway.ReasonMaxWait))
	requireWhole(t, c)
}

// B1, B3: there is one permit, and nothing but its release wakes anybody.
func TestQueueReleaseBetweenTryAndWaitIsNotLost(t *testing.T) {
	ctx := bounded(t)
	c := newCore(permit.Options{})
	together(4, func(int) {
		for range 20_000 {
			u, err := c.Wait(ctx, 1, 4)
			require.NoError(t, err)
			c.Leave(u, spillway.OutcomeOK)
		}
	})
	requireWhole(t, c)
}

// B14: as before, but what wakes is the limit.
func TestQueueRaiseBetweenTryAndWaitIsNotLost(t *testing.T) {
	ctx := bounded(t)
	c := newCore(permit.Options{})
	enter(t, c, 1)
	raise, raised := worker(t)
	for range 20_000 {
		raise <- func() { _ = c.SetLimit(2) }
		u, err := c.Wait(ctx, 1, 1)
		<-raised
		require.NoError(t, err)
		c.Leave(u, spillway.OutcomeOK)
		require.NoError(t, c.SetLimit(1))
	}
}

// B23, B27: everything that can happen to a waiter happens at once.
func TestQueueStressedByGrantsCancelsResizesAndModesIsWholeAfterwards(t *testing.T) {
	c := newCore(permit.Options{Limit: 5, MaxWait: 200 * time.Microsecond})
	var busy atomic.Int64
	together(32, func(i int) {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		for n := range 600 {
			if i == 0 {
				require.NoError(t, c.SetLimit(1+r.IntN(8)))
				continue
			}
			if i == 1 && n%8 == 0 {
				require.NoError(t, c.SetMode(spillway.Mode(r.IntN(4))))
				continue
			}
			ctx, cancel := context.WithCancel(context.Background())
			if r.IntN(3) == 0 {
				defer time.AfterFunc(time.Duration(r.IntN(100))*time.Microsecond, cancel).Stop()
			}
			u, err := c.Wait(ctx, 1+r.IntN(4), 16)
			if err == nil {
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
	require.Positive(t, busy.Load())
	require.NoError(t, c.SetMode(spillway.Enforce))
	require.NoError(t, c.SetLimit(8))
	ctx := bounded(t)
	for range 8 { // the last ghosts wake who waits for them
		_, err := c.Wait(ctx, 1, 8)
		require.NoError(t, err)
	}
	require.Equal(t, 8, c.Stats().InUse)
	require.Empty(t, c.Bits())
}

// B27, F2: the triangle of grant, cancel and close.
func TestQueueGrantAgainstCancelAgainstCloseLeavesNothing(t *testing.T) {
	for round := range 3000 {
		c := newCore(permit.Options{Limit: 2})
		u := enter(t, c, 2)
		ctx, cancel := context.WithCancel(context.Background())
		together(4, func(i int) {
			spin(round * i % 7 * 10)
			switch i {
			case 0:
				c.Leave(u, spillway.OutcomeOK)
			case 1:
				cancel()
			case 2:
				require.NoError(t, c.Close(context.Background()))
			case 3:
				w, err := c.Wait(ctx, 1, 2)
				if err == nil {
					c.Leave(w, spillway.OutcomeOK)
				} else if !errors.Is(err, spillway.ErrClosed) {
					require.Equal(t, context.Canceled, err)
				}
			}
		})
		requireWhole(t, c)
		_, err := c.Enter(t.Context(), 1)
		require.ErrorIs(t, err, spillway.ErrClosed)
	}
}
