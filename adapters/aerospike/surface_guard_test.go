package aerospike_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// G-AER-7; T-16: with RefuseAll every method refuses, and the server sees nothing of it.
func TestSurfaceRefusesEveryMethod(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, func(c *aerospike.Config) { c.Mode = spillway.RefuseAll })
	requireRefusals(t, srv, client, methods(t))
	idle(t, client)
	require.Zero(t, client.Snapshot().Reads.Retries, "who is refused decides himself whether to come back")
}

// requireRefusals calls methods, all of which must be refused. The server may see the
// driver's tending meanwhile, and nothing else.
func requireRefusals(t *testing.T, srv *aerospiketest.Server, client *aerospike.Client, all []method) {
	t.Helper()
	seen := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindsData | aerospiketest.KindAdmin})
	defer seen.Stop()
	for _, m := range all {
		err := m.call(patient(t), client)
		require.ErrorIs(t, err, spillway.ErrBackpressure, m.name)
		require.True(t, aerospike.IsOverload(err), m.name)
		require.Equal(t, spillway.OutcomeLocal, spillway.OutcomeOf(err), m.name)
	}
	require.Zero(t, seen.Len())
}

// G-AER-7; B-02: the same with limits of one whose permit somebody has.
func TestSurfaceRefusesOverTheLimit(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Limit = 1
		c.Lanes = []aerospike.LaneConfig{
			{Name: aerospike.LaneRead, Limit: 1},
			{Name: aerospike.LaneWrite, Limit: 1},
			{Name: aerospike.LaneBatch, Limit: 1},
			{Name: aerospike.LaneStream, Limit: 1},
			{Name: aerospike.LaneAdmin, Limit: 1},
		}
	})
	holders := map[string]bool{"Get": true, "Put": true, "BatchGet": true, "ScanAll": true, "QueryUsers": true}
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindsData | aerospiketest.KindAdmin})
	all := methods(t)
	var wg sync.WaitGroup
	for _, m := range all {
		if holders[m.name] {
			wg.Add(1)
			go func() { defer wg.Done(); _ = m.call(patient(t), client) }()
		}
	}
	require.NoError(t, gate.Wait(patient(t), len(holders)))
	requireRefusals(t, srv, client, all)
	gate.Release()
	wg.Wait()
	idle(t, client)
	balanced(t, client)
}

// faulty is how a server fails, for commands of data and for those of administration.
type faulty struct {
	name  string
	fault aerospiketest.Fault
	short bool // the call has to be ended by its deadline
}

var faults = []faulty{
	{"code", aerospiketest.Fault{Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden}, false},
	{"reset", aerospiketest.Fault{Action: aerospiketest.ActionReset}, false},
	{"truncate", aerospiketest.Fault{Action: aerospiketest.ActionTruncate}, false},
	{"swallow", aerospiketest.Fault{Action: aerospiketest.ActionSwallow}, true},
}

// G-AER-8: however a server fails, every method returns an error with a class, or
// nothing at all if its answer was good before, and gives back what it took. TestMain
// sees to the goroutines.
func TestSurfaceSurvivesEveryFault(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			srv := aerospiketest.NewServer(t)
			client := connect(t, srv, func(c *aerospike.Config) {
				c.Lanes = aerospike.DefaultLanes(40)
				for i := range c.Lanes {
					if c.Lanes[i].Name == aerospike.LaneAdmin || c.Lanes[i].Name == aerospike.LaneStream {
						c.Lanes[i].Limit = 24
					}
				}
			})
			fill(t, client, 10)
			quick(client)
			fault := f.fault
			fault.Match.Kinds = aerospiketest.KindsData | aerospiketest.KindAdmin
			injected := srv.Inject(fault)
			once, err := client.With(aerospike.NoRetry())
			require.NoError(t, err)
			var wg sync.WaitGroup
			for _, m := range methods(t) {
				wg.Add(1)
				go func() {
					defer wg.Done()
					ctx := patient(t)
					if f.short {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, short)
						defer cancel()
					}
					requireTyped(t, m, m.call(ctx, once))
				}()
			}
			wg.Wait()
			injected.Remove()
			put(t, client, newKey(t, 1), as.BinMap{"a": 1})
			balanced(t, client)
		})
	}
}

// quick keeps the driver's own resuming of streams short.
func quick(client *aerospike.Client) {
	scan, query := as.NewScanPolicy(), as.NewQueryPolicy()
	scan.MaxRetries, query.MaxRetries = 1, 1
	scan.SleepBetweenRetries, query.SleepBetweenRetries = time.Millisecond, time.Millisecond
	client.SetDefaultScanPolicy(scan)
	client.SetDefaultQueryPolicy(query)
}

// info are the methods that ask by info commands, which these faults leave alone: for
// the driver's tending does the same.
var info = map[string]bool{
	"CreateIndex": true, "CreateComplexIndex": true, "DropIndex": true, "RegisterUDF": true, "RegisterUDFFromFile": true,
	"ListUDF": true, "RemoveUDF": true, "SetXDRFilter": true, "Truncate": true,
}

// requireTyped asks that an error is there, and is of a kind that callers can handle.
func requireTyped(t *testing.T, m method, err error) {
	t.Helper()
	if err == nil {
		silent := info[m.name] || m.name == "ScanNodeObjects" || m.name == "QueryNodeObjects" // of which the driver tells nothing
		require.True(t, silent, "%s: no error", m.name)
		return
	}
	var ours *aerospike.Error
	if errors.As(err, &ours) {
		require.Equal(t, m.name, ours.Op)
		return
	}
	known := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, aerospike.ErrIncomplete) ||
		m.name == "BatchOperate" || m.name == "BatchDelete" || m.name == "BatchExecute" // in their records
	require.True(t, known, "%s: %T %v", m.name, err, err)
}
