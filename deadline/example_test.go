//go:build go1.25

package deadline_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// One worker is busy for longer than the second job can wait: that job is never
// started, and its caller is told at its deadline.
func Example() {
	e, err := deadline.New[string](deadline.Config{Name: "mails", Workers: 1, Queue: 100, TTL: time.Minute, Drain: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	release := make(chan struct{})
	first, err := e.Submit(context.Background(), func(context.Context) (string, error) {
		<-release
		return "sent", nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = e.Do(ctx, func(context.Context) (string, error) { return "never reached", nil })
	fmt.Println("second:", errors.Is(err, deadline.ErrExpired), spillway.StatusOf(err).HTTP)
	close(release)
	fmt.Println(first.Wait(context.Background()))
	fmt.Println("closed:", e.Close(context.Background()))
	// Output:
	// second: true 504
	// sent <nil>
	// closed: <nil>
}

// New names everything that is wrong with a configuration at once.
func ExampleNew() {
	_, err := deadline.New[int](deadline.Config{Workers: 8, Queue: -1})
	fmt.Println(err)
	// Output:
	// executor: invalid configuration: Name is "": must not be empty; Queue is -1: must be from 0 to 1048576
}

// A producer that waits for room, and one that doesn't.
func ExampleExecutor_TrySubmit() {
	e, err := deadline.New[int](deadline.Config{Name: "resize", Workers: 1, Queue: 1, MaxSubmitters: 1, TTL: time.Minute, Drain: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	release := make(chan struct{})
	job := func(context.Context) (int, error) { <-release; return 1, nil }
	for range 3 {
		_, err := e.TrySubmit(ctx, job)
		fmt.Println(err)
	}
	close(release)
	f, err := e.Submit(ctx, job) // waits until there is room
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Wait(ctx))
	fmt.Println(e.Close(ctx))
	// Output:
	// <nil>
	// <nil>
	// executor "resize" refused the call: the waiting room is full (limit 1)
	// 1 <nil>
	// <nil>
}

// Fire and forget: the caller goes on at once, and the sink hears what was lost.
func ExampleExecutor_GoN() {
	e, err := deadline.New[struct{}](deadline.Config{
		Name: "audit", Workers: 1, Queue: 1000, TTL: 5 * time.Second, Drain: time.Minute,
		Sink: func(_ context.Context, f deadline.Failure) { fmt.Println("lost", f.Items, "records:", f.Err) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if err := e.GoN(ctx, 250, func(context.Context) (struct{}, error) {
		return struct{}{}, errors.New("store is down")
	}); err != nil {
		fmt.Println("refused:", err)
	}
	fmt.Println(e.Close(ctx))
	fmt.Println("in all:", e.Stats().LostItems)
	// Output:
	// lost 250 records: store is down
	// <nil>
	// in all: 250
}

// A gate stands behind what waits, and in front of what costs.
func ExampleGate() {
	query := deadline.Gate[string](50 * time.Millisecond)(func(context.Context) (string, error) { return "answer", nil })
	fmt.Println(query(context.Background()))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := query(ctx)
	fmt.Println(err)
	// Output:
	// answer <nil>
	// gate refused the call: less than 50ms left of its time
}
