package aerospike_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// untended is a client whose driver asks nothing by itself, so that faults of info
// commands meet the commands of the test alone. Its policies are patient.
func untended(t *testing.T, srv *aerospiketest.Server, change ...func(*aerospike.Config)) *aerospike.Client {
	t.Helper()
	return connect(t, srv, append([]func(*aerospike.Config){func(c *aerospike.Config) {
		c.ClientPolicy.TendInterval = time.Hour
		c.Lanes = aerospike.DefaultLanes(8)
		c.Lanes[4].Limit = 40
		c.Policies = aerospike.Policies{
			Base: as.NewPolicy(), Write: as.NewWritePolicy(0, 0), Admin: &as.AdminPolicy{Timeout: patience}, Info: &as.InfoPolicy{Timeout: patience},
		}
		c.Policies.Base.TotalTimeout, c.Policies.Write.TotalTimeout = patience, patience
	}}, change...)...)
}

// G-AER-8: what goes over the driver's own connection, under every fault of info
// commands, which meets the question whether the node is there. Each method returns an
// error with a class, gives its permit back and leaves no goroutine.
func TestSurfaceOfInfoSurvivesEveryFault(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			srv := aerospiketest.NewServer(t)
			client := untended(t, srv)
			all := administration(t, client)
			fault := f.fault
			fault.Match.Kinds = aerospiketest.KindInfo
			injected := srv.Inject(fault)
			var wg sync.WaitGroup
			for _, m := range all {
				wg.Add(1)
				go func() { defer wg.Done(); requireFailed(t, m, f, client, false) }()
			}
			wg.Wait()
			require.NotZero(t, injected.Hits())
			injected.Remove()
			require.NoError(t, client.Truncate(patient(t), nil, "test", "s", nil), "all is well again")
			balanced(t, client)
		})
	}
}

// G-AER-8: the same for the command after that question, with its work done or not.
func TestSurfaceOfInfoSurvivesEveryLaterFault(t *testing.T) {
	for _, f := range faults {
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/done=%v", f.name, done), func(t *testing.T) {
				srv := aerospiketest.NewServer(t)
				client := untended(t, srv)
				fault := f.fault
				fault.Match.Kinds, fault.Skip, fault.Times, fault.After = aerospiketest.KindInfo, 1, 1, done
				for _, m := range administration(t, client) {
					if !info[m.name] && m.name != "TaskDone" {
						continue // its second command is none of info
					}
					injected := srv.Inject(fault)
					requireFailed(t, m, f, client, f.name != "code" && m.name != "ListUDF" && m.name != "TaskDone")
					require.Equal(t, 1, injected.Hits(), m.name)
					injected.Remove()
				}
				balanced(t, client)
			})
		}
	}
}

// administration are all methods over the driver's own connection, and the tasks of
// those that begin something.
func administration(t *testing.T, client *aerospike.Client) []method {
	t.Helper()
	index, err := client.CreateIndex(patient(t), nil, "test", "s", "task", "t", as.NUMERIC)
	require.NoError(t, err)
	module, err := client.RegisterUDF(patient(t), nil, []byte("function f(r) return 1 end"), "task.lua", as.LUA)
	require.NoError(t, err)
	gone, err := client.RemoveUDF(patient(t), nil, "task.lua")
	require.NoError(t, err)
	job, err := client.QueryExecute(patient(t), nil, nil, statement(), as.TouchOp())
	require.NoError(t, err)
	all := methods(t)
	all = all[len(all)-len(adminMethods("")):]
	for _, task := range []*aerospike.Task{index, module, gone, job} {
		all = append(all, method{"TaskDone", func(ctx ctxt, _ *aerospike.Client) error { return second(task.Done(ctx)) }})
	}
	return all
}

// requireFailed calls a method that must fail, with an error of its own, which says whether
// what it was to change is in doubt.
func requireFailed(t *testing.T, m method, f faulty, client *aerospike.Client, doubt bool) {
	t.Helper()
	ctx := patient(t)
	if f.short {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, short)
		defer cancel()
	}
	err := m.call(ctx, client)
	var ours *aerospike.Error
	var left *aerospike.DetachedError
	switch {
	case errors.As(err, &ours):
		require.Equal(t, m.name, ours.Op)
		require.Equal(t, doubt, ours.InDoubt, "%s: %v", m.name, err)
	case errors.As(err, &left):
		require.Equal(t, m.name, left.Op)
		require.True(t, f.short, "%s: nobody had to leave", m.name)
	default:
		require.True(t, f.short && errors.Is(err, context.DeadlineExceeded), "%s: %T %v", m.name, err, err)
	}
	if f.name == "code" {
		require.EqualValues(t, aerospiketest.CodeForbidden, ours.Code, m.name)
	}
}
