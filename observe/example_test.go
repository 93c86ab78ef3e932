package observe_test

import (
	"context"
	"fmt"
	"log"

	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
)

// Whoever exports by something else than otelx and debugz reads the snapshots.
func Example() {
	db, err := limiter.New[int](limiter.Config{Name: "db", Limit: 8})
	if err != nil {
		log.Fatal(err)
	}
	set, err := lane.NewSet[int](lane.SetConfig{
		Name: "requests", Default: "buyers", Lanes: []lane.Config{{Name: "buyers", Limit: 4}, {Name: "reports", Limit: 1}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.Do(context.Background(), func(context.Context) (int, error) { return 1, nil }); err != nil {
		log.Fatal(err)
	}
	for _, component := range []observe.Observable{observe.Limiter(db), observe.Set(set)} {
		component.Observe(func(s observe.Snapshot) bool {
			switch {
			case s.Limiter != nil:
				fmt.Println(s.Component, s.Name, "admitted", s.Limiter.Admitted)
			case s.Laned != nil:
				fmt.Println(s.Component, s.Name, s.Lane, "of", s.Laned.Limit)
			}
			return true // false would be enough of it
		})
	}
	// Output:
	// limiter db admitted 1
	// lane requests buyers of 4
	// lane requests reports of 1
}
