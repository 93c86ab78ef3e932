//go:build go1.25

package retry_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/retry"
)

// T-01, C9, C34: a thousand clients are refused at once. Their second attempts are
// spread: no slot of 10 ms holds more than a tenth of them. G-RET-2.
func TestRetrierSpreadsThoseWhoWereRefusedTogether(t *testing.T) {
	for name, err := range map[string]error{"refusal": errRefused, "hint": retry.After(errRefused, time.Second)} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := retry.DefaultPolicy()
				p.Rand = seeded(1)
				r, start := newRetrier(t, p), time.Now()
				var slots [200]atomic.Int64
				hammer.Together(1000, func(int) {
					first := true
					_, err := r.Do(t.Context(), func(context.Context) (int, error) {
						if first {
							first = false
							return 0, err
						}
						slots[time.Since(start)/(10*time.Millisecond)].Add(1)
						return 1, nil
					})
					require.NoError(t, err)
				})
				total := int64(0)
				for i := range slots {
					n := slots[i].Load()
					total += n
					require.LessOrEqual(t, n, int64(100), "slot %d", i)
				}
				require.EqualValues(t, 1000, total)
				for i := range 5 {
					require.Zero(t, slots[i].Load(), "nobody comes before the floor")
				}
			})
		})
	}
}

// backend serves one call a millisecond, in the order of their arrival, and goes on
// with those whose callers have left: they don't get off the queue by timing out.
type backend struct {
	mu    sync.Mutex
	free  time.Time // when it has served all that came so far
	calls int
}

func (b *backend) serve(ctx context.Context) (int, error) {
	const patience = 100 * time.Millisecond
	now := time.Now()
	b.mu.Lock()
	b.calls++
	if b.free.Before(now) {
		b.free = now
	}
	b.free = b.free.Add(time.Millisecond)
	wait := b.free.Sub(now)
	b.mu.Unlock()
	if wait > patience {
		time.Sleep(patience)
		return 0, &classError{spillway.OutcomeTimeout}
	}
	time.Sleep(wait)
	return 1, ctx.Err()
}

func (b *backend) stall(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = time.Now().Add(d)
}

// healed is what a storm left behind.
type healed struct {
	after        time.Duration // from the stall's end to the last failure
	calls, sends int
}

// storm loads a backend to 60 % for 8 s; after 1 s it stalls for another.
func storm(t *testing.T, p retry.Policy) healed {
	const every, run, stallAt, stallFor = time.Second / 600, 8 * time.Second, time.Second, time.Second
	r, b := newRetrier(t, p), &backend{}
	rnd := rand.New(rand.NewPCG(11, 1))
	start := time.Now()
	time.AfterFunc(stallAt, func() { b.stall(stallFor) })
	var lastFailure atomic.Int64
	var all sync.WaitGroup
	calls := 0
	for time.Since(start) < run {
		time.Sleep(time.Duration(rnd.ExpFloat64() * float64(every)))
		calls++
		all.Go(func() {
			if _, err := r.Do(t.Context(), b.serve); err != nil {
				lastFailure.Store(max(lastFailure.Load(), int64(time.Since(start))))
			}
		})
	}
	all.Wait()
	requireConserved(t, r.Stats())
	return healed{time.Duration(lastFailure.Load()) - stallAt - stallFor, calls, b.calls}
}

// R84, T-01: at 60 % of the load a stall of 1 s heals within 2 s with a budget, though
// everybody retries; without one the retries keep the backend down.
func TestBudgetLetsTheBackendHealAfterAStall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := retry.ReadPolicy()
		p.Rand = seeded(12)
		without := storm(t, p)
		require.Greater(t, without.after, 5*time.Second, "the storm must be one: %+v", without)
		p.Budget = newBudget(t, retry.DefaultBudgetConfig())
		with := storm(t, p)
		t.Logf("without a budget: %+v; with one: %+v", without, with)
		require.Less(t, with.after, 2*time.Second, "%+v", with)
		require.LessOrEqual(t, with.sends-with.calls, with.calls/10+8+10+1)
	})
}

// R83: a thousand clients against a backend that fails half of the time: no more is
// added than Ratio of the successes, PerSecond, and the burst once. G-RET-11.
func TestBudgetBoundsTheExtraLoad(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := retry.ReadPolicy()
		p.Rand = seeded(13)
		p.Budget = newBudget(t, retry.DefaultBudgetConfig())
		r, failed, start := newRetrier(t, p), seeded(14), time.Now()
		var successes atomic.Int64
		hammer.Together(1000, func(int) {
			for range 20 {
				_, err := r.Do(t.Context(), func(context.Context) (int, error) {
					if failed() < 0.5 {
						return 0, errOp
					}
					return 1, nil
				})
				if err == nil {
					successes.Add(1)
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
		allowed := float64(successes.Load())*0.1 + time.Since(start).Seconds()*1 + 10
		st := r.Stats()
		require.LessOrEqual(t, float64(st.Retries), allowed)
		require.Greater(t, float64(st.Retries), allowed*0.8, "what is allowed is used")
		requireConserved(t, st)
	})
}

// R82, B-06, X7: with the limiter inside there is one permit an attempt, and none
// while backing off. G-RET-15.
func TestRetrierHoldsNoPermitWhileBackingOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l, err := limiter.New[int](limiter.Config{Name: "test", Limit: 1})
		require.NoError(t, err)
		r := newRetrier(t, fixed(3))
		others := 0
		for _, at := range []time.Duration{time.Second, 3 * time.Second} {
			time.AfterFunc(at, func() {
				require.EqualValues(t, 1, r.Stats().BackingOff)
				require.Zero(t, l.Stats().InUse)
				_, err := l.Do(t.Context(), func(context.Context) (int, error) { others++; return 0, nil })
				require.NoError(t, err)
			})
		}
		s := &script{errs: []error{errOp, errOp}}
		v, err := r.Do(t.Context(), func(ctx context.Context) (int, error) { return l.Do(ctx, s.op) })
		require.NoError(t, err)
		require.Equal(t, 3, v)
		require.Equal(t, 2, others)
		require.EqualValues(t, 3+2, l.Stats().Admitted, "one permit an attempt")
	})
}
