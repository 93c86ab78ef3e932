package group_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/group"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
)

// Ask several shards at once: whoever answers has answered, whatever becomes of the rest.
func ExampleNew() {
	shards, err := limiter.New[string](limiter.Config{Name: "shards", Limit: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := group.New[string](context.Background(), shards, group.Config{Name: "search", MemberTimeout: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 3 {
		_ = g.Go(func(context.Context) (string, error) {
			if i == 1 {
				panic("no such shard")
			}
			return fmt.Sprintf("answer of shard %d", i), nil
		})
	}
	fmt.Println(g.Wait())
	for _, r := range g.Results() {
		fmt.Printf("%q failed: %t\n", r.Value, r.Err != nil)
	}
	// Output:
	// group "search": 1 of 3 failed: spillway: function panicked: no such shard
	// "answer of shard 0" failed: false
	// "" failed: true
	// "answer of shard 2" failed: false
}

// A full limiter refuses before anything starts.
func ExampleGroup_Go() {
	l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := group.New[int](context.Background(), l, group.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	fmt.Println(g.Go(func(context.Context) (int, error) { <-done; return 1, nil }))
	fmt.Println(errors.Is(g.Go(func(context.Context) (int, error) { return 2, nil }), spillway.ErrBackpressure))
	close(done)
	fmt.Println(len(g.Results()), "members, started:", g.Stats().Started())
	// Output:
	// <nil>
	// true
	// 2 members, started: 1
}

// Write a million rows, twenty at a time: the rows are read as fast as they are written.
func ExampleEach() {
	writes, err := lane.New[int](lane.Config{Name: "writes", Limit: 20, MaxWaiting: 1, MaxWait: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := func(yield func(int) bool) {
		for i := range 1000 { // or a million: nothing is kept of them
			if !yield(i) {
				return
			}
		}
	}
	stats, err := group.Each(context.Background(), writes, group.Config{}, rows, func(_ context.Context, row int) error {
		return nil
	})
	fmt.Println(stats.Succeeded(), err)
	// Output:
	// 1000 <nil>
}

// The results come as they end, each with its item.
func ExampleMap() {
	reads, err := limiter.New[int](limiter.Config{Name: "reads", Limit: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	names := slices.Values([]string{"ada", "grace", "edsger"})
	total := 0
	for name, r := range group.Map(context.Background(), reads, group.Config{}, names, func(_ context.Context, name string) (int, error) {
		return len(name), nil
	}) {
		if r.Err != nil {
			fmt.Println(name, r.Err)
			continue
		}
		total += r.Value
	}
	fmt.Println(total)
	// Output:
	// 14
}
