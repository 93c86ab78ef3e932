package aerospike_test

import (
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// R127: every method does what the driver's does.
func TestClientSingleRecordMethods(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	ctx := patient(t)
	key := newKey(t, "k")

	require.NoError(t, client.Put(ctx, nil, key, as.BinMap{"n": 1, "s": "b"}))
	require.NoError(t, client.Add(ctx, nil, key, as.BinMap{"n": 41}))
	require.NoError(t, client.Append(ctx, nil, key, as.BinMap{"s": "c"}))
	require.NoError(t, client.Prepend(ctx, nil, key, as.BinMap{"s": "a"}))
	require.NoError(t, client.Touch(ctx, nil, key))
	rec, err := client.Get(ctx, nil, key)
	require.NoError(t, err)
	require.Equal(t, as.BinMap{"n": 42, "s": "abc"}, rec.Bins)
	rec, err = client.Get(ctx, nil, key, "s")
	require.NoError(t, err)
	require.Equal(t, as.BinMap{"s": "abc"}, rec.Bins)
	rec, err = client.GetHeader(ctx, nil, key)
	require.NoError(t, err)
	require.EqualValues(t, 5, rec.Generation)
	rec, err = client.Operate(ctx, nil, key, as.AddOp(as.NewBin("n", -2)), as.GetBinOp("n"))
	require.NoError(t, err)
	require.Equal(t, 40, rec.Bins["n"])
	exists, err := client.Exists(ctx, nil, key)
	require.NoError(t, err)
	require.True(t, exists)
	existed, err := client.Delete(ctx, nil, key)
	require.NoError(t, err)
	require.True(t, existed)
	existed, err = client.Delete(ctx, nil, key)
	require.NoError(t, err)
	require.False(t, existed)
	exists, err = client.Exists(ctx, nil, key)
	require.NoError(t, err)
	require.False(t, exists)

	reads, writes := client.Snapshot().Lane("A1", aerospike.LaneRead), client.Snapshot().Lane("A1", aerospike.LaneWrite)
	require.EqualValues(t, 5, reads.Admitted)
	require.EqualValues(t, 8, writes.Admitted)
	require.EqualValues(t, 13, reads.Ended.Of(spillway.OutcomeOK)+writes.Ended.Of(spillway.OutcomeOK))
	idle(t, client)
}

// R139, T-22: an error is the driver's, with its class, number and node.
func TestClientErrorsKeepTheDriversOwn(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	ctx := patient(t)
	_, err := client.Get(ctx, nil, newKey(t, "missing"))
	require.ErrorIs(t, err, as.ErrKeyNotFound)
	var driver *as.AerospikeError
	require.ErrorAs(t, err, &driver)
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.Equal(t, "Get", ours.Op)
	require.Equal(t, srv.Node(0).Name(), ours.Node)
	require.Equal(t, spillway.OutcomePermanent, spillway.OutcomeOf(err))
	require.NotErrorIs(t, err, spillway.ErrBackpressure)
	require.Equal(t, "aerospike: Get test.s on A1: Key not found (2)", err.Error())
	require.Equal(t, 404, aerospike.StatusOf(err).HTTP)

	header, err := client.GetHeader(ctx, nil, newKey(t, "missing"))
	require.NoError(t, err)
	require.Nil(t, header)

	other, aerr := as.NewKey("nowhere", "s", 1)
	require.NoError(t, asError(aerr))
	_, err = client.Get(ctx, nil, other)
	require.ErrorAs(t, err, &ours)
	require.EqualValues(t, 20, ours.Code)
	require.Empty(t, ours.Node)
}

// What the driver would panic of is an error, and nothing is lost by it.
func TestClientBadArgumentsAreErrors(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	ctx := patient(t)
	_, err := client.Get(ctx, nil, nil)
	require.ErrorContains(t, err, "aerospike.Get: invalid configuration: key is <nil>: must not be nil")
	require.ErrorContains(t, client.Put(ctx, nil, nil, as.BinMap{"a": 1}), "key is <nil>")
	_, err = client.BatchGet(ctx, nil, []*as.Key{newKey(t, 1), nil})
	require.ErrorContains(t, err, "keys[1] is <nil>")

	// T-10, R141: a panic in the driver.
	err = client.Put(ctx, nil, newKey(t, 1), as.BinMap{"a": struct{ X chan int }{}})
	var p *spillway.PanicError
	require.ErrorAs(t, err, &p)
	require.NotEmpty(t, p.Stack)
	require.ErrorContains(t, err, `aerospike.Put "aerospike": function panicked: `)
	idle(t, client)
}

// G-AER-5: what the caller passes is never written to.
func TestClientLeavesPoliciesAlone(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	ctx := patient(t)
	base, write, batch, scan := as.NewPolicy(), as.NewWritePolicy(0, 0), as.NewBatchPolicy(), as.NewScanPolicy()
	wantBase, wantWrite, wantBatch, wantScan := *base, *write, *batch, *scan
	key := newKey(t, 1)
	require.NoError(t, client.Put(ctx, write, key, as.BinMap{"a": 1}))
	_, err := client.Get(ctx, base, key)
	require.NoError(t, err)
	_, err = client.BatchGet(ctx, batch, []*as.Key{key, newKey(t, 2)})
	require.NoError(t, err)
	stream, err := client.ScanAll(ctx, scan, "test", "s")
	require.NoError(t, err)
	for _, err := range stream.All() {
		require.NoError(t, err)
	}
	require.Equal(t, wantBase, *base)
	require.Equal(t, wantWrite, *write)
	require.Equal(t, wantBatch, *batch)
	require.Equal(t, wantScan, *scan)
}

// R130: records in the order of the keys, missing ones as nil, all nodes in one call.
func TestClientBatchGetKeepsOrder(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3})
	client := connect(t, srv)
	keys := make([]*as.Key, 50)
	for i := range keys {
		keys[i] = newKey(t, i)
		if i%5 != 0 {
			put(t, client, keys[i], as.BinMap{"i": i})
		}
	}
	recs, err := client.BatchGet(patient(t), nil, keys, "i")
	require.NoError(t, err)
	require.Len(t, recs, len(keys))
	for i, rec := range recs {
		if i%5 == 0 {
			require.Nil(t, rec)
			continue
		}
		require.Equal(t, i, rec.Bins["i"])
	}
	idle(t, client)
	for _, n := range srv.Nodes() {
		require.NotZero(t, client.Snapshot().Lane(n.Name(), aerospike.LaneBatch).Admitted)
	}
	recs, err = client.BatchGet(patient(t), nil, nil)
	require.NoError(t, err)
	require.Empty(t, recs)
}
