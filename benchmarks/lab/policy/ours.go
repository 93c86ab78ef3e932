package policy

import (
	"context"
	"math"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/retry"
)

func ours() []Policy {
	return []Policy{
		{Name: "budget", Needs: NeedsRetries, Family: "spillway", About: "retry with a budget alone: nothing bounds what is under way", New: func(e Env) Client { return budgeted(e, bare{}) }},
		{Name: "limiter", Family: "spillway", About: "limiter, 1.5c; the application's own retries", New: func(e Env) Client { return naive(e, newLimiter(e)) }},
		{Name: "lane", Family: "spillway", About: "lane with prediction, 1.5c; the application's own retries", New: func(e Env) Client { return naive(e, newLane(e, 1.5)) }},
		{Name: "lane+retry", Needs: NeedsRetries, Family: "spillway", About: "lane with prediction, 1.5c, inside retry with a budget", New: func(e Env) Client { return budgeted(e, newLane(e, 1.5)) }},
		{Name: "executor", Family: "spillway", About: "deadline.Executor with prediction, 1.5c workers, inside retry with a budget", New: func(e Env) Client { return budgeted(e, newExecutor(e)) }},
		{Name: "lanes", Needs: NeedsClasses, Family: "spillway", About: "a set with a critical and a bulk lane, each by itself, inside retry with a budget", New: func(e Env) Client { return budgeted(e, newSet(e, lane.Lending{})) }},
		{Name: "stack", Judged: true, Family: "spillway", About: "all of it: retry with a budget, the gate, a lane with prediction and ghosts; lanes that lend where there are classes, a limiter for each key where keys matter", New: func(e Env) Client { return newStack(e, 1.5) }},
		{Name: "stack 8c", Family: "spillway", About: "the same with a limit that somebody guessed", New: func(e Env) Client { return newStack(e, 8) }},
	}
}

// must is for configurations that are right.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// unit is the result of an operation that has none.
type unit = struct{}

func lift(op Op) spillway.Op[unit] {
	return func(ctx context.Context) (unit, error) { return unit{}, op(ctx) }
}

// budgetedClient repeats as retry does.
type budgetedClient struct {
	Client
	env     Env
	retrier *retry.Retrier[unit]
}

// budgeted gives a client the attempts of its application, of which repeated ones are a tenth of
// the successes at most, and each attempt its timeout. The budget is sized as its documentation
// says: a tenth of a second's calls.
func budgeted(e Env, c Client) Client {
	p := retry.ReadPolicy()
	p.MaxAttempts, p.Rand = max(e.Attempts, 1), seeded(e.Seed)
	b := retry.DefaultBudgetConfig()
	b.Burst = max(b.Burst, int(float64(e.Slots)/e.Mean.Seconds()/10)/max(e.Clients, 1))
	p.Budget = must(retry.NewBudget(b))
	return &budgetedClient{c, e, must(retry.New[unit](p))}
}

func (b *budgetedClient) Do(ctx context.Context, c Call, op Op) error {
	op = b.env.timed(op)
	_, err := b.retrier.Do(ctx, func(ctx context.Context) (unit, error) { return unit{}, b.Client.Do(ctx, c, op) })
	return err
}

type limiterClient struct{ *limiter.Limiter[unit] }

func newLimiter(e Env) Client {
	return limiterClient{must(limiter.New[unit](limiter.Config{Name: "lab", Limit: e.share(1.5)}))}
}

func (l limiterClient) Do(ctx context.Context, _ Call, op Op) error {
	_, err := l.Limiter.Do(ctx, lift(op))
	return err
}

func (l limiterClient) Limit() float64 { return float64(l.Stats().Limit) }
func (l limiterClient) Close()         { shut(l.Limiter.Close) }

// shut closes what has nothing to do any more; ghosts aren't waited for.
func shut(closer func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := closer(ctx); err != nil {
		panic(err)
	}
}

type laneClient struct{ *lane.Lane[unit] }

func laneConfig(e Env, name string, limit int) lane.Config {
	return lane.Config{Name: name, Limit: limit, MaxWaiting: int(math.Ceil(2.5 * float64(limit))), MaxWait: e.maxWait(), Predict: true}
}

func newLane(e Env, times float64) laneClient {
	return laneClient{must(lane.New[unit](laneConfig(e, "lab", e.share(times))))}
}

func (l laneClient) Do(ctx context.Context, _ Call, op Op) error {
	_, err := l.Lane.Do(ctx, lift(op))
	return err
}

func (l laneClient) Limit() float64 { return float64(l.Stats().Limit) }
func (l laneClient) Close()         { shut(l.Lane.Close) }

type executorClient struct {
	*deadline.Executor[unit]
}

func newExecutor(e Env) Client {
	n := e.share(1.5)
	return executorClient{must(deadline.New[unit](deadline.Config{
		Name: "lab", Workers: n, Queue: int(math.Ceil(2.5 * float64(n))), TTL: time.Minute, Predict: .25,
	}))}
}

func (x executorClient) Do(ctx context.Context, _ Call, op Op) error {
	_, err := x.Executor.Do(ctx, lift(op))
	return err
}

func (x executorClient) Limit() float64 { return float64(x.Stats().Workers) }
func (x executorClient) Close()         { shut(x.Executor.Close) }

// setClient is a set with a lane for what is critical and one for bulk.
type setClient struct{ *lane.Set[unit] }

// newSet gives two thirds of 1.5c to the critical lane, and one to bulk. What is critical may wait
// for half of its time: it is tried for longer than what can be refused.
func newSet(e Env, lending lane.Lending) setClient {
	bulk := max(e.share(.5), 1)
	critical := max(e.share(1.5)-bulk, 1)
	first := laneConfig(e, "critical", critical)
	first.MaxWait, first.Predict = e.Deadline/2, false
	return setClient{must(lane.NewSet[unit](lane.SetConfig{
		Name: "lab", Default: "bulk", Classes: map[spillway.Class]string{spillway.Critical: "critical", spillway.Bulk: "bulk"},
		Lanes:   []lane.Config{first, laneConfig(e, "bulk", bulk)},
		Lending: lending,
	}))}
}

func (s setClient) Do(ctx context.Context, c Call, op Op) error {
	_, err := s.Set.Do(spillway.WithClass(ctx, c.Class), lift(op))
	return err
}

func (s setClient) Limit() (sum float64) {
	for _, st := range s.Stats() {
		sum += float64(st.Limit)
	}
	return sum
}

func (s setClient) Close() { shut(s.Set.Close) }
