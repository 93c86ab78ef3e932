package spillway_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
)

// A chain is built once, outermost first, and guards every call of its operation.
func ExampleChain() {
	say := func(name string) spillway.Decorator[string] {
		return func(op spillway.Op[string]) spillway.Op[string] {
			return func(ctx context.Context) (string, error) {
				fmt.Println(name)
				return op(ctx)
			}
		}
	}
	get := spillway.Chain(say("retry"), say("limit"))(func(context.Context) (string, error) {
		return "value", nil
	})
	fmt.Println(get(context.Background()))
	// Output:
	// retry
	// limit
	// value <nil>
}

// A stale value is better than none if the backend refuses. Other errors are the
// caller's.
func ExampleFallback() {
	stale := spillway.Fallback(func(_ context.Context, err error) (string, error) {
		if errors.Is(err, spillway.ErrBackpressure) {
			return "yesterday's price", nil
		}
		return "", err
	})
	refused := stale(func(context.Context) (string, error) {
		return "", &spillway.Rejection{Component: "limiter", Name: "prices", Limit: 10}
	})
	missing := stale(func(context.Context) (string, error) { return "", errors.New("no such price") })
	fmt.Println(refused(context.Background()))
	_, err := missing(context.Background())
	fmt.Println(err)
	// Output:
	// yesterday's price <nil>
	// no such price
}

// A fallback stands outside of the limiter: the first decorator of a chain is the
// outermost, and a refusal comes from the limiter, not from the operation.
func ExampleFallback_limiter() {
	db, err := limiter.New[string](limiter.Config{Name: "db", Limit: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	query := func(context.Context) (string, error) { return "fresh", nil }
	fromCache := func(_ context.Context, err error) (string, error) {
		fmt.Println("refused:", errors.Is(err, spillway.ErrBackpressure))
		return "stale", nil
	}
	read := spillway.Chain(spillway.Fallback(fromCache), db.Wrap)(query)

	ctx := context.Background()
	fmt.Println(read(ctx))
	permit, err := db.Admit(ctx) // somebody else has the only permit
	if err != nil {
		fmt.Println(err)
		return
	}
	defer permit.Release()
	fmt.Println(read(ctx))
	// Output:
	// fresh <nil>
	// refused: true
	// stale <nil>
}

// A middleware knows the call but not its result type, so one logs all of them.
func ExampleLift() {
	log := func(ctx context.Context, call spillway.Call, next func(context.Context) error) error {
		err := next(ctx)
		fmt.Printf("%s %s: %v\n", call.System, call.Operation, spillway.OutcomeOf(err))
		return err
	}
	count := spillway.Lift[int](log, spillway.Call{System: "db", Operation: "Count"})(
		func(context.Context) (int, error) { return 12, nil })
	name := spillway.Lift[string](log, spillway.Call{System: "db", Operation: "Name"})(
		func(context.Context) (string, error) { return "", context.DeadlineExceeded })
	fmt.Println(count(context.Background()))
	_, err := name(context.Background())
	fmt.Println(err)
	// Output:
	// db Count: ok
	// 12 <nil>
	// db Name: timeout
	// context deadline exceeded
}

// A class says how much a call matters; guards further down read it.
func ExampleWithClass() {
	ctx := spillway.WithClass(context.Background(), spillway.Bulk)
	class, ok := spillway.ClassFrom(ctx)
	fmt.Println(class, ok)
	_, ok = spillway.ClassFrom(context.Background())
	fmt.Println(ok)
	// Output:
	// bulk true
	// false
}
