package limiter_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
)

// A limiter with one permit: while one call is under way, another is refused at
// once, and nothing of it reaches the backend.
func ExampleLimiter_Do() {
	l, err := limiter.New[string](limiter.Config{Name: "users", Limit: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	name, err := l.Do(ctx, func(ctx context.Context) (string, error) {
		_, err := l.Do(ctx, func(context.Context) (string, error) { return "never asked for", nil })
		fmt.Println("refused:", errors.Is(err, spillway.ErrBackpressure))
		fmt.Println(err)
		return "Ada", nil
	})
	fmt.Println(name, err)
	// Output:
	// refused: true
	// limiter "users" refused the call: all permits are in use (limit 1)
	// Ada <nil>
}

// New names everything that is wrong with a configuration at once.
func ExampleNew() {
	_, err := limiter.New[int](limiter.Config{Name: "", Limit: -1})
	fmt.Println(err)
	// Output:
	// limiter: invalid configuration: Name is "": must not be empty; Limit is -1: must be from 1 to 268435455
}

// Work that ends elsewhere takes its permit along.
func ExampleLimiter_Admit() {
	l, err := limiter.New[int](limiter.Config{Name: "uploads", Limit: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	permit, err := l.Admit(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer permit.Release()
		fmt.Println("in use:", l.Stats().InUse)
	}()
	<-done
	permit.Release() // once more does no harm
	fmt.Println("in use:", l.Stats().InUse)
	// Output:
	// in use: 1
	// in use: 0
}

// A call that costs the backend more takes more permits: all of them or none.
func ExampleLimiter_AdmitN() {
	l, err := limiter.New[int](limiter.Config{Name: "batches", Limit: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	permit, err := l.AdmitN(ctx, 8)
	fmt.Println(err)
	_, err = l.AdmitN(ctx, 3)
	fmt.Println(err)
	permit.Release()
	_, err = l.AdmitN(ctx, 11)
	fmt.Println(err)
	// Output:
	// <nil>
	// limiter "batches" refused the call: all permits are in use (limit 10)
	// limiter "batches": weight is 11: must be from 1 to the limit of 10
}

// Operations of different result types can share the same permits.
func ExampleShare() {
	counts, err := limiter.New[int](limiter.Config{Name: "db", Limit: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	names := limiter.Share[string](counts)
	ctx := context.Background()
	n, err := counts.Do(ctx, func(ctx context.Context) (int, error) {
		_, err := names.Do(ctx, func(context.Context) (string, error) { return "Ada", nil })
		fmt.Println(errors.Is(err, spillway.ErrBackpressure))
		return 42, nil
	})
	fmt.Println(n, err)
	// Output:
	// true
	// 42 <nil>
}

// Before a limit is enforced, Shadow tells what it would refuse.
func ExampleLimiter_shadow() {
	l, err := limiter.New[string](limiter.Config{Name: "search", Limit: 1, Mode: spillway.Shadow})
	if err != nil {
		fmt.Println(err)
		return
	}
	hit := func(context.Context) (string, error) { return "hit", nil }
	ctx := context.Background()
	v, err := l.Do(ctx, func(ctx context.Context) (string, error) { return l.Do(ctx, hit) })
	fmt.Println(v, err, "would refuse:", l.Stats().WouldRefuse)

	_ = l.SetMode(spillway.Enforce)
	_, err = l.Do(ctx, func(ctx context.Context) (string, error) { return l.Do(ctx, hit) })
	fmt.Println(err)
	// Output:
	// hit <nil> would refuse: 1
	// limiter "search" refused the call: all permits are in use (limit 1)
}
