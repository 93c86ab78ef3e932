// Otherbackend puts the primitives in front of backends that aren't Aerospike: a
// database/sql pool behind a lane, an RPC service behind retry and limiter, and a rate
// limit from golang.org/x/time/rate in the same chain. Everything runs in this process.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/retry"
)

func main() {
	flag.Parse() // there are none, but -h
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "otherbackend: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	err := errors.Join(withSQL(ctx), withRPC(ctx))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "otherbackend:", err)
		os.Exit(1)
	}
}

// withSQL keeps a pool of 8 connections from being the queue: whoever can't be served
// within 20 ms hears it at once, instead of waiting for a connection until a timeout.
func withSQL(ctx context.Context) error {
	db := sql.OpenDB(fakeDB{latency: 5 * time.Millisecond})
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(8)

	queries, err := lane.New[string](lane.Config{
		Name: "sql", Limit: 8, MaxWaiting: 32, MaxWait: 20 * time.Millisecond, Predict: true,
	})
	if err != nil {
		return err
	}
	name := func(id int) spillway.Op[string] {
		return func(ctx context.Context) (s string, err error) {
			return s, db.QueryRowContext(ctx, "SELECT name FROM users WHERE id = ?", id).Scan(&s)
		}
	}
	one, err := queries.Do(ctx, name(7))
	if err != nil {
		return err
	}
	var refused atomic.Int64
	everyone(200, func(i int) {
		if _, err := queries.Do(ctx, name(i)); errors.Is(err, spillway.ErrBackpressure) {
			refused.Add(1)
		}
	})
	st := queries.Stats()
	fmt.Printf("sql: %s; of 200 callers at once %d were served, %d refused; the pool made nobody wait: %v\n",
		one, st.Ended.Of(spillway.OutcomeOK)-1, refused.Load(), db.Stats().WaitCount == 0)
	if st.Ended.Of(spillway.OutcomeOK)-1+uint64(refused.Load()) != 200 || db.Stats().WaitCount > 0 {
		return errors.New("somebody was neither served nor refused, or waited for a connection")
	}
	return queries.Close(ctx)
}

// withRPC composes a chain once: retry, then the rate, then the deadline gate, then the
// permit, then the call. A back-off holds no permit, and a call without time isn't made.
func withRPC(ctx context.Context) error {
	service, err := dialEcho()
	if err != nil {
		return err
	}
	defer service.close()

	policy := retry.ReadPolicy()
	policy.Name, policy.Budget = "echo", nil // three attempts, however many fail
	again, err := retry.New[string](policy)
	if err != nil {
		return err
	}
	permits, err := limiter.New[string](limiter.Config{Name: "echo", Limit: 4})
	if err != nil {
		return err
	}
	guard := spillway.Chain(again.Wrap, paced[string](rate.NewLimiter(500, 50)), deadline.Gate[string](5*time.Millisecond), permits.Wrap)
	echo := guard(func(ctx context.Context) (string, error) { return service.echo(ctx, "hello") })

	service.failNext(2)
	answer, err := echo(ctx)
	if err != nil {
		return err
	}
	attempts := again.Stats().Originals + again.Stats().Retries
	fmt.Printf("rpc: %q at attempt %d\n", answer, attempts)
	if attempts != 3 {
		return errors.New("two failures were not repeated")
	}

	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err = echo(short); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("a call with a millisecond left: got %w", err)
	}
	fmt.Println("rpc: with a millisecond left:", err)
	return permits.Close(ctx)
}

// paced is a decorator around a rate limiter: it refuses what comes too early, as a
// refusal that the rest of the chain understands.
func paced[T any](r *rate.Limiter) spillway.Decorator[T] {
	return func(op spillway.Op[T]) spillway.Op[T] {
		return func(ctx context.Context) (T, error) {
			if !r.Allow() {
				var zero T
				return zero, &spillway.Rejection{
					Component: "rate", Name: "echo", Reason: spillway.ReasonLimit, Limit: r.Burst(),
					RetryAfter: time.Duration(float64(time.Second) / float64(r.Limit())),
				}
			}
			return op(ctx)
		}
	}
}

// everyone calls f from n goroutines at once and returns when all have.
func everyone(n int, f func(int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}
