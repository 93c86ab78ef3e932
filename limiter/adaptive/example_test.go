package adaptive_test

import (
	"context"
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// A lane starts with a guess, and the controller takes it from there: lower at first, so
// that a fleet that restarts doesn't begin with all it may have.
func Example() {
	l, err := lane.New[string](lane.Config{Name: "db", Limit: 32, MaxWaiting: 80, MaxWait: 10 * time.Millisecond, Predict: true})
	if err != nil {
		panic(err)
	}
	cfg := adaptive.DefaultConfig(99) // one less than the pool has connections
	cfg.Target = 3 * time.Millisecond // what a call takes when the backend is as busy as it should be
	cfg.Classes = []adaptive.Class{{Name: "batch", Target: 40 * time.Millisecond}}
	ctl, err := adaptive.Drive(l, cfg)
	if err != nil {
		panic(err)
	}

	ctx := adaptive.WithClass(context.Background(), "batch")
	v, err := l.Do(ctx, func(context.Context) (string, error) { return "done", nil })
	fmt.Println(v, err)

	s := ctl.Stats()
	fmt.Println("static", s.Static, "now", s.Limit, "trusted", s.Trusted)
	if err := ctl.Stop(); err != nil {
		panic(err)
	}
	fmt.Println("again", l.Limit())
	// Output:
	// done <nil>
	// static 32 now 16 trusted false
	// again 32
}

// To try it without any effect: mode Shadow computes, and tells each change and why.
func ExampleHooks() {
	l, err := lane.New[string](lane.Config{Name: "db", Limit: 32})
	if err != nil {
		panic(err)
	}
	cfg := adaptive.DefaultConfig(99)
	cfg.Mode = spillway.Shadow
	cfg.Hooks = []adaptive.Hooks{{Changed: func(c adaptive.Change) {
		fmt.Println(c) // such as "db: 18 -> 14.93: latency (shadow), latency 2.63 times its reference (1.74 tolerated), ..."
	}}}
	if _, err := adaptive.Drive(l, cfg); err != nil {
		panic(err)
	}
	fmt.Println(l.Limit())
	// Output: 32
}
