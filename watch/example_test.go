package watch_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/watch"
)

// toStdout logs without the time and the durations, so that an example can be compared.
func toStdout(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Value.Kind() == slog.KindDuration {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// Two snapshots of a lane, ten seconds apart: refused were many, but the backend is as fast
// as ever.
func ExampleJudge() {
	before := watch.Sample{Component: "lane", Name: "db", At: time.Unix(0, 0), Limit: 20, Admitted: 1000, Released: 1000}
	now := before
	now.At = now.At.Add(10 * time.Second)
	now.InUse, now.Admitted, now.Released = 20, 1920, 1900
	now.Refused[spillway.ReasonQueueFull] = 80
	v := watch.Judge(before, now, watch.DefaultThresholds())
	fmt.Println(v.Kind)
	fmt.Println(v.Reason)
	// Output:
	// limit tight
	// 80 of 1000 calls were turned away at a limit of 20; how long permits are held is not known well enough to say whether the backend is slow
}

// A watcher as a hook: a refusal is a line that says how things stand.
func ExampleNew() {
	w, err := watch.New(watch.DefaultConfig(toStdout(slog.LevelInfo)))
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := limiter.New[int](limiter.Config{
		Name: "db", Limit: 1, RetryAfter: time.Second, Hooks: []limiter.Hooks{{Rejected: w.Rejected}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	w.Add(watch.Limiter(l)) // and w.Start(ctx) for a look every ten seconds, until w.Close(ctx)
	ctx := context.Background()
	_, _ = l.Do(ctx, func(ctx context.Context) (int, error) {
		return l.Do(ctx, func(context.Context) (int, error) { return 1, nil })
	})
	// Output:
	// level=WARN msg="watch: refused" component=limiter name=db why=limit_reached limit=1 suppressed=0 available=0 in_use=1 waiting=0
}

// Who asked, and what was free then.
func ExampleTraced() {
	w, err := watch.New(watch.DefaultConfig(toStdout(slog.LevelDebug)))
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := limiter.New[string](limiter.Config{Name: "db", Limit: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	trace := w.Trace(watch.Limiter(l))
	query := watch.Traced(trace, l.Wrap)(func(context.Context) (string, error) { return "row", nil })
	fmt.Println(query(context.Background()))
	fmt.Println(len(trace.Last()))
	// Output:
	// level=DEBUG msg="watch: acquiring" component=limiter name=db available=4 in_use=0 waiting=0
	// level=DEBUG msg="watch: acquired" component=limiter name=db available=3 in_use=1 waiting=0
	// row <nil>
	// 1
}
