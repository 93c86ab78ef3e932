package aerospike_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

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
