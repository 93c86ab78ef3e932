package otelx_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/otelx"
	"github.com/spillway-go/spillway/retry"
)

var update = flag.Bool("update", false, "write the golden files")

// own is a component of somebody else's, with points of its own.
type own struct {
	name    string
	metrics []observe.Metric
	points  []observe.Point
}

func (o own) Metrics() []observe.Metric { return o.metrics }

func (o own) Observe(yield func(observe.Snapshot) bool) {
	yield(observe.Snapshot{Component: "own", Name: o.name, Own: o.points})
}

// everything is one of each component, with the hooks of b, and something in each count.
func everything(t *testing.T, b *bench) observe.Observable {
	t.Helper()
	ok := func(context.Context) (int, error) { return 1, nil }
	l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 2, Track: spillway.TrackSite})
	require.NoError(t, err)
	p, err := l.Admit(t.Context())
	require.NoError(t, err)
	t.Cleanup(p.Release)

	set, err := lane.NewSet[int](lane.SetConfig{Name: "lanes", Default: "bulk", Lanes: []lane.Config{
		{Name: "bulk", Limit: 1, MaxWaiting: 1, MaxWait: time.Millisecond, Hooks: []lane.Hooks{b.LaneHooks("lanes", "bulk")}},
	}})
	require.NoError(t, err)
	_, err = set.Do(t.Context(), func(ctx context.Context) (int, error) { return set.Do(ctx, ok) })
	require.ErrorIs(t, err, spillway.ErrBackpressure)

	e, err := deadline.New[int](deadline.Config{
		Name: "jobs", Workers: 1, Queue: 1, TTL: time.Minute, Hooks: []deadline.Hooks{b.ExecutorHooks("jobs")},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	_, err = e.Do(t.Context(), ok)
	require.NoError(t, err)

	budget, err := retry.NewBudget(retry.DefaultBudgetConfig())
	require.NoError(t, err)
	policy := retry.ReadPolicy()
	policy.Name, policy.Budget, policy.Hooks = "reads", budget, []retry.Hooks{b.RetryHooks()}
	policy.Base, policy.Cap, policy.Floor = time.Microsecond, time.Microsecond, 0
	policy.Classify = func(error) retry.Verdict { return retry.Transient }
	r, err := retry.New[int](policy)
	require.NoError(t, err)
	_, err = r.Do(t.Context(), func(context.Context) (int, error) { return 0, errors.New("no") })
	require.Error(t, err)

	m, err := lifecycle.New(lifecycle.DefaultConfig("link", func(context.Context, int) error { return nil }))
	require.NoError(t, err)
	m.OnTransition(b.Transitions("link"))
	require.Error(t, m.Connect(t.Context(), func(context.Context) (int, error) { return 0, errors.New("no") }))
	require.NoError(t, m.Connect(t.Context(), ok))
	require.NoError(t, m.Close(t.Context()))
	reg, err := lifecycle.NewRegistry(lifecycle.DefaultRegistryConfig("clusters",
		func(context.Context, string) (int, error) { return 1, nil }, func(context.Context, int) error { return nil }))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	return observe.Join(observe.Limiter(l), observe.Set(set), observe.Executor(e), observe.Retrier(r),
		observe.Budget("reads", budget), observe.Machine(m), observe.Registry(reg))
}

// busy has b see a call of each kind of end.
func busy(t *testing.T, b *bench) {
	t.Helper()
	o := b.Observer()
	for _, r := range []spillway.CallResult{
		{Backend: time.Millisecond, Attempts: 1, Rows: 3},
		{Backend: time.Millisecond, Attempts: 1, Rows: -1, Err: answer{"DEVICE_OVERLOAD", 18}, Outcome: spillway.OutcomeOverload},
	} {
		_, observation := o.Begin(t.Context(), spillway.Call{
			System: "aerospike", Client: "main", Server: "db.example", Port: 3100,
			Operation: "Get", Namespace: "test", Collection: "users", Kind: spillway.KindRead,
		})
		observation.End(r)
	}
	_, err := otelx.Operation[int](b.Instrumentation, "work")(func(context.Context) (int, error) { return 0, context.Canceled })(t.Context())
	require.Error(t, err)
	_, err = otelx.Operation[int](b.Instrumentation, "work")(func(context.Context) (int, error) { return 0, nil })(t.Context())
	require.NoError(t, err)
}

// answer is an error as an adapter gives it.
type answer struct {
	code   string
	number int
}

func (a answer) Error() string      { return "answered " + a.code }
func (a answer) StatusCode() string { return a.code }
func (a answer) ErrorType() string  { return a.code }
func (a answer) ResultCode() int    { return a.number }
func (a answer) Doubtful() bool     { return true }

// G-OTEL-1; R175: what the SDK's reader sees is the golden list, and that is the table: every
// metric of it, under its name, kind, unit and attributes, and nothing else. A change of it
// is one that users notice.
func TestMetricsAreTheGoldenList(t *testing.T) {
	b := newBench(t, otelx.WithReturnedRows())
	extra := observe.Metric{Name: "own.facts", Kind: observe.UpDownCounter, Unit: "s", Description: "Facts", Attributes: []string{"fact"}}
	b.register(t, everything(t, b), own{"x", []observe.Metric{extra}, []observe.Point{
		{Metric: extra, Value: 1.5, Attributes: []observe.Attribute{{Key: "fact", Value: "a"}}},
	}})
	busy(t, b)

	var lines []string
	seen := b.collect(t)
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		m := seen[name]
		keys := map[attribute.Key]bool{}
		each(t, m, func(set attribute.Set, _ float64, bounds []float64) {
			for _, a := range set.ToSlice() {
				keys[a.Key] = true
			}
			require.Equal(t, kindOf(t, m) == "histogram", len(bounds) > 0, name)
		})
		lines = append(lines, fmt.Sprintf("%s %s %s %v", name, kindOf(t, m), m.Unit, slices.Sorted(maps.Keys(keys))))
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile("testdata/metrics.golden", []byte(got), 0o600))
	}
	want, err := os.ReadFile("testdata/metrics.golden")
	require.NoError(t, err)
	require.Equal(t, string(want), got)

	for _, row := range slices.Concat(observe.Table(), otelx.Metrics(), []observe.Metric{extra}) {
		m, ok := seen[row.Name]
		if row.Kind == observe.Histogram && strings.HasPrefix(row.Name, "spillway.limiter.hold.") {
			require.False(t, ok, row.Name)
			continue
		}
		require.True(t, ok, row.Name)
		require.Equal(t, row.Kind.String(), kindOf(t, m), row.Name)
		require.Equal(t, row.Unit, m.Unit, row.Name)
		require.Equal(t, row.Description, m.Description, row.Name)
		each(t, m, func(set attribute.Set, _ float64, _ []float64) {
			for _, a := range set.ToSlice() {
				require.Contains(t, row.Attributes, string(a.Key), row.Name)
			}
		})
		delete(seen, row.Name)
	}
	require.Empty(t, seen, "not in the table")
}

// What hooks record is what Recorded says, and the rest of the table's histograms is not.
func TestRecordedHistogramsAreInTheTable(t *testing.T) {
	names := map[string]bool{}
	for _, row := range observe.Table() {
		names[row.Name] = row.Kind == observe.Histogram
	}
	for _, name := range otelx.Recorded() {
		require.True(t, names[name], name)
	}
}

// The values are those that the components count.
func TestValuesAreThoseOfTheComponents(t *testing.T) {
	b := newBench(t)
	b.register(t, everything(t, b))
	require.Equal(t, map[string]float64{"db": 2, "bulk,lanes": 1}, b.values(t, "spillway.limiter.permit.limit"))
	require.Equal(t, map[string]float64{"db": 1, "bulk,lanes": 0}, b.values(t, "spillway.limiter.permit.usage"))
	require.Equal(t, map[string]float64{"bulk,lanes": 1}, b.values(t, "spillway.limiter.wait.duration"))
	require.Equal(t, map[string]float64{"jobs": 1}, b.values(t, "spillway.executor.wait.duration"))
	require.Equal(t, map[string]float64{"jobs": 1}, b.values(t, "spillway.executor.task.duration"))
	require.Equal(t, map[string]float64{"reads": 2}, b.values(t, "spillway.retry.delay.duration"))
	require.Equal(t, map[string]float64{"link": 1, "failed,link": 1}, b.values(t, "spillway.lifecycle.connect.duration"))
	require.Equal(t, map[string]float64{"link": 1}, b.values(t, "spillway.lifecycle.drain.duration"))
	require.Equal(t, 1.0, b.values(t, "spillway.limiter.acquisitions")["max_wait_exceeded,bulk,lanes"])
}
