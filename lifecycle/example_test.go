package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-go/spillway/lifecycle"
)

// session is a connection to something.
type session struct{ to string }

func (s *session) ask(string) (string, error) { return "answer of " + s.to, nil }

func closeSession(_ context.Context, s *session) error {
	fmt.Println("closed", s.to) //nolint:forbidigo // an example's output
	return nil
}

// One connection: who asks before it is there, or after its close, gets a clear error.
func ExampleNew() {
	m, err := lifecycle.New(lifecycle.DefaultConfig("db", closeSession))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	ask := lifecycle.Bind(m, func(_ context.Context, s *session) (string, error) { return s.ask("?") })
	_, err = ask(ctx)
	fmt.Println(err)
	fmt.Println(m.Connect(ctx, func(context.Context) (*session, error) { return &session{"db"}, nil }))
	fmt.Println(ask(ctx))
	fmt.Println(m.Close(ctx))
	// Output:
	// lifecycle "db": not connected: call Connect first
	// <nil>
	// answer of db <nil>
	// closed db
	// <nil>
}

// A connection for each key, dialled when it is first asked for.
func ExampleNewRegistry() {
	dial := func(_ context.Context, shard string) (*session, error) {
		fmt.Println("dialled", shard)
		return &session{shard}, nil
	}
	shards, err := lifecycle.NewRegistry(lifecycle.DefaultRegistryConfig("shards", dial, closeSession))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for range 2 {
		lease, err := shards.Get(ctx, "eu-1")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(lease.Conn().ask("?"))
		lease.Release()
	}
	fmt.Println("open:", shards.Stats().Open())
	fmt.Println(shards.Close(ctx), "open:", shards.Stats().Open())
	// Output:
	// dialled eu-1
	// answer of eu-1 <nil>
	// answer of eu-1 <nil>
	// open: 1
	// closed eu-1
	// <nil> open: 0
}

// A machine that is kept connected: the first dial fails, the supervisor makes another.
func ExampleSupervise() {
	m, err := lifecycle.New(lifecycle.DefaultConfig("db", closeSession))
	if err != nil {
		fmt.Println(err)
		return
	}
	dials := 0
	cfg := lifecycle.DefaultSupervisorConfig(func(context.Context) (*session, error) {
		if dials++; dials == 1 {
			return nil, errors.New("not yet")
		}
		return &session{"db"}, nil
	})
	cfg.MinGap, cfg.Backoff = time.Millisecond, func(int) time.Duration { return time.Millisecond }
	ctx := context.Background()
	s, err := lifecycle.Supervise(ctx, m, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.WaitState(ctx, lifecycle.Connected))
	fmt.Println(s.Stop(ctx), m.State(), "dials:", dials)
	fmt.Println(m.Close(ctx))
	// Output:
	// <nil>
	// <nil> connected dials: 2
	// closed db
	// <nil>
}

// The order of a shutdown, which a step that fails doesn't stop.
func ExampleNewShutdown() {
	say := func(what string, err error) lifecycle.Step {
		return lifecycle.Step{Name: what, Run: func(context.Context) error { fmt.Println(what); return err }}
	}
	s, err := lifecycle.NewShutdown(lifecycle.ShutdownConfig{
		Timeout:    25 * time.Second,
		Unready:    []lifecycle.Step{say("readiness says no", nil)},
		LameDuck:   time.Millisecond,
		StopIntake: []lifecycle.Step{say("listener closed", nil)},
		Drain:      []lifecycle.Step{say("executor drained", errors.New("3 jobs undone"))},
		Flush:      []lifecycle.Step{say("telemetry flushed", nil)},
		Close:      []lifecycle.Step{say("database closed", nil)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = s.Run(context.Background())
	fmt.Println(err)
	// Output:
	// readiness says no
	// listener closed
	// executor drained
	// telemetry flushed
	// database closed
	// lifecycle: shutdown: drain "executor drained": 3 jobs undone
}
