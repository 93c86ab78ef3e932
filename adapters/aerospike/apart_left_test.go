package aerospike_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// occupy has a call of somebody's keep the driver's own connection, for which all that
// administers then waits. It ends when the gate is released.
func occupy(t *testing.T, srv *aerospiketest.Server, client *aerospike.Client) (gate *aerospiketest.Gate, ended <-chan error) {
	t.Helper()
	gate = srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	done := make(chan error, 1)
	go func() { done <- client.Truncate(patient(t), &as.InfoPolicy{Timeout: patience}, "test", "none", nil) }()
	require.NoError(t, gate.Wait(patient(t), 1))
	return gate, done
}

// A call that is left is reported with what is known of it then: that it was sent, where
// to, and since when.
func TestObserverOfACallThatWasSentAndLeft(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	w := new(witness)
	client := untended(t, srv, func(c *aerospike.Config) { c.Observer = w })
	detached, err := client.With(aerospike.Detach())
	require.NoError(t, err)
	for _, c := range []struct {
		kind aerospiketest.Kind
		node string
		method
	}{
		{aerospiketest.KindPut, "A1", method{"Put", func(ctx ctxt, _ *aerospike.Client) error {
			return detached.Put(ctx, nil, newKey(t, 1), as.BinMap{"a": 1})
		}}},
		{aerospiketest.KindGet, "A1", method{"Get", func(ctx ctxt, _ *aerospike.Client) error {
			return second(detached.Get(ctx, nil, newKey(t, 1)))
		}}},
		{aerospiketest.KindBackground, "", method{"QueryExecute", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.QueryExecute(ctx, nil, nil, statement(), as.TouchOp()))
		}}},
		{aerospiketest.KindAdmin, "", method{"QueryUsers", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.QueryUsers(ctx, nil))
		}}},
	} {
		gate := srv.Hold(aerospiketest.Match{Kinds: c.kind})
		ctx, cancel := context.WithCancel(patient(t))
		done := make(chan error, 1)
		go func() { done <- c.call(ctx, client) }()
		require.NoError(t, gate.Wait(patient(t), 1), c.name)
		cancel()
		var left *aerospike.DetachedError
		require.ErrorAs(t, <-done, &left, c.name)
		_, ended, _ := w.take()
		require.Len(t, ended, 1, c.name)
		require.Equal(t, 1, ended[0].Attempts, c.name)
		require.Equal(t, c.node, ended[0].Node, c.name)
		require.Positive(t, ended[0].Backend, c.name)
		require.Less(t, ended[0].Backend, patience, c.name)
		gate.Release()
	}
	balanced(t, client)
}

// G-AER-2: what waits for the driver's connection was not sent, nor is it when its caller
// has left.
func TestAdministrationThatWasLeftBeforeIsNotSent(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	w := new(witness)
	client := untended(t, srv, func(c *aerospike.Config) { c.Observer = w })
	put(t, client, newKey(t, 1), as.BinMap{"a": 1})
	gate, ended := occupy(t, srv, client)
	w.take()
	ctx, cancel := context.WithTimeout(context.Background(), short)
	defer cancel()
	err := client.Truncate(timeless{ctx}, nil, "test", "s", nil) // whose own time isn't over when the gate opens
	var left *aerospike.DetachedError
	require.ErrorAs(t, err, &left)
	_, reports, _ := w.take()
	require.Len(t, reports, 1)
	require.Zero(t, reports[0].Attempts)
	require.Zero(t, reports[0].Backend)
	gate.Release()
	require.NoError(t, <-ended)
	balanced(t, client)
	require.Equal(t, 1, srv.Records("test", "s"))
}

// timeless is a context that doesn't tell when it ends.
type timeless struct{ context.Context }

func (timeless) Deadline() (time.Time, bool) { return time.Time{}, false }

// leaving is a middleware that leaves the first try of each call as soon as a command of
// it is held, and then, at once, makes another.
type leaving struct {
	t    testing.TB
	gate atomic.Pointer[aerospiketest.Gate]
}

func (l *leaving) use(ctx context.Context, _ spillway.Call, next func(context.Context) error) error {
	gate := l.gate.Swap(nil)
	if gate == nil {
		return next(ctx)
	}
	first, cancel := context.WithCancel(ctx)
	held := make(chan error, 1)
	go func() { held <- gate.Wait(ctx, 1); cancel() }()
	err := next(first)
	require.NoError(l.t, <-held)
	var left *aerospike.DetachedError
	require.ErrorAs(l.t, err, &left)
	gate.Release()
	return next(ctx)
}

// A middleware may give each try a time: what the driver still does for one that was left is
// nothing that the next one shares. (The race detector sees whether it is.)
func TestTryThatWasLeftSharesNothingWithTheNextConcurrentSafe(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	l := &leaving{t: t}
	client := untended(t, srv, func(c *aerospike.Config) {
		c.Use = []spillway.Middleware{l.use}
		c.Lanes = aerospike.DefaultLanes(20) // for those who were left, too
		c.Lanes[3].Limit, c.Lanes[4].Limit = 10, 40
	})
	detached, err := client.With(aerospike.Detach())
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "m.lua")
	require.NoError(t, os.WriteFile(file, []byte("function f(r) return 1 end"), 0o600))
	task, err := client.RegisterUDF(patient(t), nil, []byte("function f(r) return 1 end"), "m.lua", as.LUA)
	require.NoError(t, err)
	try := func(kinds aerospiketest.Kind, skip int, m method) {
		gate := srv.Hold(aerospiketest.Match{Kinds: kinds})
		gate.Step(skip)
		l.gate.Store(gate)
		err := m.call(patient(t), client)
		require.Nil(t, l.gate.Load(), m.name)
		require.NotErrorIs(t, err, spillway.ErrBackpressure, m.name)
	}
	for _, m := range adminMethods(file) {
		switch {
		case m.name == "ChangePassword": // which is never sent: there is no user
		case info[m.name]:
			try(aerospiketest.KindInfo, 1, m)
		default:
			try(aerospiketest.KindAdmin, 0, m)
		}
	}
	try(aerospiketest.KindInfo, 1, method{"TaskDone", func(ctx ctxt, _ *aerospike.Client) error { return second(task.Done(ctx)) }})
	for _, m := range streamMethods(firstNode) {
		switch m.name {
		case "QueryExecute", "ExecuteUDF", "ExecuteUDFNode":
			try(aerospiketest.KindBackground, 0, m)
		}
	}
	for _, m := range recordMethods(newKey(t, 1)) {
		if m.name != "PutObject" && m.name != "GetObject" { // which aren't detached
			try(aerospiketest.KindsData, 0, method{m.name, func(ctx ctxt, _ *aerospike.Client) error { return m.call(ctx, detached) }})
		}
	}
	balanced(t, client)
}

// A write that was left may have been executed: what the next try finds may be its doing.
func TestTryThatWasLeftLeavesDoubt(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	l := &leaving{t: t}
	client := untended(t, srv, func(c *aerospike.Config) { c.Use = []spillway.Middleware{l.use} })
	detached, err := client.With(aerospike.Detach())
	require.NoError(t, err)
	put(t, client, newKey(t, 1), as.BinMap{"a": 1})
	policy := as.NewWritePolicy(1, 0)
	policy.GenerationPolicy = as.EXPECT_GEN_EQUAL
	srv.Inject(aerospiketest.Fault{Skip: 1, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeGeneration})
	l.gate.Store(srv.Hold(aerospiketest.Match{}))
	err = detached.Put(patient(t), policy, newKey(t, 1), as.BinMap{"a": 2})
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.EqualValues(t, aerospiketest.CodeGeneration, ours.Code)
	require.True(t, ours.InDoubt)
	balanced(t, client)
}

// G-AER-5: a job that was left is begun at the other nodes with what its caller passed then,
// who may write to that by now. (The race detector sees whether that is anybody's business.)
func TestJobThatWasLeftHasCopies(t *testing.T) {
	query, write := as.NewQueryPolicy(), as.NewWritePolicy(0, 0)
	st, ops, args := statement(), []*as.Operation{as.TouchOp()}, []as.Value{as.NewValue(1)}
	for _, m := range []method{
		{"QueryExecute", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.QueryExecute(ctx, query, write, st, ops...))
		}},
		{"ExecuteUDF", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.ExecuteUDF(ctx, query, st, "m", "f", args...))
		}},
	} {
		srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2}) // one each: the gate is for this call alone
		client := untended(t, srv)
		gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindBackground})
		ctx, cancel := context.WithCancel(patient(t))
		done := make(chan error, 1)
		go func() { done <- m.call(ctx, client) }()
		require.NoError(t, gate.Wait(patient(t), 1))
		cancel()
		var left *aerospike.DetachedError
		require.ErrorAs(t, <-done, &left)
		query.MaxRecords, write.Generation, st.SetName = 1, 1, "t"
		ops[0], args[0] = as.GetOp(), as.NewValue(2)
		gate.Release()
		balanced(t, client)
	}
}
