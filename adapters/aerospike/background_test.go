package aerospike_test

import (
	"context"
	"errors"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/deadline"
)

// background returns writes in the background whose failures go to the channel.
func background(t testing.TB, client *aerospike.Client, change func(*aerospike.BackgroundConfig)) (*aerospike.Background, <-chan deadline.Failure) {
	t.Helper()
	failures := make(chan deadline.Failure, 100)
	cfg := aerospike.DefaultBackgroundConfig()
	cfg.Failed = func(_ context.Context, f deadline.Failure) { failures <- f }
	if change != nil {
		change(&cfg)
	}
	b, err := client.Background(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close(patient(t)) })
	return b, failures
}

// G-AER-15, L-24, R35: a write in the background doesn't wait for the server, and Close
// drains what was accepted, although the context that it came with has ended.
func TestBackgroundWritesAreDrainedByClose(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	b, failures := background(t, client, nil)
	gate := srv.Hold(aerospiketest.Match{})
	ctx, cancel := context.WithCancel(patient(t))
	bins := as.BinMap{"n": 1}
	for i := range 10 {
		require.NoError(t, b.Put(ctx, nil, newKey(t, i), bins))
	}
	bins["n"] = 2 // is no business of the writes any more
	cancel()
	require.NoError(t, gate.Wait(patient(t), 4))
	require.Equal(t, 4, b.Stats().Busy)
	gate.Release()
	require.NoError(t, client.Close(patient(t)))
	require.EqualValues(t, 10, b.Stats().Ended[spillway.OutcomeOK])
	require.Empty(t, failures)
	require.ErrorIs(t, b.Touch(patient(t), nil, newKey(t, 1)), spillway.ErrClosed)
	require.ErrorIs(t, b.Put(ctx, nil, newKey(t, 1), bins), context.Canceled)

	require.NoError(t, client.Connect(patient(t)))
	record, err := client.Get(patient(t), nil, newKey(t, 9))
	require.NoError(t, err)
	require.Equal(t, 1, record.Bins["n"])
}

// R35, E23: what is lost is counted record by record, and somebody is told.
func TestBackgroundCountsWhatIsLost(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	b, failures := background(t, client, func(c *aerospike.BackgroundConfig) { c.Workers, c.Queue = 1, 1 })
	ctx := patient(t)
	put(t, client, newKey(t, 1), as.BinMap{"s": "text"})
	put(t, client, newKey(t, 2), as.BinMap{"s": 1})

	records := make([]as.BatchRecordIfc, 2)
	for i := range records {
		records[i] = as.NewBatchWrite(nil, newKey(t, i+1), as.AddOp(as.NewBin("s", 1)))
	}
	require.NoError(t, b.BatchOperate(ctx, nil, records))
	f := <-failures
	require.Equal(t, 1, f.Items, "one record of the two can't be added to")
	require.ErrorContains(t, f.Err, "1 of 2 records failed")
	var cause as.Error
	require.ErrorAs(t, f.Err, &cause)
	require.True(t, cause.Matches(types.BIN_TYPE_ERROR))

	gate := srv.Hold(aerospiketest.Match{})
	require.NoError(t, b.Add(ctx, nil, newKey(t, 2), as.BinMap{"s": 1}))
	require.NoError(t, gate.Wait(ctx, 1))
	require.NoError(t, b.Delete(ctx, nil, newKey(t, 3)))
	var r *spillway.Rejection
	require.ErrorAs(t, b.Operate(ctx, nil, newKey(t, 3), as.TouchOp()), &r)
	require.Equal(t, spillway.ReasonQueueFull, r.Reason)
	gate.Release()
	require.NoError(t, b.Close(ctx))
	require.EqualValues(t, 2, b.Stats().LostItems, "the record and what was refused")
	require.EqualValues(t, 1, b.Stats().Refused[spillway.ReasonQueueFull])
}

// G-AER-15: of a batch one of whose nodes fails only the records of that node are lost;
// and none that was to be deleted and isn't there, as with a single Delete.
func TestBackgroundCountsRecordsOfABatchThatAreLost(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv)
	b, failures := background(t, client, nil)
	require.NoError(t, b.BatchOperate(patient(t), nil, nil), "as with the client")
	broken := srv.Inject(aerospiketest.Fault{
		Match:  aerospiketest.Match{Kinds: aerospiketest.KindBatch, Nodes: []int{1}},
		Action: aerospiketest.ActionReset,
	})
	const n = 20
	records := make([]as.BatchRecordIfc, n)
	for i := range records {
		records[i] = as.NewBatchWrite(nil, newKey(t, i), as.PutOp(as.NewBin("n", 1)))
	}
	require.NoError(t, b.BatchOperate(patient(t), nil, records))
	f := <-failures
	stored := srv.Records("test", "s")
	require.Positive(t, stored)
	require.Equal(t, n-stored, f.Items)
	require.EqualValues(t, n-stored, b.Stats().LostItems)
	require.Equal(t, spillway.OutcomeNetwork, spillway.OutcomeOf(f.Err))

	// The records are used again, and nothing is sent: what they say of the first batch
	// is no answer to the second.
	refuse := spillway.RefuseAll
	require.NoError(t, client.Apply(aerospike.Settings{Mode: &refuse}))
	require.NoError(t, b.BatchOperate(patient(t), nil, records))
	f = <-failures
	require.ErrorIs(t, f.Err, spillway.ErrBackpressure)
	require.Equal(t, n, f.Items)
	enforce := spillway.Enforce
	require.NoError(t, client.Apply(aerospike.Settings{Mode: &enforce}))
	require.NoError(t, b.BatchOperate(patient(t), nil, []as.BatchRecordIfc{nil}))
	require.Equal(t, 1, (<-failures).Items)

	broken.Remove()
	srv.Truncate()
	lost := b.Stats().LostItems
	require.NoError(t, b.Delete(patient(t), nil, newKey(t, 1)))
	require.NoError(t, b.BatchOperate(patient(t), nil, []as.BatchRecordIfc{as.NewBatchDelete(nil, newKey(t, 1)), as.NewBatchDelete(nil, newKey(t, 2))}))
	require.NoError(t, b.BatchOperate(patient(t), nil, []as.BatchRecordIfc{as.NewBatchDelete(nil, newKey(t, 1)), as.NewBatchReadHeader(nil, newKey(t, 2))}))
	require.NoError(t, b.BatchOperate(patient(t), nil, []as.BatchRecordIfc{as.NewBatchDelete(nil, newKey(t, 1))}))
	require.NoError(t, b.Close(patient(t)))
	require.Equal(t, lost, b.Stats().LostItems)
	require.Empty(t, failures)
}

// A policy that ends a node's batch at its first failure leaves the others without an
// answer, and without an error.
func TestBackgroundCountsWhatHasNoAnswerAsLost(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	b, failures := background(t, client, nil)
	put(t, client, newKey(t, 2), as.BinMap{"n": "text"})
	policy := as.NewBatchPolicy()
	policy.RespondAllKeys = false
	records := make([]as.BatchRecordIfc, 5)
	for i := range records {
		records[i] = as.NewBatchWrite(nil, newKey(t, i), as.AddOp(as.NewBin("n", 1)))
	}
	require.NoError(t, b.BatchOperate(patient(t), policy, records))
	require.Equal(t, 3, (<-failures).Items)
	require.Equal(t, 3, srv.Records("test", "s"), "the first two, and the text")
	require.NoError(t, b.Close(patient(t)))
}

// G-AER-15: Close of a client is bounded, though the server doesn't answer, and says
// what was left undone.
func TestBackgroundCloseIsBounded(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.DrainTimeout, c.CloseTimeout = 50*time.Millisecond, 50*time.Millisecond })
	b, _ := background(t, client, func(c *aerospike.BackgroundConfig) { c.Workers, c.Drain = 1, 20*time.Millisecond })
	gate := srv.Hold(aerospiketest.Match{})
	ctx := patient(t)
	require.NoError(t, b.Touch(ctx, nil, newKey(t, 1)))
	require.NoError(t, gate.Wait(ctx, 1))
	require.NoError(t, b.PutBins(ctx, nil, newKey(t, 2), as.NewBin("n", 1)))
	var undone *deadline.CloseError
	require.ErrorAs(t, client.Close(ctx), &undone)
	require.Equal(t, 1, undone.Unstarted)
	require.Equal(t, 1, undone.Cut)
	gate.Release()
}

func TestBackgroundRefusesWrongSettings(t *testing.T) {
	client, err := aerospike.New(aerospike.DefaultConfig("127.0.0.1:3000"))
	require.NoError(t, err)
	_, err = client.Background(aerospike.BackgroundConfig{Workers: 1})
	require.ErrorContains(t, err, "TTL")
	_, err = client.Background(aerospike.BackgroundConfig{TTL: time.Second})
	require.ErrorContains(t, err, "Workers")
	_, err = new(aerospike.Client).Background(aerospike.DefaultBackgroundConfig())
	require.ErrorIs(t, err, spillway.ErrClosed)

	var zero aerospike.Background
	require.ErrorIs(t, zero.Touch(t.Context(), nil, newKey(t, 1)), spillway.ErrClosed)
	require.NoError(t, zero.Close(t.Context()))
	require.Zero(t, zero.Stats().Submitted)
}

// A write that isn't executed because there is no connection is one that is lost.
func TestBackgroundWithoutAConnection(t *testing.T) {
	client, err := aerospike.New(aerospike.DefaultConfig("127.0.0.1:3000"))
	require.NoError(t, err)
	b, failures := background(t, client, nil)
	require.NoError(t, b.Go(t.Context(), 3, func(ctx context.Context, c *aerospike.Client) error {
		return errors.Join(c.Touch(ctx, nil, newKey(t, 1)), c.Touch(ctx, nil, newKey(t, 2)))
	}))
	require.Equal(t, 3, (<-failures).Items)
	require.NoError(t, client.Close(t.Context()))
}

// A wrong configuration is told as a whole.
func TestBackgroundConfigListsEveryFault(t *testing.T) {
	client := connect(t, aerospiketest.NewServer(t))
	_, err := client.Background(aerospike.BackgroundConfig{Queue: -1, Drain: -1})
	var wrong *spillway.ConfigError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "aerospike.Background", wrong.Component)
	var fields []string
	for _, f := range wrong.Faults {
		fields = append(fields, f.Field)
	}
	require.ElementsMatch(t, []string{"Workers", "Queue", "Drain", "TTL"}, fields)
	cfg := aerospike.DefaultBackgroundConfig()
	cfg.TTL = deadline.MaxTTL + 1
	_, err = client.Background(cfg)
	require.ErrorContains(t, err, "TTL")
}

// G-AER-5: a write in the background goes by what its caller passed then, who may change his
// policy for the next. (The race detector sees whether that is anybody's business.)
func TestBackgroundCopiesPolicies(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	b, failures := background(t, client, func(c *aerospike.BackgroundConfig) { c.Workers = 1 })
	gate := srv.Hold(aerospiketest.Match{})
	write, batch := as.NewWritePolicy(0, 100), as.NewBatchPolicy()
	ctx := patient(t)
	n := 0
	for _, queue := range []func(*as.Key) error{
		func(k *as.Key) error { return b.Put(ctx, write, k, as.BinMap{"n": 1}) },
		func(k *as.Key) error { return b.PutBins(ctx, write, k, as.NewBin("n", 1)) },
		func(k *as.Key) error { return b.Add(ctx, write, k, as.BinMap{"n": 1}) },
		func(k *as.Key) error { return b.Operate(ctx, write, k, as.PutOp(as.NewBin("n", 1))) },
	} {
		require.NoError(t, queue(newKey(t, n)))
		n++
	}
	require.NoError(t, b.Touch(ctx, write, newKey(t, 0)))
	require.NoError(t, b.Delete(ctx, write, newKey(t, n)))
	records := []as.BatchRecordIfc{as.NewBatchWrite(nil, newKey(t, n), as.PutOp(as.NewBin("n", 1)))}
	require.NoError(t, b.BatchOperate(ctx, batch, records))
	write.Expiration, write.RecordExistsAction, batch.SendKey = 5000, as.UPDATE_ONLY, true
	gate.Release()
	require.NoError(t, b.Close(ctx))
	for len(failures) > 0 { // the delete finds nothing, which is no failure
		require.NoError(t, (<-failures).Err)
	}
	for i := range n {
		record, err := client.GetHeader(ctx, nil, newKey(t, i))
		require.NoError(t, err)
		require.NotNil(t, record)
		require.LessOrEqual(t, record.Expiration, uint32(100))
	}
}
