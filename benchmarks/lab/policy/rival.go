package policy

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/platinummonkey/go-concurrency-limits/core"
	"github.com/platinummonkey/go-concurrency-limits/limit"
	"github.com/platinummonkey/go-concurrency-limits/limiter"
	"github.com/platinummonkey/go-concurrency-limits/strategy"

	"github.com/spillway-go/spillway"
)

// The libraries of others, as they are, with their defaults where they have some. failsafe-go has a
// retry policy with a budget, which "failsafe+queue" uses where the application repeats; around the
// others it is the application's own.
func rivals() []Policy {
	return []Policy{
		{Name: "failsafe", Family: "failsafe-go", About: "its adaptive limiter, defaults: from 20, at most 200, no queue", New: func(e Env) Client {
			l := adaptivelimiter.NewWithDefaults[any]()
			return naive(e, &failsafeClient{failsafe.With[any](l), l.Limit})
		}},
		{Name: "failsafe+queue", Family: "failsafe-go", About: "the same with queueing 2 to 3 times the limit, and its retry policy with its budget", New: newFailsafeQueue},
		{Name: "failsafe bulkhead", Family: "failsafe-go", About: "its bulkhead, 1.5c, waits as long as our lanes", New: func(e Env) Client {
			n := e.share(1.5)
			b := bulkhead.NewBuilder[any](uint(n)).WithMaxWaitTime(e.maxWait()).Build()
			return naive(e, &failsafeClient{failsafe.With[any](b), func() int { return n }})
		}},
		{Name: "gcl aimd", Family: "go-concurrency-limits", About: "its AIMD limit, defaults: from 10", New: func(e Env) Client {
			return naive(e, newGCL(limit.NewDefaultAIMDLimit("lab", nil)))
		}},
		{Name: "gcl vegas", Family: "go-concurrency-limits", About: "its Vegas limit, defaults: from 20, at most 1000", New: func(e Env) Client {
			return naive(e, newGCL(limit.NewDefaultVegasLimit("lab", nil, nil)))
		}},
		{Name: "gcl gradient2", Family: "go-concurrency-limits", About: "its Gradient2 limit, defaults: from 20, from 20 to 200", New: func(e Env) Client {
			return naive(e, newGCL(limit.NewDefaultGradient2Limit("lab", nil, nil)))
		}},
	}
}

// failsafeClient runs operations through an executor of failsafe-go.
type failsafeClient struct {
	executor failsafe.Executor[any]
	limit    func() int
}

func newFailsafeQueue(e Env) Client {
	l := adaptivelimiter.NewBuilder[any]().WithQueueing(2, 3).Build()
	if e.Attempts <= 1 {
		return naive(e, &failsafeClient{failsafe.With[any](l), l.Limit})
	}
	r := retrypolicy.NewBuilder[any]().WithMaxAttempts(e.Attempts).WithBackoff(10*time.Millisecond, 500*time.Millisecond).
		WithJitterFactor(.5).WithBudget(budget.New()).Build()
	e.Attempts = 1
	return naive(e, &failsafeClient{failsafe.With[any](r, l), l.Limit})
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
func newGCL(l core.Limit) Client {
	dl, err := limiter.NewDefaultLimiter(l, int64(time.Second), int64(time.Second), int64(100*time.Microsecond), 100,
		strategy.NewSimpleStrategy(l.EstimatedLimit()), limit.NoopLimitLogger{}, core.EmptyMetricRegistryInstance)
	if err != nil {
		panic(err)
	}
	return gclClient{dl}
}

func (g gclClient) Do(ctx context.Context, _ Call, op Op) error {
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
