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

// swift makes the pauses between attempts short.
func swift(c *aerospike.Config) {
	c.Reads.Base, c.Writes.Base = time.Millisecond, time.Millisecond
}

// G-AER-13; R148: a read whose node fails is made again at the next replica.
func TestReadIsRetriedAtTheNextReplica(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, swift)
	key := keyOn(t, raw(t, srv), "A1")
	put(t, client, key, as.BinMap{"a": 1})
	fault := srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Nodes: []int{0}}, Action: aerospiketest.ActionReset})
	seen := srv.Record()
	rec, err := client.Get(patient(t), nil, key)
	require.NoError(t, err)
	require.Equal(t, 1, rec.Bins["a"])
	require.NotZero(t, fault.Hits())
	served := seen.Served()
	require.Zero(t, served[0].Node)
	require.Equal(t, 1, served[len(served)-1].Node)
	require.EqualValues(t, 1, client.Snapshot().Reads.Originals)
	require.NotZero(t, client.Snapshot().Reads.Retries)

	once, err := client.With(aerospike.NoRetry())
	require.NoError(t, err)
	_, err = once.Get(patient(t), nil, key)
	require.Equal(t, spillway.OutcomeNetwork, spillway.OutcomeOf(err))
	fault.Remove()
	idle(t, client)
}

// G-AER-13; T-09: a write is made once, and its error says that it may have happened; one that
// was declared idempotent is made again.
func TestWriteIsRetriedOnlyIfIdempotent(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, swift)
	lost := aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindPut}, Times: 1, Action: aerospiketest.ActionReset, After: true}
	srv.Inject(lost)
	seen := srv.Record()
	err := client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"a": 1})
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.True(t, ours.InDoubt)
	require.Equal(t, 1, seen.Len())

	srv.Inject(lost)
	seen.Reset()
	idempotent, err := client.With(aerospike.Idempotent())
	require.NoError(t, err)
	require.NoError(t, idempotent.Put(patient(t), nil, newKey(t, 1), as.BinMap{"a": 1}))
	require.Equal(t, 2, seen.Len())
	idle(t, client)
}

// R149: an answer after an attempt that may have been executed may be that attempt's own
// doing: the first was executed, so the second finds another generation.
func TestConflictAfterALostAnswerIsInDoubt(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, swift)
	key := newKey(t, 1)
	put(t, client, key, as.BinMap{"a": 1})
	policy := as.NewWritePolicy(1, 0)
	policy.GenerationPolicy = as.EXPECT_GEN_EQUAL
	idempotent, err := client.With(aerospike.Idempotent())
	require.NoError(t, err)
	srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindPut}, Times: 1, Action: aerospiketest.ActionReset, After: true})
	err = idempotent.Put(patient(t), policy, key, as.BinMap{"a": 2})
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.Equal(t, types.GENERATION_ERROR, ours.Code)
	require.True(t, ours.InDoubt)

	err = idempotent.Put(patient(t), policy, key, as.BinMap{"a": 3})
	require.ErrorAs(t, err, &ours)
	require.Equal(t, types.GENERATION_ERROR, ours.Code)
	require.False(t, ours.InDoubt, "nothing was lost this time")
}

// G-AER-13; T-04, T-07: of a batch only the records that failed are sent again, be it that
// the server says so or that the connection breaks.
func TestBatchResendsOnlyWhatFailed(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, swift)
	idempotent, err := client.With(aerospike.Idempotent())
	require.NoError(t, err)
	driver := raw(t, srv)
	var keys []*as.Key
	on := map[string]int{}
	for i := range 20 {
		keys = append(keys, newKey(t, i))
		p, aerr := as.PartitionForWrite(driver.Cluster(), as.NewPolicy(), keys[i])
		require.Nil(t, aerr)
		n, aerr := p.GetNodeWrite(driver.Cluster())
		require.Nil(t, aerr)
		on[n.GetName()]++
		put(t, client, keys[i], as.BinMap{"a": 1})
	}
	for round, fault := range []aerospiketest.Fault{
		{Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload},
		{Action: aerospiketest.ActionReset},
	} {
		fault.Match, fault.Times = aerospiketest.Match{Kinds: aerospiketest.KindBatch, Nodes: []int{1}}, 1
		srv.Inject(fault)
		seen := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindBatch})
		records := make([]as.BatchRecordIfc, len(keys))
		for i, key := range keys {
			records[i] = as.NewBatchWrite(nil, key, as.AddOp(as.NewBin("a", 1)))
		}
		require.NoError(t, idempotent.BatchOperate(patient(t), nil, records))
		for i, r := range records {
			require.Equal(t, types.OK, r.BatchRec().ResultCode)
			require.Equal(t, keys[i], r.BatchRec().Key)
		}
		sent := map[int]int{}
		for _, s := range seen.Served() {
			sent[s.Node] += s.Records
		}
		seen.Stop()
		require.Equal(t, map[int]int{0: on["A1"], 1: 2 * on["A2"]}, sent)
		for _, key := range keys {
			rec, err := client.Get(patient(t), nil, key)
			require.NoError(t, err)
			require.Equal(t, 2+round, rec.Bins["a"], "no record was added to twice")
		}
	}
	idle(t, client)
}

// Refusals are final: who is refused decides himself whether to come back.
func TestRefusalIsNotRetried(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, swift, func(c *aerospike.Config) { c.Limit = 1 })
	letGo := hold(t, srv, 1, func(i int) error { _, err := client.Exists(patient(t), nil, newKey(t, i)); return err })
	_, err := client.Get(patient(t), nil, newKey(t, 1))
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.EqualValues(t, 1, refusedBy(client))
	require.Zero(t, client.Snapshot().Reads.Retries)
	letGo()
}

// Of a hot key the node itself is well: that is another outcome than overload.
func TestHotKeyIsNotTheNodesFault(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, swift)
	srv.Inject(aerospiketest.Fault{Times: 1, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeKeyBusy})
	_, err := client.Exists(patient(t), nil, newKey(t, 1))
	require.NoError(t, err, "the second attempt")
	ended := client.Snapshot().Lane("A1", aerospike.LaneRead).Ended
	require.EqualValues(t, 1, ended.Of(spillway.OutcomeKeyOverload))
	require.Zero(t, ended.Of(spillway.OutcomeOverload))
	require.EqualValues(t, 1, ended.Of(spillway.OutcomeOK))
}

// A call that timed out keeps its permit as a ghost for a while, which ends by itself:
// whoever waits for the permit gets it.
func TestGhostsExpire(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Lanes = aerospike.DefaultLanes(1)
		c.Lanes[0].MaxWaiting, c.Lanes[0].MaxWait = 1, patience
		c.GhostFactor = 2
		c.Reads.MaxAttempts = 0
	})
	for range 64 { // of which some are measured
		_, err := client.Exists(patient(t), nil, newKey(t, 1))
		require.NoError(t, err)
	}
	require.NotZero(t, client.Snapshot().Lane("A1", aerospike.LaneRead).Hold.Count)
	ctx, cancel := context.WithTimeout(context.Background(), short)
	defer cancel()
	fault := srv.Inject(aerospiketest.Fault{Action: aerospiketest.ActionSwallow})
	_, err := client.Exists(ctx, nil, newKey(t, 1))
	require.Equal(t, spillway.OutcomeTimeout, spillway.OutcomeOf(err))
	fault.Remove()
	stats := client.Snapshot().Lane("A1", aerospike.LaneRead)
	require.EqualValues(t, 1, stats.Ended.Of(spillway.OutcomeTimeout))
	_, err = client.Exists(patient(t), nil, newKey(t, 1))
	require.NoError(t, err)
	stats = client.Snapshot().Lane("A1", aerospike.LaneRead)
	require.EqualValues(t, 1, stats.GhostsTotal)
	require.Zero(t, stats.Ghosts)
	idle(t, client)
}
