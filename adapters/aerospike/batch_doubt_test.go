package aerospike_test

import (
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// onBoth returns n keys of each of two nodes, A1's first.
func onBoth(t *testing.T, srv *aerospiketest.Server, n int) []*as.Key {
	t.Helper()
	driver := raw(t, srv)
	return append(keysOn(t, driver, "A1", n), keysOn(t, driver, "A2", n)...)
}

// writesTo returns a write for each key, with a policy or none.
func writesTo(keys []*as.Key, policy *as.BatchWritePolicy) []as.BatchRecordIfc {
	records := make([]as.BatchRecordIfc, len(keys))
	for i, key := range keys {
		records[i] = as.NewBatchWrite(policy, key, as.PutOp(as.NewBin("a", 2)))
	}
	return records
}

// That a function failed is an answer, in a batch as with the driver.
func TestBatchOfAFunctionThatFailsIsNotInDoubt(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	task, err := client.RegisterUDF(patient(t), nil, []byte(`function f(r) error("no") end`), "fails.lua", as.LUA)
	require.NoError(t, err)
	require.NoError(t, task.Wait(patient(t)))
	key, other := newKey(t, 1), newKey(t, 2)
	for _, records := range [][]as.BatchRecordIfc{
		{as.NewBatchUDF(nil, key, "fails", "f"), as.NewBatchUDF(nil, other, "fails", "f")},
		{as.NewBatchUDF(nil, key, "fails", "f"), as.NewBatchRead(nil, other, []string{"a"})},
	} {
		require.NoError(t, client.BatchOperate(patient(t), nil, records))
		require.Equal(t, types.UDF_BAD_RESPONSE, records[0].BatchRec().ResultCode)
		require.False(t, records[0].BatchRec().InDoubt)
	}
	idle(t, client)
}

// A batch is in doubt if it is at one of its nodes, whichever failed last.
func TestBatchIsInDoubtIfItIsAtOneNode(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv)
	keys := onBoth(t, srv, 3)
	for _, delays := range [][2]time.Duration{{0, short / 2}, {short / 2, 0}} {
		batch := func(node int) aerospiketest.Match {
			return aerospiketest.Match{Kinds: aerospiketest.KindBatch, Nodes: []int{node}}
		}
		lost := srv.Inject(aerospiketest.Fault{Match: batch(0), Delay: delays[0], Action: aerospiketest.ActionReset, After: true})
		refused := srv.Inject(aerospiketest.Fault{Match: batch(1), Delay: delays[1], Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload})
		records := writesTo(keys, nil)
		err := client.BatchOperate(patient(t), nil, records)
		var ours *aerospike.Error
		require.ErrorAs(t, err, &ours)
		require.True(t, ours.InDoubt, err)
		for i, r := range records {
			require.Equal(t, types.NO_RESPONSE, r.BatchRec().ResultCode)
			require.True(t, r.BatchRec().InDoubt, i)
		}
		lost.Remove()

		err = client.BatchOperate(patient(t), nil, writesTo(keys, nil))
		require.ErrorAs(t, err, &ours)
		require.False(t, ours.InDoubt, "of one node all is known, the other has refused")
		refused.Remove()
	}
	idle(t, client)
}

// The driver reads no further in the answer of a batch of deletes, or functions, than to the
// first record that failed: what the others have come to nobody knows.
func TestBatchBehindARecordThatFailedIsInDoubt(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	keys := []*as.Key{newKey(t, 1), newKey(t, 2)}
	for _, key := range append(keys, keys[0]) {
		put(t, client, key, as.BinMap{"a": 1})
	}
	policy := as.NewBatchDeletePolicy()
	policy.GenerationPolicy, policy.Generation = as.EXPECT_GEN_EQUAL, 1
	records, err := client.BatchDelete(patient(t), nil, policy, keys)
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.Equal(t, types.GENERATION_ERROR, ours.Code)
	require.Equal(t, 1, srv.Records("test", "s"), "one is gone")
	require.True(t, ours.InDoubt)
	require.True(t, records[1].InDoubt)

	records, err = client.BatchDelete(patient(t), nil, policy, keys[:1])
	require.ErrorAs(t, err, &ours)
	require.False(t, ours.InDoubt, "it is the one that failed")
	require.False(t, records[0].InDoubt)
	idle(t, client)
}

// Fact 7, in a batch of one, which the driver sends as a call for one record: what was
// never sent isn't in doubt, whatever the driver says of the record.
func TestBatchOfOneThatWasNeverSentIsNotInDoubt(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.ClientPolicy = as.NewClientPolicy()
		c.ClientPolicy.MaxErrorRate, c.ClientPolicy.ErrorRateWindow = 1, 1000
		c.Reads.MaxAttempts = 0
	})
	key := newKey(t, 1)
	broken := srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindsRead}, Action: aerospiketest.ActionReset})
	for range 3 {
		_, err := client.Get(patient(t), nil, key)
		require.Error(t, err)
	}
	broken.Remove()
	notInDoubt := func(r *as.BatchRecord, err error) {
		var ours *aerospike.Error
		require.ErrorAs(t, err, &ours)
		require.Equal(t, types.MAX_ERROR_RATE, ours.Code)
		require.False(t, ours.InDoubt)
		require.NotEqual(t, types.OK, r.ResultCode)
		require.False(t, r.InDoubt)
	}
	for _, records := range [][]as.BatchRecordIfc{writesTo([]*as.Key{key}, nil), {as.NewBatchRead(nil, key, []string{"a"})}} {
		err := client.BatchOperate(patient(t), nil, records)
		notInDoubt(records[0].BatchRec(), err)
	}
	deleted, err := client.BatchDelete(patient(t), nil, nil, []*as.Key{key})
	notInDoubt(deleted[0], err)
	idle(t, client)
}

// R149, in a batch: an answer after a sending that may have been executed may be that
// sending's own doing.
func TestBatchConflictAfterALostAnswerIsInDoubt(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, swift)
	idempotent, err := client.With(aerospike.Idempotent())
	require.NoError(t, err)
	keys := []*as.Key{newKey(t, 1), newKey(t, 2)}
	for _, key := range keys {
		put(t, client, key, as.BinMap{"a": 1})
	}
	policy := as.NewBatchWritePolicy()
	policy.GenerationPolicy, policy.Generation = as.EXPECT_GEN_EQUAL, 1
	records := append(writesTo(keys[:1], policy), as.NewBatchRead(nil, keys[1], []string{"a"}))
	lost := srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindBatch}, Times: 1, Action: aerospiketest.ActionReset, After: true})
	require.NoError(t, idempotent.BatchOperate(patient(t), nil, records))
	require.Equal(t, 1, lost.Hits())
	require.Equal(t, types.GENERATION_ERROR, records[0].BatchRec().ResultCode)
	require.True(t, records[0].BatchRec().InDoubt)
	require.False(t, records[1].BatchRec().InDoubt, "a read")

	srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindBatch}, Times: 1, Action: aerospiketest.ActionReset, After: true})
	deleted, err := idempotent.BatchDelete(patient(t), nil, nil, keys)
	require.NoError(t, err)
	for _, r := range deleted {
		require.Equal(t, types.KEY_NOT_FOUND_ERROR, r.ResultCode)
		require.True(t, r.InDoubt)
	}

	require.NoError(t, idempotent.BatchOperate(patient(t), nil, records))
	require.False(t, records[0].BatchRec().InDoubt, "nothing was lost this time")
	idle(t, client)
}

// What a node won't do is an error of the whole, although the records of another went through
// when they were sent again.
func TestBatchKeepsTheErrorOfRecordsThatAreNotSentAgain(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, swift)
	idempotent, err := client.With(aerospike.Idempotent())
	require.NoError(t, err)
	keys := onBoth(t, srv, 2)
	require.NoError(t, srv.SetUnavailable(keys[0].PartitionId()))
	srv.Inject(aerospiketest.Fault{
		Match:  aerospiketest.Match{Kinds: aerospiketest.KindBatch, Nodes: []int{1}},
		Action: aerospiketest.ActionCode, Code: aerospiketest.CodeParameter,
	})
	again := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindsWrite})
	go func() {
		if again.Wait(patient(t), 1) == nil {
			_ = srv.SetUnavailable()
			again.Release()
		}
	}()
	records := writesTo(keys, nil)
	err = idempotent.BatchOperate(patient(t), nil, records)
	require.Equal(t, types.OK, records[0].BatchRec().ResultCode)
	require.Equal(t, types.NO_RESPONSE, records[2].BatchRec().ResultCode)
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.Equal(t, types.PARAMETER_ERROR, ours.Code)
	idle(t, client)
}

// A job that one node won't begin has begun at the others.
func TestJobIsInDoubtIfItHasBegunAtOneNode(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv)
	for _, nodes := range [][]int{{1}, {0, 1}} {
		refused := srv.Inject(aerospiketest.Fault{
			Match:  aerospiketest.Match{Kinds: aerospiketest.KindBackground, Nodes: nodes},
			Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden,
		})
		_, err := client.QueryExecute(patient(t), nil, nil, statement(), as.TouchOp())
		var ours *aerospike.Error
		require.ErrorAs(t, err, &ours)
		require.Equal(t, types.FAIL_FORBIDDEN, ours.Code)
		require.Equal(t, len(nodes) == 1, ours.InDoubt)
		refused.Remove()
	}
	_, err := client.QueryExecute(patient(t), nil, nil, as.NewStatement("test", "s", "a"), as.TouchOp())
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.False(t, ours.InDoubt, "the driver sends no job that names bins")
	idle(t, client)
}

// A record that fails is no error of a batch of several, also if it is the only one that was
// sent again: of a batch of one the driver makes it one.
func TestBatchRecordThatFailsOnceMoreIsNoErrorOfTheWhole(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, swift)
	idempotent, err := client.With(aerospike.Idempotent())
	require.NoError(t, err)
	keys := []*as.Key{newKey(t, 1), newKey(t, 2)}
	require.NoError(t, srv.SetUnavailable(keys[1].PartitionId()))
	seen := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindsWrite})
	records := writesTo(keys, nil)
	require.NoError(t, idempotent.BatchOperate(patient(t), nil, records))
	require.NotZero(t, seen.Len(), "it was sent again, alone")
	require.Equal(t, types.OK, records[0].BatchRec().ResultCode)
	require.Equal(t, types.PARTITION_UNAVAILABLE, records[1].BatchRec().ResultCode)

	srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindsWrite}, Action: aerospiketest.ActionReset})
	require.Error(t, idempotent.BatchOperate(patient(t), nil, writesTo(keys, nil)), "no answer is one, as of several")
	idle(t, client)
}
