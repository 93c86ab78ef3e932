package aerospike_test

import (
	"context"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// brief is a configuration in which no policy gives more than a short time, and nobody
// tends.
func brief(c *aerospike.Config) {
	c.ClientPolicy.TendInterval = time.Hour
	c.StreamTimeout = short
	c.Lanes = aerospike.DefaultLanes(8)
	c.Lanes[4].Limit = 40
	c.Policies = aerospike.Policies{
		Base: as.NewPolicy(), Write: as.NewWritePolicy(0, 0), Admin: &as.AdminPolicy{Timeout: short}, Info: &as.InfoPolicy{Timeout: short},
	}
	c.Policies.Base.TotalTimeout, c.Policies.Write.TotalTimeout = short, short
}

// unbounded is a context without a deadline.
func unbounded(t *testing.T) context.Context { t.Helper(); return context.WithoutCancel(patient(t)) }

// outcomes calls every method without a deadline, all at the same time, and returns what
// they return.
func outcomes(t *testing.T, client *aerospike.Client, all []method) map[string]error {
	t.Helper()
	type outcome struct {
		name string
		err  error
	}
	ended := make(chan outcome, len(all))
	for _, m := range all {
		go func() { ended <- outcome{m.name, m.call(unbounded(t), client)} }()
	}
	got := map[string]error{}
	for range all {
		select {
		case o := <-ended:
			got[o.name] = o.err
		case <-patient(t).Done():
			t.Fatal("somebody waits without a limit")
		}
	}
	return got
}

// G-AER-2: the driver waits for its own connection without a limit. A caller whose context
// has no deadline leaves when the call's own time is over, and nothing is sent after that.
func TestAdministrationEndsWithItsOwnTime(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, brief)
	budgeted, err := client.With(aerospike.Budget(10 * short))
	require.NoError(t, err)
	task, err := budgeted.CreateIndex(patient(t), &as.WritePolicy{BasePolicy: as.BasePolicy{TotalTimeout: patience}}, "test", "s", "task", "t", as.NUMERIC)
	require.NoError(t, err)
	compat := compatOf(t, client)
	put(t, client, newKey(t, 1), as.BinMap{"a": 1})
	all := append(adminMethods("no file"),
		method{"TaskDone", func(ctx ctxt, _ *aerospike.Client) error { return second(task.Done(ctx)) }},
		method{"Compat", func(ctxt, *aerospike.Client) error { return compat.Truncate(nil, "test", "s", nil) }})
	gate, ended := occupy(t, srv, client)
	for name, err := range outcomes(t, client, all) {
		var left *aerospike.DetachedError
		require.ErrorAs(t, err, &left, name)
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		require.Equal(t, spillway.OutcomeTimeout, spillway.OutcomeOf(err), name)
		var driver *as.AerospikeError
		if name == "Compat" {
			require.ErrorAs(t, err, &driver)
			require.Equal(t, types.TIMEOUT, driver.ResultCode)
			require.True(t, driver.InDoubt)
			continue
		}
		require.Equal(t, name, left.Op)
	}
	require.Equal(t, len(all)+1, client.Snapshot().Lane("", aerospike.LaneAdmin).InUse, "permits are the driver's to give back")
	seen := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindInfo | aerospiketest.KindAdmin})
	defer seen.Stop()
	gate.Release()
	require.NoError(t, <-ended)
	balanced(t, client)
	for _, s := range seen.Served() {
		if s.Text != "truncate:namespace=test;set=none\n" {
			require.Equal(t, "node\n", s.Text, "the question before, and nothing else")
		}
	}
	require.Equal(t, 1, srv.Records("test", "s"))
}

// G-AER-17: in mode Shadow a call of administration waits as long as the driver.
func TestAdministrationInShadowIsTheDrivers(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, brief, func(c *aerospike.Config) { c.Mode = spillway.Shadow })
	within, err := client.With(aerospike.Budget(short))
	require.NoError(t, err)
	gate, ended := occupy(t, srv, client)
	truncated := make(chan error, 2)
	go func() { truncated <- client.Truncate(unbounded(t), nil, "test", "s", nil) }()
	go func() { truncated <- within.DropIndex(unbounded(t), nil, "test", "s", "ix") }()
	late, cancel := context.WithTimeout(context.Background(), 3*short)
	defer cancel()
	select {
	case err := <-truncated:
		t.Fatalf("ended by us: %v", err)
	case <-late.Done():
	}
	gate.Release()
	require.NoError(t, <-ended)
	require.NoError(t, <-truncated)
	require.NoError(t, <-truncated)
	balanced(t, client)
}

// G-AER-2: the driver begins a job at one node after the other, and each may take the whole
// time. Its caller leaves when that is over.
func TestJobEndsWithItsOwnTime(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 5})
	client := connect(t, srv, brief)
	srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindBackground}, Action: aerospiketest.ActionSwallow})
	for name, err := range outcomes(t, client, []method{{"QueryExecute", func(ctx ctxt, c *aerospike.Client) error {
		return second(c.QueryExecute(ctx, nil, nil, statement(), as.TouchOp()))
	}}}) {
		var left *aerospike.DetachedError
		require.ErrorAs(t, err, &left)
		require.Equal(t, name, left.Op)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	balanced(t, client)
}
