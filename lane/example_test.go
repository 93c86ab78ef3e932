package lane_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
)

// A lane lets a few callers wait a little; who comes beyond that is refused at once.
func Example() {
	reads, err := lane.New[string](lane.Config{
		Name: "db-reads", Limit: 32, MaxWaiting: 64, MaxWait: 10 * time.Millisecond, Predict: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	row, err := reads.Do(context.Background(), func(context.Context) (string, error) { return "a row", nil })
	if errors.Is(err, spillway.ErrBackpressure) {
		fmt.Println("come back later")
	}
	fmt.Println(row, err)
	// Output: a row <nil>
}

// Calls of different classes can't take each other's permits.
func ExampleSet() {
	set, err := lane.NewSet[string](lane.SetConfig{
		Name: "db", Default: "interactive",
		Classes: map[spillway.Class]string{spillway.Critical: "critical", spillway.Bulk: "bulk"},
		Lanes: []lane.Config{
			{Name: "critical", Limit: 8},
			{Name: "interactive", Limit: 16, MaxWaiting: 32, MaxWait: 10 * time.Millisecond},
			{Name: "bulk", Limit: 4},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	export := func(context.Context) (string, error) { return "exported", nil }
	v, err := set.Do(spillway.WithClass(context.Background(), spillway.Bulk), export)
	fmt.Println(v, err, set.Lane("bulk").Stats().Admitted)
	// Output: exported <nil> 1
}

// The lanes of a router can be anything that runs operations.
func ExampleRouter() {
	quick, _ := lane.New[int](lane.Config{Name: "quick", Limit: 8})
	slow, _ := lane.New[int](lane.Config{Name: "slow", Limit: 2})
	router, err := lane.NewRouter(lane.RouterConfig[int]{
		Name: "work", Default: "quick", Lanes: map[string]lane.Runner[int]{"quick": quick, "slow": slow},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := router.Into(context.Background(), "slow")
	v, err := router.Do(ctx, func(context.Context) (int, error) { return 42, nil })
	fmt.Println(v, err)
	// Output: 42 <nil>
}
