//go:build go1.25

package deadline_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// load is what a model of a service under load has seen.
type load struct {
	offered, good  int
	work, wasted   time.Duration // that the workers spent, in all and on what was of no use
	longestRefusal time.Duration
}

const (
	modelWorkers = 16
	modelService = 2 * time.Millisecond // exponential
	modelTime    = 2 * time.Second
	modelLeft    = 50 * time.Millisecond
)

// offer runs Poisson arrivals of the factor times the capacity, whose callers have
// modelLeft each, against 16 workers whose jobs take 2 ms on average. What a job is
// worth is decided by its caller's clock: done within its time or not.
func offer(submit func(spillway.Op[int]) error, factor float64, seed uint64) (l load) {
	r := rand.New(rand.NewPCG(26, seed))
	rate := factor * modelWorkers / modelService.Seconds()
	type end struct {
		spent time.Duration
		good  bool
	}
	ends := make(chan end, int(3*rate*modelTime.Seconds()))
	begin := time.Now()
	for at := time.Duration(0); at < modelTime; at += time.Duration(r.ExpFloat64() / rate * 1e9) {
		time.Sleep(at - time.Since(begin))
		service, came := time.Duration(r.ExpFloat64()*float64(modelService)), time.Now()
		l.offered++
		err := submit(func(ctx context.Context) (int, error) {
			start := time.Now()
			v, err := lasting(service)(ctx)
			ends <- end{time.Since(start), err == nil && time.Since(came) <= modelLeft}
			return v, err
		})
		if err != nil {
			l.longestRefusal = max(l.longestRefusal, time.Since(came))
		}
	}
	time.Sleep(time.Second)
	synctest.Wait()
	close(ends)
	for d := range ends {
		l.work += d.spent
		if d.good {
			l.good++
		} else {
			l.wasted += d.spent
		}
	}
	return l
}

// offerTo offers load to an executor.
func offerTo(t *testing.T, cfg deadline.Config, factor float64, seed uint64) (load, deadline.Stats) {
	t.Helper()
	cfg.Workers, cfg.TTL, cfg.Drain = modelWorkers, modelLeft, time.Hour
	e := newExecutor(t, cfg)
	l := offer(func(op spillway.Op[int]) error { return e.Go(context.Background(), op) }, factor, seed)
	return l, e.Stats()
}

// offerToChannel offers load to a channel and workers that know no deadline.
func offerToChannel(factor float64, seed uint64) load {
	jobs := make(chan spillway.Op[int], 1024)
	var all sync.WaitGroup
	for range modelWorkers {
		all.Go(func() {
			for op := range jobs {
				_, _ = op(context.Background())
			}
		})
	}
	l := offer(func(op spillway.Op[int]) error {
		select {
		case jobs <- op:
			return nil
		default:
			return errOp
		}
	}, factor, seed)
	close(jobs)
	all.Wait()
	return l
}

// Rows 95, 96: under 1.2, 2 and 10 times what can be done, at least 95 % of it is done
// in time and at most 1 % of the work is wasted; who is refused is refused at once.
func TestExecutorGoodputUnderOverload(t *testing.T) {
	const capacity = modelWorkers * float64(modelTime) / float64(modelService)
	for _, factor := range []float64{1.2, 2, 10} {
		t.Run(fmt.Sprintf("x%v", factor), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, st := offerTo(t, deadline.Config{Queue: 1024, Predict: 0.25}, factor, 1)
				t.Logf("goodput %.3f, wasted %.4f", float64(l.good)/capacity, float64(l.wasted)/float64(l.work))
				require.GreaterOrEqual(t, float64(l.good), 0.95*capacity)
				require.LessOrEqual(t, float64(l.wasted), 0.01*float64(l.work))
				require.Zero(t, l.longestRefusal)
				require.NotZero(t, st.Refused.Of(spillway.ReasonPredicted))
				require.Zero(t, st.Refused.Of(spillway.ReasonQueueFull))
			})
		})
	}
}

// Row 96, the other halves. A queue that drops nothing does all its work for nobody.
// Dropping what has expired is enough to answer as many callers, but those are the
// ones whose jobs happen to be short: most of the work is cut off at its deadline.
func TestExecutorDroppingAndPredictingSaveTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		channel := offerToChannel(2, 2)
		drop, _ := offerTo(t, deadline.Config{Queue: 1024}, 2, 2)
		predict, _ := offerTo(t, deadline.Config{Queue: 1024, Predict: 0.25}, 2, 2)
		share := func(l load) float64 { return float64(l.wasted) / float64(l.work) }
		t.Logf("good %d, %d, %d; wasted %.2f, %.2f, %.4f", channel.good, drop.good, predict.good, share(channel), share(drop), share(predict))
		require.Less(t, 5*channel.good, drop.good)
		require.Less(t, 5*channel.good, predict.good)
		require.Greater(t, share(channel), 0.8)
		require.Greater(t, share(drop), 0.3)
		require.Less(t, share(predict), 0.01)
	})
}

// Healthy, nobody is refused who would have been served.
func TestExecutorPredictionRefusesNobodyBelowCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, st := offerTo(t, deadline.Config{Queue: 1024, Predict: 0.25}, 0.7, 3)
		require.LessOrEqual(t, float64(st.Refused.Total()), 0.001*float64(l.offered))
	})
}
