//go:build go1.25

package deadline_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// E32, G-EXE-5: however a job ends, its future is resolved: once, for all, for good.
func TestFutureIsResolvedOnEveryPath(t *testing.T) {
	canceled, cancel := context.WithCancelCause(context.Background())
	for name, c := range map[string]struct {
		ctx   context.Context
		op    spillway.Op[int]
		event func(e *deadline.Executor[int])
		check func(t *testing.T, v int, err error)
	}{
		"value": {op: answer(4), check: func(t *testing.T, v int, err error) {
			require.NoError(t, err)
			require.Equal(t, 4, v)
		}},
		"error": {
			op:    func(context.Context) (int, error) { return 5, errOp },
			check: func(t *testing.T, v int, err error) { require.Same(t, errOp, err); require.Equal(t, 5, v) },
		},
		"panic": {op: func(context.Context) (int, error) { panic(errOp) }, check: func(t *testing.T, _ int, err error) {
			var p *spillway.PanicError
			require.ErrorAs(t, err, &p)
			require.ErrorIs(t, err, errOp)
			require.Contains(t, string(p.Stack), "future_test.go")
		}},
		"goexit": {
			op: func(context.Context) (int, error) { runtime.Goexit(); return 0, nil },
			check: func(t *testing.T, _ int, err error) {
				var p *spillway.PanicError
				require.ErrorAs(t, err, &p)
				require.Nil(t, p.Value)
				require.Contains(t, string(p.Stack), "future_test.go")
			},
		},
		"expired": {
			op: answer(1), event: func(*deadline.Executor[int]) { time.Sleep(30 * time.Second) },
			check: func(t *testing.T, _ int, err error) { require.ErrorIs(t, err, deadline.ErrExpired) },
		},
		"canceled": {
			ctx: canceled, op: answer(1), event: func(*deadline.Executor[int]) { cancel(errOp) },
			check: func(t *testing.T, _ int, err error) { require.Same(t, errOp, err) },
		},
		"dropped": {
			op: answer(1), event: func(e *deadline.Executor[int]) { _ = e.Go(context.Background(), answer(1)) },
			check: func(t *testing.T, _ int, err error) { requireReason(t, spillway.ReasonDropped, err) },
		},
		"closed": {
			op: answer(1), event: func(e *deadline.Executor[int]) {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				_ = e.Close(ctx)
			},
			check: func(t *testing.T, _ int, err error) { require.ErrorIs(t, err, spillway.ErrClosed) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newExecutor(t, deadline.Config{Queue: 1, Overflow: deadline.DropOldest, TTL: 20 * time.Second, Drain: time.Hour})
				if c.event != nil {
					require.NoError(t, e.Go(t.Context(), stubborn(time.Minute)))
					synctest.Wait()
				}
				ctx := c.ctx
				if ctx == nil {
					ctx = context.Background()
				}
				f := must(t)(e.Submit(ctx, c.op))
				answers := make(chan error, 10)
				for range 10 {
					go func() {
						_, err := result(f)
						answers <- err
					}()
				}
				if c.event != nil {
					synctest.Wait()
					_, err := f.Result()
					require.ErrorIs(t, err, deadline.ErrPending)
					c.event(e)
				}
				<-f.Done()
				v, err := f.Result()
				c.check(t, v, err)
				for range 10 {
					require.Equal(t, err, <-answers)
				}
				again, same := result(f)
				require.Equal(t, v, again)
				require.Equal(t, err, same)
			})
		})
	}
}

// Row 103: who loses interest leaves; the job goes on and nothing stays behind.
func TestFutureWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 1, Drain: time.Hour})
		f := must(t)(e.Submit(t.Context(), lasting(time.Minute)))
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errOp)
		defer cancel()
		_, err := f.Wait(ctx)
		require.Same(t, errOp, err)
		_, err = f.Result()
		require.ErrorIs(t, err, deadline.ErrPending)
		v, err := result(f)
		require.NoError(t, err)
		require.Equal(t, 1, v)
		v, err = f.Wait(ctx) // a result that is there is worth more than a context that is over
		require.NoError(t, err)
		require.Equal(t, 1, v)
	})
}

// B20: a job that is canceled while it waits leaves at once, if anybody looks.
func TestFutureOfACanceledJobFreesItsPlaceAtOnce(t *testing.T) {
	for name, look := range map[string]func(e *deadline.Executor[int], f *deadline.Future[int]){
		"wait":   func(_ *deadline.Executor[int], f *deadline.Future[int]) { _, _ = result(f) },
		"done":   func(_ *deadline.Executor[int], f *deadline.Future[int]) { <-f.Done() },
		"stats":  func(e *deadline.Executor[int], _ *deadline.Future[int]) { time.Sleep(time.Second); e.Stats() },
		"result": func(_ *deadline.Executor[int], f *deadline.Future[int]) { time.Sleep(time.Second); _, _ = f.Result() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newExecutor(t, deadline.Config{Queue: 1, MaxSubmitters: 1, Drain: time.Hour})
				release := occupy(t, e, 1)
				defer release()
				ctx, cancel := context.WithCancel(context.Background())
				f := must(t)(e.Submit(ctx, answer(1)))
				next := make(chan error, 1)
				go func() { _, err := e.Submit(t.Context(), answer(2)); next <- err }()
				go look(e, f)
				synctest.Wait()
				require.Empty(t, next)
				cancel()
				require.NoError(t, <-next)
				synctest.Wait()
				_, err := f.Result()
				require.ErrorIs(t, err, context.Canceled)
			})
		})
	}
}

// F7: what Done registers with the context goes when the job ends.
func TestFutureDoneLeavesNothingOnTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 9, Drain: time.Hour})
		release := occupy(t, e, 1)
		ctx := &counting{Context: t.Context(), done: make(chan struct{})}
		f := must(t)(e.Submit(ctx, answer(1)))
		for range 3 {
			f.Done()
		}
		require.Equal(t, 1, ctx.registered)
		release()
		<-f.Done()
		synctest.Wait()
		require.Zero(t, ctx.registered)
	})
}

// counting is a context that counts who has registered with it.
type counting struct {
	context.Context
	done       chan struct{}
	registered int
}

func (c *counting) Done() <-chan struct{} { return c.done }

func (c *counting) Value(any) any { return nil } // hides the context of the standard library inside

func (c *counting) AfterFunc(func()) func() bool {
	c.registered++
	return func() bool { c.registered--; return true }
}

func TestFutureZeroValueIsClosed(t *testing.T) {
	var f deadline.Future[int]
	_, err := f.Wait(t.Context())
	require.ErrorIs(t, err, spillway.ErrClosed)
	<-f.Done()
	_, err = f.Result()
	require.ErrorIs(t, err, spillway.ErrClosed)
}
