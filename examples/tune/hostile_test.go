package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// loaded connects and makes the records, without writing them.
func loaded(t *testing.T, o options) *records {
	t.Helper()
	client, err := connect(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close(context.Background())) })
	r, err := newRecords(client, o)
	require.NoError(t, err)
	return r
}

func silent(string, ...any) {}

func TestTwoCallersAreEnough(t *testing.T) {
	_, o := server(t)
	o.maxCallers = 2
	require.NoError(t, run(t.Context(), o, new(bytes.Buffer)))
}

func TestEndsWhereThroughputGrowsNoMore(t *testing.T) {
	srv, o := server(t)
	require.NoError(t, srv.Node(0).SetCapacity(aerospiketest.Capacity{Parallel: 1, ServiceTime: 5 * time.Millisecond, Queue: 1000}))
	o.step, o.maxCallers, o.classes = 200*time.Millisecond, 4096, []string{"read"}
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), o, &out))
	require.Contains(t, out.String(), "throughput that grows no more")
}

// A call that hangs ends after its step, and is an error all the same.
func TestHangingCallsEndAClass(t *testing.T) {
	srv, o := server(t)
	o.step, o.classes, o.stopP99 = 200*time.Millisecond, []string{"read"}, 500*time.Millisecond
	rec := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindGet})
	srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindGet}, Action: aerospiketest.ActionSwallow})
	var out bytes.Buffer
	require.ErrorContains(t, run(t.Context(), o, &out), "nothing to apply")
	require.Contains(t, out.String(), "errors at 1 callers")
	require.Equal(t, 1, rec.Len())
	require.Zero(t, srv.Records("test", o.set))
}

// A node that stalls is found out, although calls to the others succeed.
func TestAStalledNodeEndsAClass(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3})
	_, o := server(t)
	o.hosts, o.stopP99 = srv.Hosts(), 500*time.Millisecond
	o.records, o.maxRate = 100, 1000 // a step of 50 ms is 60 calls
	r := loaded(t, o)
	require.NoError(t, r.prepare(t.Context()))
	stall := srv.Inject(aerospiketest.Fault{
		Match: aerospiketest.Match{Nodes: []int{1}, Kinds: aerospiketest.KindPut}, Action: aerospiketest.ActionStall,
	})
	c, err := r.ramp(t.Context(), "write", silent)
	require.NoError(t, err)
	require.Empty(t, c.points)
	require.Contains(t, c.ended, "errors at 1 callers")
	stall.Remove()
	require.NoError(t, r.clean(t.Context(), silent))
	require.Zero(t, srv.Records("test", o.set))
}

// Errors end a step before its time, and nothing is tried twice.
func TestErrorsEndAStep(t *testing.T) {
	srv, o := server(t)
	o.step, o.classes = 60*time.Second, []string{"read"}
	gets := srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindGet}, Action: aerospiketest.ActionReset})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	var out bytes.Buffer
	require.ErrorContains(t, run(ctx, o, &out), "nothing to apply")
	require.Contains(t, out.String(), "errors at 1 callers")
	require.Equal(t, leastErrors, gets.Hits())
}

// What is behind the settings are callers that got answers.
func TestErrorsAreNoPartOfTheCurve(t *testing.T) {
	srv, o := server(t)
	r := loaded(t, o)
	require.NoError(t, r.prepare(t.Context()))
	srv.Inject(aerospiketest.Fault{
		Match: aerospiketest.Match{Kinds: aerospiketest.KindGet}, Skip: 5, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload,
	})
	c, err := r.ramp(t.Context(), "read", silent)
	require.NoError(t, err)
	require.Empty(t, c.points)
	require.Contains(t, c.ended, "errors at 1 callers")
	require.NoError(t, r.clean(t.Context(), silent))
}

// The server comes to a write after its client has left it and the records are gone.
func TestALateWriteBringsNoRecordBack(t *testing.T) {
	srv, o := server(t)
	o.stopP99 = 500 * time.Millisecond
	r := loaded(t, o)
	require.NoError(t, r.prepare(t.Context()))
	rec := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindPut})
	require.NoError(t, srv.Node(0).SetCapacity(aerospiketest.Capacity{Parallel: 1, ServiceTime: 2 * time.Second}))
	require.Error(t, r.write(t.Context(), 3)) // after a second
	require.NoError(t, srv.Node(0).SetCapacity(aerospiketest.Capacity{}))
	require.NoError(t, r.clean(t.Context(), silent))
	require.Zero(t, srv.Records("test", o.set))
	require.NoError(t, rec.Wait(t.Context(), 1))
	require.Zero(t, srv.Records("test", o.set))
}

func TestCleanTriesAgain(t *testing.T) {
	srv, o := server(t)
	r := loaded(t, o)
	require.NoError(t, r.prepare(t.Context()))
	fault := srv.Inject(aerospiketest.Fault{
		Match: aerospiketest.Match{Kinds: aerospiketest.KindBatch}, Times: 1, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload,
	})
	require.NoError(t, r.clean(t.Context(), silent))
	require.Equal(t, 1, fault.Hits())
	require.Zero(t, srv.Records("test", o.set))
}

// Where nothing can be written nothing is deleted, and nobody hears of records left behind.
func TestRefusedWritesLeaveNothingToClean(t *testing.T) {
	srv, o := server(t)
	rec := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindBatch})
	srv.Inject(aerospiketest.Fault{
		Match: aerospiketest.Match{Kinds: aerospiketest.KindPut}, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeRoleViolation,
	})
	err := run(t.Context(), o, new(bytes.Buffer))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "left behind")
	require.Equal(t, 1, rec.Len(), "the look whether there are records")
}

// A record that somebody wrote after the look is neither overwritten nor deleted.
func TestTouchesNobodysRecord(t *testing.T) {
	srv, o := server(t)
	r := loaded(t, o)
	theirs, bad := as.NewClientWithPolicyAndHost(nil, hosts(t, srv)...)
	require.NoError(t, bad)
	defer theirs.Close()
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindPut})
	prepared, put := make(chan error, 1), make(chan as.Error, 1)
	go func() { prepared <- r.prepare(t.Context()) }()
	require.NoError(t, gate.Wait(t.Context(), 1))
	go func() { put <- theirs.Put(nil, r.keys[7], as.BinMap{"theirs": 1}) }()
	require.NoError(t, gate.Wait(t.Context(), 2))
	gate.Step(2)
	require.NoError(t, <-put)
	gate.Release()
	require.Equal(t, types.KEY_EXISTS_ERROR, aerospike.Classify(<-prepared).Code)
	require.NoError(t, r.clean(t.Context(), silent))
	require.Equal(t, 1, srv.Records("test", o.set))
	record, bad := theirs.Get(nil, r.keys[7])
	require.NoError(t, bad)
	require.Equal(t, as.BinMap{"theirs": 1}, record.Bins)
}

// The rate bounds what is written and deleted, too.
func TestKeepsToItsRate(t *testing.T) {
	srv, o := server(t)
	o.maxRate, o.records = 200, 40
	r := loaded(t, o)
	start := time.Now()
	require.NoError(t, r.prepare(t.Context()))
	require.NoError(t, r.clean(t.Context(), silent))
	require.Zero(t, srv.Records("test", o.set))
	require.GreaterOrEqual(t, time.Since(start), time.Duration(3*o.records-r.pace.Burst())*time.Second/200)
}

func TestARateBelowTheCallersEndsAClass(t *testing.T) {
	_, o := server(t)
	o.step, o.records, o.maxRate = 10*time.Millisecond, 2, 5
	var out bytes.Buffer
	require.Error(t, run(t.Context(), o, &out))
	require.Equal(t, 2, strings.Count(out.String(), "ended by the bound of 5 calls a second"))
}
