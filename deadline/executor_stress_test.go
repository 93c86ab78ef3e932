//go:build go1.25

package deadline_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/internal/hammer"
)

// counted is an operation that counts how often it is run.
func counted(n *atomic.Int64) spillway.Op[int] {
	return func(context.Context) (int, error) {
		defer runtime.Gosched()
		return int(n.Add(1)), nil
	}
}

// E4, E5, E13, E7: G-EXE-5, G-EXE-7. 64 goroutines submit in every way while another
// closes: what was accepted was run or resolved as closed, always, and nothing else.
func TestExecutorSubmitAndCloseConcurrentSafe(t *testing.T) {
	for round := range 50 {
		var sunk, ran, accepted, closed, refused atomic.Int64
		cfg := deadline.Config{Workers: 1 + round%4, Queue: round % 8, MaxSubmitters: round % 3 * 8, TTL: time.Minute}
		if round%2 == 0 {
			cfg.Drain = time.Minute
		}
		cfg.Sink = func(_ context.Context, f deadline.Failure) {
			if errors.Is(f.Err, spillway.ErrClosed) {
				sunk.Add(1)
			}
		}
		e := newExecutor(t, cfg)
		op := counted(&ran)
		settle := func(err error) {
			switch {
			case err == nil:
				accepted.Add(1)
			case errors.Is(err, spillway.ErrClosed):
				closed.Add(1)
			case errors.Is(err, spillway.ErrBackpressure):
				refused.Add(1)
			default:
				t.Error(err)
			}
		}
		var all sync.WaitGroup
		all.Go(func() {
			hammer.Together(64, func(i int) {
				for range 20 {
					var f *deadline.Future[int]
					var err error
					switch i % 4 {
					case 0:
						settle(e.Go(context.Background(), op))
						continue
					case 1:
						_, err = e.Do(context.Background(), op)
					case 2:
						f, err = e.Submit(context.Background(), op)
					case 3:
						f, err = e.TrySubmit(context.Background(), op)
					}
					if f != nil {
						_, err = result(f)
					}
					settle(err)
				}
			})
		})
		for range round * 10 {
			runtime.Gosched()
		}
		_ = e.Close(context.Background())
		all.Wait()
		require.Equal(t, int64(64*20), accepted.Load()+closed.Load()+refused.Load())
		require.Equal(t, accepted.Load()-sunk.Load(), ran.Load())
		require.Equal(t, uint64(ran.Load()), e.Stats().Ended.Total())
		require.Equal(t, uint64(closed.Load()+sunk.Load()), e.Stats().AfterClose)
		requireConserved(t, e)
	}
}

// Row 64, E10, B23, B27: G-EXE-1, G-EXE-7. Random load of every kind, with cancels,
// expiry, panics, resizes and changes of mode: at every moment the books balance and
// outcomes don't exceed what was submitted.
func TestExecutorBooksBalanceConcurrentSafe(t *testing.T) {
	var running, over atomic.Int64
	e := newExecutor(t, deadline.Config{
		Workers: 4, Queue: 16, MaxSubmitters: 8, TTL: time.Minute, Predict: 0.5, Drain: time.Minute,
		Sink: func(_ context.Context, f deadline.Failure) {
			if f.Err == nil || f.Items != 3 {
				panic("told of what didn't happen")
			}
		},
	})
	op := func(kind int) spillway.Op[int] {
		return func(ctx context.Context) (int, error) {
			if running.Add(1) > 8 {
				over.Add(1)
			}
			defer running.Add(-1)
			switch kind {
			case 0:
				panic("no")
			case 1:
				runtime.Goexit()
			case 2:
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 1, nil
		}
	}
	var submitted atomic.Uint64
	hammer.Together(24, func(i int) {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		for range 400 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(2000))*time.Microsecond)
			switch i % 6 {
			case 0:
				submitted.Add(1)
				_, _ = e.Do(ctx, op(r.IntN(20)))
			case 1:
				submitted.Add(1)
				if f, err := e.Submit(ctx, op(r.IntN(20))); err == nil {
					_, _ = result(f)
				}
			case 2:
				submitted.Add(1)
				if f, err := e.TrySubmit(ctx, op(r.IntN(20))); err == nil {
					cancel()
					<-f.Done()
				}
			case 3:
				submitted.Add(1)
				_ = e.GoN(ctx, 3, op(r.IntN(20)))
				runtime.Gosched()
			case 4:
				st := e.Stats()
				if st.Submitted != uint64(st.Parked+st.Depth+st.Busy)+st.Outcomes() || st.Depth > 16+8 || st.Parked > 8 {
					t.Errorf("%+v", st)
				}
			case 5:
				if err := e.SetWorkers(1 + r.IntN(8)); err != nil {
					t.Error(err)
				}
				if r.IntN(10) == 0 {
					_ = e.SetMode(spillway.Mode(r.IntN(4)))
				}
			}
			cancel()
		}
	})
	require.Zero(t, over.Load())
	_ = e.Close(context.Background())
	st := e.Stats()
	require.Equal(t, submitted.Load(), st.Submitted)
	require.Equal(t, st.Submitted, st.Outcomes())
}

// B23, A1: hand-off against cancel: whoever is canceled while his place is granted
// either has it or not, and nothing is lost.
func TestExecutorCancelAgainstStartConcurrentSafe(t *testing.T) {
	e := newExecutor(t, deadline.Config{Workers: 2, Queue: 1, MaxSubmitters: 16, TTL: time.Minute, Drain: time.Minute})
	var ran, good, canceled atomic.Int64
	hammer.Together(8, func(i int) {
		for n := range 2000 {
			ctx, cancel := context.WithCancel(context.Background())
			if n%2 == 0 {
				go cancel()
			}
			_, err := e.Do(ctx, func(context.Context) (int, error) { ran.Add(1); return 0, nil })
			cancel()
			switch {
			case err == nil:
				good.Add(1)
			case errors.Is(err, context.Canceled):
				canceled.Add(1)
			default:
				t.Error(i, err)
			}
		}
	})
	require.Equal(t, ran.Load(), good.Load())
	require.Equal(t, uint64(canceled.Load()), e.Stats().Canceled)
	require.Equal(t, int64(16_000), good.Load()+canceled.Load())
}

// E14: closed under full load, and another one takes over, again and again.
func TestExecutorReplacedUnderLoadConcurrentSafe(t *testing.T) {
	var current atomic.Pointer[deadline.Executor[int]]
	current.Store(newExecutor(t, deadline.Config{Workers: 2, Queue: 4, Drain: time.Minute}))
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := current.Load().Do(context.Background(), answer(1)); err != nil &&
					!errors.Is(err, spillway.ErrClosed) && !errors.Is(err, spillway.ErrBackpressure) {
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		old := current.Swap(newExecutor(t, deadline.Config{Workers: 2, Queue: 4, Drain: time.Minute}))
		require.NoError(t, old.Close(context.Background()))
	}
	close(stop)
	all.Wait()
}
