package aerospike_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/retry"
)

// sample is every point of an Observable, by metric and attributes.
type sample map[string]float64

// take reads all points, and sees to it that they are what they promise: G-OBS-1 and
// G-OBS-2, for the client's own too.
func take(t *testing.T, all ...observe.Observable) sample {
	t.Helper()
	known := map[string]observe.Metric{}
	for _, m := range slices.Concat(observe.Table(), observe.Metrics(all...)) {
		require.NotContains(t, known, m.Name)
		known[m.Name] = m
	}
	found := sample{}
	for s := range observe.All(all...) {
		for p := range s.Points() {
			require.Equal(t, known[p.Metric.Name], p.Metric)
			last, id := -1, p.Metric.Name
			for _, a := range p.Attributes {
				i := slices.Index(p.Metric.Attributes, a.Key)
				require.Greater(t, i, last, "%s: %s is unknown or out of order", p.Metric.Name, a.Key)
				last = i
				id += fmt.Sprintf(" %s=%s", a.Key[strings.LastIndexByte(a.Key, '.')-3:], a.Value)
			}
			require.NotContains(t, found, id)
			found[id] = p.Value
		}
	}
	return found
}

// sum adds up the points of a metric whose attributes have the part in them.
func (s sample) sum(metric, part string) (sum float64) {
	for id, v := range s {
		if strings.HasPrefix(id, metric+" ") && strings.Contains(id, part) {
			sum += v
		}
	}
	return sum
}

// notBefore fails if a count is less than it was. Those of the driver are there as long as
// there is a connection.
func (s sample) notBefore(t *testing.T, earlier sample) {
	t.Helper()
	for _, m := range slices.Concat(observe.Table(), (*aerospike.Client)(nil).Metrics()) {
		if m.Kind == observe.Counter && (s.sum(m.Name, "") > 0 || !strings.HasPrefix(m.Name, "aerospike.client.")) {
			require.GreaterOrEqual(t, s.sum(m.Name, ""), earlier.sum(m.Name, ""), m.Name)
		}
	}
}

const (
	limitMetric    = "spillway.limiter.permit.limit"
	usageMetric    = "spillway.limiter.permit.usage"
	acquired       = "spillway.limiter.acquisitions"
	attemptsMetric = "aerospike.client.connection.attempts"
)

// R154: every lane is there from the start, summed over the nodes; what nodes have is a
// detail.
func TestClientIsObservable(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3})
	cfg := aerospike.DefaultConfig(srv.Hosts()...)
	cfg.WarmUp = 0
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	before := take(t, client)
	require.Zero(t, before.sum(limitMetric, ""), "nothing can be in use yet")
	require.Contains(t, before, limitMetric+" ter.name=aerospike ane.name=read")
	require.Contains(t, before, "aerospike.client.expired ent.name=aerospike")
	require.NotContains(t, before, "aerospike.client.node.count ent.name=aerospike")

	require.NoError(t, client.Connect(patient(t)))
	fill(t, client, 30)
	for i := range 30 {
		_, err = client.Get(patient(t), nil, newKey(t, i))
		require.NoError(t, err)
	}
	now := take(t, client)
	now.notBefore(t, before)
	require.EqualValues(t, 3*32, now.sum(limitMetric, "ane.name=read"))
	require.EqualValues(t, 3*16, now.sum(limitMetric, "ane.name=write"))
	require.EqualValues(t, 2, now.sum(limitMetric, "ane.name=admin"))
	require.EqualValues(t, 30, now.sum(acquired, "ane.name=read"))
	require.EqualValues(t, 30, now.sum("spillway.limiter.completions", "ane.name=write"))
	require.EqualValues(t, 30, now.sum("spillway.retry.operations", "aerospike/reads"))
	require.EqualValues(t, 3, now.sum("aerospike.client.node.count", ""))
	require.Positive(t, now.sum("aerospike.client.tends", ""))
	require.Positive(t, now.sum(attemptsMetric, ""))
	require.Positive(t, now.sum("aerospike.client.connection.open", ""))
	details := 0
	for s := range observe.All(client) {
		if s.Detail {
			details++
			require.Contains(t, []string{"A1", "A2", "A3"}, s.Node)
		}
	}
	require.Equal(t, 3*4, details)
	for n := range 8 { // whoever has enough at any place is left alone
		seen := 0
		client.Observe(func(observe.Snapshot) bool { seen++; return seen <= n })
		require.Equal(t, n+1, seen)
	}
	require.NoError(t, client.Close(patient(t)))
	after := take(t, client)
	after.notBefore(t, sample{acquired + " x": 60})
	require.Zero(t, after.sum(limitMetric, ""))

	var zero aerospike.Client
	require.Empty(t, take(t, &zero, new(aerospike.Background)))
	zero.OnTransition(nil)()
}

// M-07: a client that was at one cluster and now is at another says nothing of the first,
// and its counts go on.
func TestReconnectToASecondCluster(t *testing.T) {
	blue := aerospiketest.NewServer(t, aerospiketest.Config{ClusterName: "blue", Nodes: 2})
	client := connect(t, blue)
	fill(t, client, 20)
	first := take(t, client)
	require.Equal(t, first.sum(attemptsMetric, ""), first.sum(attemptsMetric, "ter.name=blue"))
	require.NoError(t, client.Close(patient(t)))
	disconnected := take(t, client)
	require.Zero(t, disconnected.sum("aerospike.client", "blue"))
	for id := range disconnected {
		require.NotContains(t, id, "blue", "there is no connection")
	}
	addr := blue.Addr()
	blue.Close()

	green := aerospiketest.NewServer(t, aerospiketest.Config{ClusterName: "green", Addr: addr})
	require.NoError(t, client.Connect(patient(t)))
	fill(t, client, 5)
	second := take(t, client)
	for id := range second {
		require.NotContains(t, id, "blue")
	}
	second.notBefore(t, first)
	require.Greater(t, second.sum(attemptsMetric, "ter.name=green"), first.sum(attemptsMetric, ""), "totals go on")
	require.EqualValues(t, 25, second.sum(acquired, "ane.name=write"))
	require.EqualValues(t, 1, second.sum("aerospike.client.node.count", "ter.name=green"))
	require.EqualValues(t, 16, second.sum(limitMetric, "ane.name=write"), "of the nodes that there are now")
	require.NoError(t, client.Close(patient(t)))
	green.Close()
}

// Two clients have nothing in common: not a point has no name of its client.
func TestTwoClientsNeverMix(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{ClusterName: "blue"})
	a := connect(t, srv, func(c *aerospike.Config) { c.Name = "a" })
	b := connect(t, srv, func(c *aerospike.Config) { c.Name = "b" })
	fill(t, a, 3)
	both := take(t, a, b)
	require.Len(t, both, len(take(t, a))+len(take(t, b)))
	require.EqualValues(t, 3, both.sum(acquired, "ter.name=a ane.name=write"))
	require.Zero(t, both.sum(acquired, "ter.name=b"))
}

// Counts never go back: not while a close waits for a call, not when an orphan ends, not
// when settings replace a retrier.
func TestClientCountsNeverGoBack(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, swift, func(c *aerospike.Config) { c.DrainTimeout = 0 })
	fill(t, client, 5)
	_, err := client.Get(patient(t), nil, newKey(t, 1))
	require.NoError(t, err)
	last := take(t, client)
	next := func() {
		t.Helper()
		now := take(t, client)
		now.notBefore(t, last)
		last = now
	}
	for range 3 {
		require.NoError(t, client.Apply(aerospike.Settings{Reads: &aerospike.RetrySettings{Attempts: 3}}))
		_, err := client.Get(patient(t), nil, newKey(t, 1))
		require.NoError(t, err)
		next()
	}
	require.EqualValues(t, 4, last.sum("spillway.retry.attempts", "aerospike/reads"))

	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindsRead})
	held := make(chan error, 1)
	go func() { _, err := client.Get(patient(t), nil, newKey(t, 2)); held <- err }()
	require.NoError(t, gate.Wait(patient(t), 1))
	next()
	require.EqualValues(t, 1, last.sum(usageMetric, "ane.name=read"))
	require.ErrorIs(t, client.Close(patient(t)), lifecycle.ErrOrphaned)
	next()
	require.EqualValues(t, 1, last.sum(usageMetric, "ane.name=read"), "the orphan's call is still under way")
	require.NoError(t, client.Connect(patient(t)))
	put(t, client, newKey(t, 9), as.BinMap{"i": 1})
	next()
	require.EqualValues(t, 1, last.sum(usageMetric, "ane.name=read"))
	require.EqualValues(t, 32, last.sum(limitMetric, "ane.name=read"))
	gate.Release()
	require.NoError(t, <-held)
	next()
	require.NoError(t, client.Close(patient(t)))
	next()
	require.EqualValues(t, 5, last.sum(acquired, "ane.name=read"))
	require.EqualValues(t, 6, last.sum(acquired, "ane.name=write"))
	require.Zero(t, last.sum(usageMetric, ""))
}

// The driver's own statistics go through JSON: it isn't asked at every look.
func TestDriverIsNotAskedAtEveryLook(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.WarmUp = 1 })
	first := take(t, client)
	opened, err := client.WarmUp(patient(t), 5)
	require.NoError(t, err)
	require.Positive(t, opened)
	require.Equal(t, first.sum(attemptsMetric, ""), take(t, client).sum(attemptsMetric, ""))
	client.AgeDriverStats()
	require.Equal(t, first.sum(attemptsMetric, "")+float64(opened), take(t, client).sum(attemptsMetric, ""))
}

// Budgets that retriers share are one component, and writes in the background another.
func TestClientObservesBudgetsAndBackground(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	budget, err := retry.NewBudget(retry.DefaultBudgetConfig())
	require.NoError(t, err)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Reads.Budget, c.Writes.Budget = budget, budget
		c.Connects = retry.ReadPolicy()
	})
	background, err := client.Background(aerospike.DefaultBackgroundConfig())
	require.NoError(t, err)
	require.NoError(t, background.Put(patient(t), nil, newKey(t, 1), as.BinMap{"i": 1}))
	require.NoError(t, background.Close(patient(t)))
	all := take(t, client, background)
	require.EqualValues(t, 10, all.sum("spillway.retry.budget.limit", ""))
	require.EqualValues(t, 1, all.sum("spillway.executor.tasks", "aerospike/background"))
	require.EqualValues(t, 1, all.sum("spillway.retry.operations", "aerospike/connects"))
}

// Whoever stands around calls knows whose they are, how long they waited, and hears of
// what happens in the lanes; a batch over several sets is for none of them.
func TestCallsNameTheirClientAndTellTheirWait(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	w := new(witness)
	waits := make(chan time.Duration, 9)
	var lanes []string
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Observer, c.Lanes = w, aerospike.DefaultLanes(8)
		c.Lanes[0].Limit, c.Lanes[0].MaxWaiting = 1, 1
		c.LaneHooks = func(name string) lane.Hooks {
			lanes = append(lanes, name)
			return lane.Hooks{Waited: func(_ context.Context, d time.Duration, err error) {
				if name == aerospike.LaneRead && err == nil {
					waits <- d
				}
			}}
		}
	})
	require.Equal(t, []string{"read", "write", "batch", "stream", "admin"}, lanes)
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindsRead})
	done := make(chan error, 2)
	get := func() { _, err := client.Exists(patient(t), nil, newKey(t, 1)); done <- err }
	go get()
	require.NoError(t, gate.Wait(patient(t), 1))
	go get()
	gate.Release()
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	began, ended, _ := w.take()
	require.Equal(t, "aerospike", began[0].Client)
	require.Equal(t, srv.Addr(), fmt.Sprintf("%s:%d", began[0].Server, began[0].Port))
	for _, r := range ended {
		require.Positive(t, r.Waited)
	}
	if len(waits) > 0 { // the second may have come when the first was done
		require.GreaterOrEqual(t, max(ended[0].Waited, ended[1].Waited), <-waits)
	}

	put(t, client, newKey(t, 2), as.BinMap{"i": 1})
	_, ended, _ = w.take()
	require.Zero(t, ended[0].Waited, "nobody may wait there")

	other, err := as.NewKey("test", "other", 1)
	require.NoError(t, asError(err))
	away, err := as.NewKey("elsewhere", "s", 1)
	require.NoError(t, asError(err))
	for _, b := range []struct {
		keys    []*as.Key
		ns, set string
	}{
		{[]*as.Key{newKey(t, 1), newKey(t, 2)}, "test", "s"},
		{[]*as.Key{newKey(t, 1), other}, "test", ""},
		{[]*as.Key{newKey(t, 1), other, away}, "", ""},
	} {
		_, _ = client.BatchExists(patient(t), nil, b.keys)
		began, _, _ = w.take()
		require.Equal(t, []string{b.ns, b.set}, []string{began[0].Namespace, began[0].Collection})
	}
}

// What telemetry calls an error is a closed set, whatever the server answers.
func TestErrorsHaveStatusCodes(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Reads, c.Writes = retry.Policy{}, retry.Policy{} })
	for code, want := range map[aerospiketest.Code]string{
		aerospiketest.CodeDeviceOverload: "DEVICE_OVERLOAD", 231: "231",
	} {
		srv.Inject(aerospiketest.Fault{Times: 1, Action: aerospiketest.ActionCode, Code: code})
		_, err := client.Exists(patient(t), nil, newKey(t, 1))
		var ours *aerospike.Error
		require.ErrorAs(t, err, &ours)
		require.Equal(t, want, ours.StatusCode())
		require.Equal(t, want, ours.ErrorType())
		require.Equal(t, int(code), ours.ResultCode())
		require.False(t, ours.Doubtful())
	}
	srv.Inject(aerospiketest.Fault{Times: 1, Action: aerospiketest.ActionReset})
	err := client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"i": 1})
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.Empty(t, ours.StatusCode(), "the server has answered nothing")
	require.Equal(t, "NETWORK_ERROR", ours.ErrorType())
	require.True(t, ours.Doubtful())
	require.Equal(t, spillway.OutcomeNetwork, ours.Outcome())
}
