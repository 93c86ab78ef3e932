package policy

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/priority"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/platinummonkey/go-concurrency-limits/core"
	"github.com/platinummonkey/go-concurrency-limits/limit"
	"github.com/platinummonkey/go-concurrency-limits/limiter"
	"github.com/platinummonkey/go-concurrency-limits/strategy"
	"github.com/platinummonkey/go-concurrency-limits/strategy/matchers"

	"github.com/spillway-go/spillway"
)

// The libraries of others, as they are, with their defaults where they have some, but for one: all
// limits that move start from the same size, ours and theirs, or what is compared is who was told
// how many processes there are. failsafe-go has a retry policy with a budget, which "failsafe+queue"
// uses where the application repeats; around the others it is the application's own. Where there are
// classes they use what they have for them.
func rivals() []Policy {
	return []Policy{
		{Name: "failsafe", Family: "failsafe-go", About: "its adaptive limiter, from 1.5c, at most 200, no queue", New: func(e Env) Client {
			return newFailsafe(e, 1.5)
		}},
		{Name: "failsafe+queue", Family: "failsafe-go", About: "the same with queueing 2 to 3 times the limit, its retry policy with its budget, and its prioritizer where there are classes", New: newFailsafeQueue},
		{Name: "failsafe bulkhead", Family: "failsafe-go", About: "its bulkhead, 1.5c, waits as long as our lanes", New: func(e Env) Client {
			n := e.share(1.5)
			b := bulkhead.NewBuilder[any](uint(n)).WithMaxWaitTime(e.maxWait()).Build()
			return naive(e, &failsafeClient{failsafe.With[any](b), func() int { return n }})
		}},
		{Name: "failsafe 8c", Family: "failsafe-go", About: "its adaptive limiter, from a limit that somebody guessed", New: func(e Env) Client {
			return newFailsafe(e, 8)
		}},
		{Name: "gcl aimd", Family: "go-concurrency-limits", About: "its AIMD limit, from 1.5c; partitions as large as our lanes where there are classes", New: func(e Env) Client {
			return naive(e, newGCL(e, limit.NewAIMDLimit("lab", e.share(1.5), .9, 1, nil)))
		}},
		{Name: "gcl vegas", Family: "go-concurrency-limits", About: "its Vegas limit, from 1.5c, at most 1000; partitions likewise", New: func(e Env) Client {
			return naive(e, newGCL(e, limit.NewDefaultVegasLimitWithLimit("lab", e.share(1.5), nil, nil)))
		}},
		{Name: "gcl gradient2", Family: "go-concurrency-limits", About: "its Gradient2 limit, from 1.5c, from 20 to 200, or from where it started if that is less; partitions likewise", New: func(e Env) Client {
			return newGradient2(e, 1.5)
		}},
		{Name: "gcl gradient2 8c", Family: "go-concurrency-limits", About: "its Gradient2 limit, from a limit that somebody guessed", New: func(e Env) Client {
			return newGradient2(e, 8)
		}},
	}
}

// mostRival is the highest limit of two of them by default.
const mostRival = 200

// newGradient2 has the library's defaults, but for the size that it starts from, which is below
// the default of the least size where many processes share.
func newGradient2(e Env, times float64) Client {
	n := e.share(times)
	l := must(limit.NewGradient2Limit("lab", n, max(mostRival, n), min(20, n), func(int) int { return 4 }, .2, 600, nil, nil))
	return naive(e, newGCL(e, l))
}

// newFailsafeLimit has the library's defaults, but for the size that it starts from.
func newFailsafeLimit(e Env, times float64) adaptivelimiter.Builder[any] {
	n := e.share(times)
	return adaptivelimiter.NewBuilder[any]().WithLimits(1, uint(max(mostRival, n)), uint(n))
}

func newFailsafe(e Env, times float64) Client {
	l := newFailsafeLimit(e, times).Build()
	return naive(e, &failsafeClient{failsafe.With[any](l), l.Limit})
}

// failsafeClient runs operations through an executor of failsafe-go.
type failsafeClient struct {
	executor failsafe.Executor[any]
	limit    func() int
}

func newFailsafeQueue(e Env) Client {
	b := newFailsafeLimit(e, 1.5).WithQueueing(2, 3)
	if !e.Classes {
		l := b.Build()
		return failsafeRetried(e, l, l.Limit)
	}
	p := adaptivelimiter.NewPrioritizer()
	l := b.BuildPrioritized(p)
	return &prioritized{failsafeRetried(e, l, l.Limit), p.ScheduleCalibrations(context.Background(), calibrateEvery)}
}

// failsafeRetried has the library's retry policy around a limiter, if the application repeats.
func failsafeRetried(e Env, l failsafe.Policy[any], limit func() int) Client {
	policies := []failsafe.Policy[any]{l}
	if e.Attempts > 1 {
		r := retrypolicy.NewBuilder[any]().WithMaxAttempts(e.Attempts).WithBackoff(10*time.Millisecond, 500*time.Millisecond).
			WithJitterFactor(.5).WithBudget(budget.New()).Build()
		policies = []failsafe.Policy[any]{r, l}
	}
	e.Attempts = 1
	return naive(e, &failsafeClient{failsafe.With(policies...), limit})
}

// calibrateEvery is how often the prioritizer looks at the queue. The library has no default; of
// 1, 10, 100 and 1000 ms this is best in W9, by far.
const calibrateEvery = time.Millisecond

// prioritized tells failsafe-go how much a call matters.
type prioritized struct {
	Client
	stop context.CancelFunc
}

func (p *prioritized) Do(ctx context.Context, c Call, op Op) error {
	level := priority.Low
	if c.Class == spillway.Critical {
		level = priority.VeryHigh
	}
	return p.Client.Do(level.AddTo(ctx), c, op)
}

func (p *prioritized) Close() {
	p.stop()
	p.Client.Close()
}

func (f *failsafeClient) Do(ctx context.Context, _ Call, op Op) error {
	return f.executor.WithContext(ctx).RunWithExecution(func(exec failsafe.Execution[any]) error { return op(exec.Context()) })
}

func (f *failsafeClient) Limit() float64 { return float64(f.limit()) }
func (f *failsafeClient) Close()         {}

// gclClient is a limiter of go-concurrency-limits that is told how each call ended.
type gclClient struct{ *limiter.DefaultLimiter }

// errLimit is the refusal of such a limiter, which has none of its own.
var errLimit = errors.New("policy: over the limit")

// newGCL has the limiter's own defaults: windows of 1 s with 100 samples or more.
func newGCL(e Env, l core.Limit) Client {
	var s core.Strategy = strategy.NewSimpleStrategy(l.EstimatedLimit())
	if e.Classes {
		s = newPartitions(l.EstimatedLimit())
	}
	return gclClient{must(limiter.NewDefaultLimiter(l, int64(time.Second), int64(time.Second), int64(100*time.Microsecond), 100,
		s, limit.NoopLimitLogger{}, core.EmptyMetricRegistryInstance))}
}

// newPartitions gives two thirds of the limit to what is critical and one to bulk. Either may have
// more while not all of it is taken.
func newPartitions(limit int) core.Strategy {
	parts := map[string]*strategy.LookupPartition{}
	for class, share := range map[spillway.Class]float64{spillway.Critical: 2.0 / 3, spillway.Bulk: 1.0 / 3} {
		parts[string(class)] = strategy.NewLookupPartitionWithMetricRegistry(string(class), share, int32(limit), core.EmptyMetricRegistryInstance)
	}
	return must(strategy.NewLookupPartitionStrategyWithMetricRegistry(parts, nil, int32(limit), core.EmptyMetricRegistryInstance))
}

func (g gclClient) Do(ctx context.Context, c Call, op Op) error {
	if c.Class != "" {
		ctx = context.WithValue(ctx, matchers.LookupPartitionContextKey, string(c.Class))
	}
	listener, ok := g.Acquire(ctx)
	if !ok {
		return errLimit
	}
	err := op(ctx)
	switch spillway.OutcomeOf(err) {
	case spillway.OutcomeOK:
		listener.OnSuccess()
	case spillway.OutcomeTimeout, spillway.OutcomeOverload:
		listener.OnDropped()
	default:
		listener.OnIgnore()
	}
	return err
}

func (g gclClient) Limit() float64 { return float64(g.EstimatedLimit()) }
func (g gclClient) Close()         {}
