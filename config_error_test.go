package spillway_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/group"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
	"github.com/spillway-go/spillway/retry"
)

func errorOf[T any](_ T, err error) error { return err }

// L-22: a service has many components of a kind, and a fault says which of them it is in: at
// the start, and when settings are changed at run time.
func TestConfigErrorNamesItsComponent(t *testing.T) {
	ctx := t.Context()
	op := func(context.Context) (int, error) { return 1, nil }
	lim, err := limiter.New[int](limiter.Config{Name: "db", Limit: 1})
	require.NoError(t, err)
	waits, err := lane.New[int](lane.Config{Name: "db", Limit: 1, MaxWaiting: 1})
	require.NoError(t, err)
	jobs, err := deadline.New[int](deadline.Config{Name: "db", Workers: 1})
	require.NoError(t, err)
	forever := retry.DefaultPolicy()
	forever.Name, forever.MaxAttempts = "db", retry.Unlimited
	retrier, err := retry.New[int](forever)
	require.NoError(t, err)
	m, err := lifecycle.New(lifecycle.DefaultConfig("db", func(context.Context, int) error { return nil }))
	require.NoError(t, err)
	members, err := group.New[int](ctx, lim, group.Config{Name: "db"})
	require.NoError(t, err)
	for whose, err := range map[string]error{
		`limiter "db"`:     errorOf(limiter.New[int](limiter.Config{Name: "db"})),
		`lane "db"`:        errorOf(lane.New[int](lane.Config{Name: "db"})),
		`lane set "db"`:    errorOf(lane.NewSet[int](lane.SetConfig{Name: "db"})),
		`lane router "db"`: errorOf(lane.NewRouter(lane.RouterConfig[int]{Name: "db"})),
		`executor "db"`:    errorOf(deadline.New[int](deadline.Config{Name: "db"})),
		`retry "db"`:       errorOf(retry.New[int](retry.Policy{Name: "db"})),
		`group "db"`:       errorOf(group.New[int](ctx, nil, group.Config{Name: "db"})),
		`lifecycle "db"`:   errorOf(lifecycle.New(lifecycle.Config[int]{Name: "db"})),
		`registry "db"`:    errorOf(lifecycle.NewRegistry(lifecycle.RegistryConfig[int, int]{Machine: lifecycle.Config[int]{Name: "db"}})),
		`supervisor "db"`:  errorOf(lifecycle.Supervise(ctx, m, lifecycle.SupervisorConfig[int]{})),
		`adaptive "db"`:    errorOf(adaptive.Drive(lim, adaptive.Config{})),
	} {
		require.ErrorContains(t, err, whose+": invalid configuration: ")
	}
	for whose, errs := range map[string][]error{
		`limiter "db"`:   {lim.SetLimit(0), lim.SetMode(99), lim.SetPace(-1), lim.SetMaxWeight(-1)},
		`lane "db"`:      {waits.SetLimit(0), errorOf(waits.Do(ctx, op))},
		`executor "db"`:  {jobs.SetWorkers(0), jobs.SetMode(99)},
		`retry "db"`:     {errorOf(retrier.Do(context.Background(), op))},
		`group "db"`:     {members.Go(nil), errorOf(group.Each[int](ctx, lim, group.Config{Name: "db"}, nil, nil))},
		`lifecycle "db"`: {m.Connect(ctx, nil)},
	} {
		for _, err := range errs {
			require.ErrorContains(t, err, whose+": invalid configuration: ")
		}
	}
	require.EqualError(t, &spillway.ConfigError{Component: "watch", Faults: []spillway.Fault{{Field: "Every", Value: time.Second, Problem: "must be longer"}}},
		"watch: invalid configuration: Every is 1s: must be longer")
}

// Values are whatever a configuration may hold, a nil pointer that has a String method included.
func TestConfigErrorSaysEveryValue(t *testing.T) {
	e := &spillway.ConfigError{Component: "client"}
	e.Add("URL", (*url.URL)(nil), "must not be nil")
	e.Add("Name", "", "must not be empty")
	e.Add("Mode", spillway.Mode(7), "must be Enforce")
	require.EqualError(t, e, `client: invalid configuration: URL is <nil>: must not be nil; Name is "": must not be empty; Mode is mode(7): must be Enforce`)
}
