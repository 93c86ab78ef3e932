package observe_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/retry"
)

// Two names that differ only by a dot and an underscore make an exporter for Prometheus fail as a whole.
func TestTable(t *testing.T) {
	seen := map[string]string{}
	for _, m := range observe.Table() {
		require.NotEmpty(t, m.Name)
		folded := strings.ReplaceAll(m.Name, ".", "_")
		require.NotContains(t, seen, folded, "%s and %s", m.Name, seen[folded])
		seen[folded] = m.Name
		require.Regexp(t, `^spillway(\.[a-z][a-z_]*)+$`, m.Name)
		require.Regexp(t, `^(s|1|\{[a-z]+\})$`, m.Unit, m.Name)
		require.Regexp(t, `^[A-Z0-9].*[^.]$`, m.Description, m.Name)
		require.NotEmpty(t, m.Attributes, m.Name)
		if m.Kind == observe.UpDownCounter { // by the conventions those are singular
			require.Regexp(t, `([^s]|status)$`, m.Name)
		}
	}
	rows := observe.Table()
	rows[0].Attributes[0] = "changed"
	require.NotEqual(t, "changed", observe.Table()[0].Attributes[0], "the table itself was handed out")
}

// fixture is one of each component, with something counted in all of them.
func fixture(t *testing.T) (observe.Observable, *lane.Set[int]) {
	t.Helper()
	ok := func(context.Context) (int, error) { return 1, nil }
	fails := func(context.Context) (int, error) { return 0, errors.New("no") }

	l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 2, Track: spillway.TrackSite})
	require.NoError(t, err)
	_, _ = l.Do(t.Context(), ok)
	p, err := l.AdmitN(t.Context(), 2)
	require.NoError(t, err)
	t.Cleanup(p.Release)
	_, err = l.Do(t.Context(), ok)
	require.ErrorIs(t, err, spillway.ErrBackpressure)

	alone, err := lane.New[int](lane.Config{Name: "alone", Limit: 1})
	require.NoError(t, err)
	set, err := lane.NewSet[int](lane.SetConfig{
		Name: "lanes", Default: "bulk",
		Lanes: []lane.Config{{Name: "critical", Limit: 1}, {Name: "bulk", Limit: 1}},
	})
	require.NoError(t, err)
	_, _ = set.Do(t.Context(), fails)

	e, err := deadline.New[int](deadline.Config{Name: "jobs", Workers: 1, Queue: 1, TTL: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	_, err = e.Do(t.Context(), ok)
	require.NoError(t, err)

	budget, err := retry.NewBudget(retry.DefaultBudgetConfig())
	require.NoError(t, err)
	policy := retry.ReadPolicy()
	policy.Name, policy.Budget = "reads", budget
	r, err := retry.New[int](policy)
	require.NoError(t, err)
	_, _ = r.Do(t.Context(), ok)

	m, err := lifecycle.New(lifecycle.DefaultConfig("db", func(context.Context, int) error { return nil }))
	require.NoError(t, err)
	require.NoError(t, m.Connect(t.Context(), func(context.Context) (int, error) { return 1, nil }))
	t.Cleanup(func() { require.NoError(t, m.Close(context.Background())) })
	reg, err := lifecycle.NewRegistry(lifecycle.DefaultRegistryConfig("clusters",
		func(context.Context, string) (int, error) { return 1, nil },
		func(context.Context, int) error { return nil }))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })

	return observe.Join(observe.Limiter(l), observe.Lane(alone), observe.Set(set), observe.Executor(e),
		observe.Retrier(r), observe.Budget("db", budget), observe.Machine(m), observe.Registry(reg)), set
}

func TestEveryPointIsInTheTableAndUnique(t *testing.T) {
	all, _ := fixture(t)
	table := map[string]observe.Metric{}
	for _, m := range observe.Table() {
		table[m.Name] = m
	}
	seen, used := map[string]bool{}, map[string]bool{}
	for s := range observe.All(all) {
		for p := range s.Points() {
			require.Equal(t, table[p.Metric.Name], p.Metric)
			used[p.Metric.Name] = true
			id := p.Metric.Name
			last := -1
			for _, a := range p.Attributes {
				i := slices.Index(p.Metric.Attributes, a.Key)
				require.Greater(t, i, last, "%s has %s, unknown or out of order", p.Metric.Name, a.Key)
				last = i
				id += fmt.Sprint(a)
				require.NotEmpty(t, a.Value)
				require.NotContains(t, a.Value, "(", "%s: a number without a word", id)
			}
			require.False(t, seen[id], "%s twice", id)
			seen[id] = true
			require.GreaterOrEqual(t, p.Value, 0.0)
			require.Equal(t, p.Metric.Kind == observe.Histogram, p.Distribution != nil, p.Metric.Name)
		}
	}
	for name := range table {
		require.Contains(t, used, name, "in the table, but no component has it")
	}
}

func points(o observe.Observable, metric string) map[string]float64 {
	found := map[string]float64{}
	for s := range observe.All(o) {
		for p := range s.Points() {
			if p.Metric.Name == metric {
				var values []string
				for _, a := range p.Attributes {
					values = append(values, a.Value)
				}
				found[strings.Join(values, ",")] = p.Value
			}
		}
	}
	return found
}

func TestValues(t *testing.T) {
	all, set := fixture(t)
	require.Equal(t, map[string]float64{"db": 2, "alone": 1, "lanes,critical": 1, "lanes,bulk": 1},
		points(all, "spillway.limiter.permit.limit"))
	require.Equal(t, 2.0, points(all, "spillway.limiter.permit.usage")["db"])
	require.Contains(t, points(all, "spillway.limiter.permit.oldest.age"), "db")
	require.NotContains(t, points(all, "spillway.limiter.permit.oldest.age"), "alone")
	require.Equal(t, 1.0, points(all, "spillway.limiter.completions")["lanes,bulk,unknown"])
	require.Equal(t, map[string]float64{
		"db,connected": 1, "db,disconnected": 0, "db,connecting": 0, "db,closing": 0,
	}, points(all, "spillway.lifecycle.status"))
	require.Equal(t, 1.0, points(all, "spillway.lifecycle.transitions")["db,connecting,connected"])
	require.Equal(t, 1.0, points(all, "spillway.executor.tasks")["jobs"])
	require.Equal(t, 1.0, points(all, "spillway.retry.operations")["reads,false"])

	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = set.Do(done, func(context.Context) (int, error) { return 0, nil })
	require.NoError(t, set.Close(t.Context()))
	_, _ = set.Do(t.Context(), func(context.Context) (int, error) { return 0, nil })
	sum := 0.0
	for id, n := range points(all, "spillway.limiter.acquisitions") {
		if strings.HasPrefix(id, "lanes,bulk") {
			sum += n
		}
	}
	require.Equal(t, 3.0, sum, "each call is counted once")
}

func TestStopsWhenItIsEnough(t *testing.T) {
	all, _ := fixture(t)
	n := 0
	for range observe.All(nil, all, all) {
		if n++; n == 3 {
			break
		}
	}
	require.Equal(t, 3, n)
	for s := range observe.All(all) {
		n := 0
		for range s.Points() {
			if n++; n == 2 {
				break
			}
		}
		require.Equal(t, 2, n)
	}
}

func TestDetailHasNoPoints(t *testing.T) {
	s := observe.Snapshot{Component: "lane", Name: "x", Detail: true, Laned: &lane.Stats{}}
	for p := range s.Points() {
		require.Fail(t, "a detail would be counted twice", p.Metric.Name)
	}
}

// The diagram of states, as the machine itself knows it: what happens must be among what is shown from the start.
func TestShownTransitionsAreThoseThatHappen(t *testing.T) {
	st := lifecycle.Stats{Name: "x"}
	legal := points(snapshots{{Component: "lifecycle", Name: "x", Lifecycle: &st}}, "spillway.lifecycle.transitions")
	require.Len(t, legal, 6)
	m, err := lifecycle.New(lifecycle.DefaultConfig("x", func(context.Context, int) error { return nil }))
	require.NoError(t, err)
	happened := 0
	m.OnTransition(func(tr lifecycle.Transition) {
		happened++
		require.Contains(t, legal, "x,"+tr.From.String()+","+tr.To.String())
	})
	require.Error(t, m.Connect(t.Context(), func(context.Context) (int, error) { return 0, errors.New("no") }))
	require.NoError(t, m.Connect(t.Context(), func(context.Context) (int, error) { return 0, nil }))
	require.NoError(t, m.Close(t.Context()))
	require.Equal(t, 6, happened)
}

type snapshots []observe.Snapshot

func (all snapshots) Observe(yield func(observe.Snapshot) bool) {
	for _, s := range all {
		if !yield(s) {
			return
		}
	}
}

// describer has metrics of its own.
type describer struct{ metrics []observe.Metric }

func (d describer) Observe(func(observe.Snapshot) bool) {}
func (d describer) Metrics() []observe.Metric           { return d.metrics }

func TestMetricsOfDescribersEachOnce(t *testing.T) {
	a, b := observe.Metric{Name: "a"}, observe.Metric{Name: "b"}
	limiters, _ := fixture(t)
	all := observe.Join(describer{[]observe.Metric{a, b}}, nil, limiters, observe.Join(describer{[]observe.Metric{b}}))
	require.Equal(t, []observe.Metric{a, b}, observe.Metrics(all, all))
}
