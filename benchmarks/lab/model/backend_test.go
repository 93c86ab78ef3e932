//go:build go1.25

package model_test

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/benchmarks/lab/model"
)

// within has a context with so much time.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// send makes n calls at once and returns how long each took, and its error, in the order of the
// calls.
func send(t *testing.T, b *model.Backend, n int, patience time.Duration, c model.Call) (took []time.Duration, errs []error) {
	took, errs = make([]time.Duration, n), make([]error, n)
	start := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			errs[i] = b.Send(within(t, patience), c)
			took[i] = time.Since(start)
		})
		synctest.Wait() // so that they come in this order
	}
	all.Wait()
	return took, errs
}

func fixed(slots int) model.Config {
	return model.Config{Slots: slots, Mean: 10 * time.Millisecond, Service: model.Deterministic()}
}

// Poisson arrivals at exponential servers wait as Erlang's formula says: the model is the queue
// that it claims to be.
func TestBackendIsErlangsQueue(t *testing.T) {
	const slots, load, calls = 16, .85, 20000
	offered := load * slots
	term, sum := 1.0, 0.0 // a^k / k!
	for k := range slots {
		sum += term
		term *= offered / float64(k+1)
	}
	waits := term / (1 - load) / (sum + term/(1-load)) // Erlang C
	want := waits / (slots * (1 - load)) * 2           // ms, for a mean of 2 ms
	synctest.Test(t, func(t *testing.T) {
		b := model.New(model.Config{Slots: slots, Mean: 2 * time.Millisecond, Seed: 5})
		rng := rand.New(rand.NewPCG(5, 5))
		var total sync.Map
		var all sync.WaitGroup
		for i := range calls {
			time.Sleep(time.Duration(rng.ExpFloat64() * 2e6 / offered))
			all.Go(func() {
				start := time.Now()
				require.NoError(t, b.Send(context.Background(), model.Call{}))
				total.Store(i, time.Since(start))
			})
		}
		all.Wait()
		mean := 0.0
		total.Range(func(_, took any) bool { mean += took.(time.Duration).Seconds() * 1e3 / calls; return true })
		require.InDelta(t, 2+want, mean, .1, "mean time in the system, in ms; Erlang: %.3f", 2+want)
		require.InDelta(t, calls*.002, b.Work().Useful, calls*.002*.03)
	})
}

// With n inside, above twice the slots, service takes 1 + κ(n−2c)/2c times as long.
func TestBackendSlowsDownInACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := fixed(1)
		cfg.Kappa = .5
		took, errs := send(t, model.New(cfg), 4, time.Minute, model.Call{})
		require.NotContains(t, errs, model.ErrDown)
		// The first starts alone; then 3 are inside (1.25 times as long), then 2 and 1.
		require.Equal(t, []time.Duration{10 * time.Millisecond, 22500 * time.Microsecond, 32500 * time.Microsecond, 42500 * time.Microsecond}, took)
	})
}

// A call whose caller has left is served all the same, and its work is wasted, unless the backend
// drops what expired in its queue.
func TestBackendWorksForCallersWhoHaveLeft(t *testing.T) {
	for drops, want := range map[bool]model.Work{false: {Useful: .01, Served: .01, Wasted: .02, Calls: 3}, true: {Useful: .01, Served: .01, Calls: 3}} {
		synctest.Test(t, func(t *testing.T) {
			cfg := fixed(1)
			cfg.DropExpired = drops
			b := model.New(cfg)
			var all sync.WaitGroup
			all.Go(func() { require.NoError(t, b.Send(context.Background(), model.Call{})) })
			synctest.Wait()
			for range 2 {
				all.Go(func() {
					err := b.Send(within(t, 5*time.Millisecond), model.Call{})
					require.Equal(t, spillway.OutcomeTimeout, spillway.OutcomeOf(err))
					require.ErrorIs(t, err, context.DeadlineExceeded)
				})
			}
			all.Wait()
			time.Sleep(time.Second)
			got := b.Work()
			require.InDelta(t, want.Useful, got.Useful, 1e-9)
			require.InDelta(t, want.Wasted, got.Wasted, 1e-9)
			require.Equal(t, want.Calls, got.Calls)
			require.Zero(t, b.Inside())
		})
	}
}

func TestBackendRefusesBeyondItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := fixed(1)
		cfg.Queue = 2
		_, errs := send(t, model.New(cfg), 5, time.Minute, model.Call{})
		require.Equal(t, []error{nil, nil, nil, model.ErrOverload, model.ErrOverload}, errs)
		require.Equal(t, spillway.OutcomeOverload, spillway.OutcomeOf(errs[4]))
	})
}

// A key is served one call at a time; a slot is only taken by the one that has it.
func TestBackendServesAKeyOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := fixed(4)
		cfg.KeyPending = 2
		b := model.New(cfg)
		took, errs := send(t, b, 4, time.Minute, model.Call{Key: 7})
		require.Equal(t, []error{nil, nil, nil, model.ErrKeyBusy}, errs)
		require.Equal(t, []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 0}, took)
		took, _ = send(t, b, 4, time.Minute, model.Call{})
		require.Equal(t, 10*time.Millisecond, took[3], "calls without a key run side by side")
	})
}

// A stall holds up what is being served, and a time in which the backend is down refuses what
// comes.
func TestBackendStallsAndIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := fixed(1)
		cfg.Speed = model.Profile{{At: 5 * time.Millisecond, Value: 0}, {At: 105 * time.Millisecond, Value: .5}}
		cfg.Up = model.Profile{{At: 200 * time.Millisecond, Value: 0}, {At: 300 * time.Millisecond, Value: 1}}
		b := model.New(cfg)
		took, _ := send(t, b, 1, time.Minute, model.Call{})
		require.Equal(t, 115*time.Millisecond, took[0], "half of it before the stall, half of it after, at half the speed")
		time.Sleep(100 * time.Millisecond)
		_, errs := send(t, b, 1, time.Minute, model.Call{})
		require.Equal(t, model.ErrDown, errs[0])
		time.Sleep(100 * time.Millisecond)
		_, errs = send(t, b, 1, time.Minute, model.Call{})
		require.NoError(t, errs[0])
	})
}

// Foreign calls take slots, and are in no account.
func TestBackendDoesNotCountForeignCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := model.New(fixed(1))
		b.Offer(time.Second)
		took, _ := send(t, b, 1, time.Minute, model.Call{Cost: 2})
		require.Equal(t, 30*time.Millisecond, took[0])
		require.Equal(t, 1, b.Work().Calls)
		require.InDelta(t, .02, b.Work().Useful, 1e-9)
	})
}

// Closing leaves nothing running, whatever is inside.
func TestBackendCloseEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := model.New(fixed(1))
		_, errs := send(t, b, 3, time.Millisecond, model.Call{})
		require.Error(t, errs[2])
		b.Close()
		require.Equal(t, model.ErrDown, b.Send(context.Background(), model.Call{}))
		time.Sleep(time.Second)
		require.Zero(t, b.Work().Wasted)
	})
}

func TestServicesHaveTheMeanOne(t *testing.T) {
	for name, s := range map[string]model.Service{
		"exponential": model.Exponential(), "deterministic": model.Deterministic(), "bimodal": model.Bimodal(.05, 20), "Pareto": model.Pareto(1.5),
	} {
		rng := rand.New(rand.NewPCG(1, 1))
		sum, least, most := 0.0, 0.0, 0.0
		const n = 400_000
		for range n {
			v := s(rng)
			sum, least, most = sum+v, min(least, v), max(most, v)
		}
		require.GreaterOrEqual(t, least, 0.0, name)
		require.InDelta(t, 1, sum/n, .05, name) // the cut takes 2 % of Pareto's mean
		require.LessOrEqual(t, most, 1000.0, name)
	}
}

func TestProfileIsWorkOverTime(t *testing.T) {
	p := model.Profile{{At: time.Second, Value: 0}, {At: 2 * time.Second, Value: 2}}
	require.Equal(t, 1.0, p.At(0))
	require.Equal(t, 0.0, p.At(time.Second))
	require.Equal(t, 2.0, p.At(time.Hour))
	require.Equal(t, 500*time.Millisecond, p.After(0, .5e9))
	require.Equal(t, 2*time.Second, p.After(500*time.Millisecond, 1.5e9), "half before the stall, and the rest at twice the speed")
	require.Equal(t, 1500*time.Millisecond, p.After(time.Second, 1e9))
	require.Equal(t, time.Duration(math.MaxInt64), model.Profile{{Value: 0}}.After(0, 1))
	require.InDelta(t, 1+0+2, p.Integral(0, 3*time.Second), 1e-9)
	require.InDelta(t, .5, p.Integral(500*time.Millisecond, 1500*time.Millisecond), 1e-9)
	require.InDelta(t, 3, model.Profile(nil).Integral(0, 3*time.Second), 1e-9)
}
