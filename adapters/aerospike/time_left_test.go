package aerospike_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/retry"
)

// waiting has one write at once, and a room for more.
func waiting(most time.Duration) func(*aerospike.Config) {
	return func(c *aerospike.Config) {
		c.Lanes = aerospike.DefaultLanes(8)
		i := slices.IndexFunc(c.Lanes, func(l aerospike.LaneConfig) bool { return l.Name == aerospike.LaneWrite })
		c.Lanes[i].Limit, c.Lanes[i].MaxWaiting, c.Lanes[i].MaxWait = 1, 100, most
	}
}

// G-AER-2; R97, R98: what a call has spent waiting for its permit the driver can't spend again,
// whether its context has the deadline or it has a budget of its own.
func TestTimeIsWhatIsLeftAfterTheWait(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, waiting(patience))
	const whole, spent = 10 * time.Second, 200 * time.Millisecond
	budgeted, err := client.With(aerospike.Budget(whole))
	require.NoError(t, err)
	for name, call := range map[string]func() error{
		"deadline": func() error {
			ctx, cancel := context.WithTimeout(context.Background(), whole)
			defer cancel()
			return client.Put(ctx, &as.WritePolicy{}, newKey(t, 2), as.BinMap{"a": 1})
		},
		"budget":              func() error { return budgeted.Put(context.Background(), nil, newKey(t, 2), as.BinMap{"a": 1}) },
		"budget and deadline": func() error { return budgeted.Put(patient(t), nil, newKey(t, 2), as.BinMap{"a": 1}) },
	} {
		log := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindsWrite})
		gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindsWrite})
		done := make(chan error, 2)
		go func() { done <- client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"a": 1}) }()
		require.NoError(t, gate.Wait(patient(t), 1))
		go func() { done <- call() }()
		clock, cancel := context.WithTimeout(context.Background(), 2*spent) // it is waiting by then, if the machine is any good
		<-clock.Done()
		cancel()
		gate.Release()
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		require.LessOrEqual(t, log.Served()[1].Timeout, whole-spent, name)
		log.Stop()
	}
	balanced(t, client)
}

// G-AER-2: a budget bounds the wait, too.
func TestBudgetEndsTheWait(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, waiting(patience))
	brief, err := client.With(aerospike.Budget(short))
	require.NoError(t, err)
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindsWrite})
	done := make(chan error, 1)
	go func() { done <- client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"a": 1}) }()
	require.NoError(t, gate.Wait(patient(t), 1))
	for _, ctx := range []context.Context{context.Background(), patient(t)} {
		err := brief.Put(ctx, nil, newKey(t, 2), as.BinMap{"a": 1})
		var r *spillway.Rejection
		require.ErrorAs(t, err, &r)
		require.Equal(t, spillway.ReasonExpired, r.Reason)
		require.NoError(t, ctx.Err())
	}
	require.EqualValues(t, 2, client.Snapshot().Expired)
	gate.Release()
	require.NoError(t, <-done)
	balanced(t, client)
}

// A call that waited in vain has waited once, and is counted once, however many there are.
func TestRefusedCallWaitsOnce(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, waiting(20*time.Millisecond))
	put(t, client, newKey(t, 1), as.BinMap{"a": 1})
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindsWrite})
	done := make(chan error, 1)
	go func() { done <- client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"a": 1}) }()
	require.NoError(t, gate.Wait(patient(t), 1))
	const calls = 130
	refused := make(chan error, calls)
	for range calls {
		go func() { refused <- client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"a": 1}) }()
	}
	for range calls {
		require.ErrorIs(t, <-refused, spillway.ErrBackpressure)
	}
	require.EqualValues(t, calls, client.Snapshot().Lane("A1", aerospike.LaneWrite).Refused.Total())
	gate.Release()
	require.NoError(t, <-done)
	balanced(t, client)
}

// G-AER-2: a budget is for all attempts together, though the context has more time.
func TestBudgetIsForAllAttempts(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, swift)
	brief, err := client.With(aerospike.Budget(short))
	require.NoError(t, err)
	log := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindsRead})
	srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindsRead}, Action: aerospiketest.ActionSwallow})
	err = second(brief.Exists(patient(t), nil, newKey(t, 1)))
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.Equal(t, types.TIMEOUT, ours.Code)
	require.Equal(t, 1, log.Len(), "the first has used all of it")
}

// G-AER-2: a policy that gives an attempt less than the budget leaves room for another.
func TestBudgetLeavesRoomForAttempts(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, swift)
	budgeted, err := client.With(aerospike.Budget(patience))
	require.NoError(t, err)
	policy := as.NewPolicy()
	policy.TotalTimeout = short
	log := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindsRead})
	srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindsRead}, Action: aerospiketest.ActionSwallow})
	require.Error(t, second(budgeted.Exists(patient(t), policy, newKey(t, 1))))
	require.Equal(t, 3, log.Len())
}

// G-AER-13; R142: a retry that is refused before it is sent isn't what the call ends with: a write that
// timed out before is in doubt, and no refusal.
func TestRefusedRetryEndsWithWhatCameBefore(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, swift)
	idempotent, err := client.With(aerospike.Idempotent())
	require.NoError(t, err)
	policy := as.NewWritePolicy(0, 0)
	policy.TotalTimeout = short // which the first attempt uses up
	batch := as.NewBatchPolicy()
	batch.TotalTimeout = short
	fault := srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindsData}, Action: aerospiketest.ActionSwallow, After: true})
	for name, call := range map[string]func() error{
		"Put": func() error { return idempotent.Put(context.Background(), policy, newKey(t, 1), as.BinMap{"a": 1}) },
		"Get": func() error { return second(client.Get(context.Background(), &policy.BasePolicy, newKey(t, 1))) },
		"BatchOperate": func() error {
			return idempotent.BatchOperate(context.Background(), batch, []as.BatchRecordIfc{as.NewBatchWrite(nil, newKey(t, 1), as.TouchOp())})
		},
	} {
		err := call()
		var ours *aerospike.Error
		require.ErrorAs(t, err, &ours, name)
		require.Equal(t, spillway.OutcomeTimeout, ours.Outcome(), name)
		require.Equal(t, name != "Get", ours.InDoubt, name)
		require.NotErrorIs(t, err, spillway.ErrBackpressure, name)
	}
	require.Zero(t, client.Snapshot().Expired)
	fault.Remove()
	balanced(t, client)
}

// The same, with a lane that has no room for the retry.
func TestRetryThatFindsNoRoomEndsWithWhatCameBefore(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	var client *aerospike.Client
	client = connect(t, srv, func(c *aerospike.Config) {
		c.Reads.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) {
			mode := spillway.RefuseAll
			require.NoError(t, client.Apply(aerospike.Settings{Mode: &mode}))
		}}}
	})
	srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindsRead}, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload})
	err := second(client.Get(patient(t), nil, newKey(t, 1)))
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.Equal(t, types.DEVICE_OVERLOAD, ours.Code)
	require.False(t, errors.Is(err, spillway.ErrBackpressure))
	balanced(t, client)
}

// G-AER-2, G-AER-13: what goes out once more because a master has gone gets the time that is left;
// and a batch doesn't, if any of it may have been done: the driver's error tells only of
// the nodes that failed.
func TestSendingOnceMore(t *testing.T) {
	gone := &as.AerospikeError{ResultCode: types.INVALID_NODE_ERROR}
	yes, no := func() bool { return true }, func() bool { return false }
	given := aerospike.Steadily(gone, time.Minute, 30*time.Second, 2, nil)
	require.Len(t, given, 2)
	require.Equal(t, time.Minute, given[0])
	require.InDelta(t, 30*time.Second, given[1], float64(5*time.Second))
	require.LessOrEqual(t, given[1], 30*time.Second)
	require.Len(t, aerospike.Steadily(gone, time.Minute, 0, 2, nil), 1, "no time is left")
	require.Len(t, aerospike.Steadily(gone, time.Minute, time.Minute, 1, yes), 2)
	require.Len(t, aerospike.Steadily(gone, time.Minute, time.Minute, 1, no), 1)
	require.Len(t, aerospike.Steadily(gone, time.Minute, time.Minute, 2, yes), 1, "what is left of two errors hides whether the other node has done its part")
	require.Len(t, aerospike.Steadily(&as.AerospikeError{ResultCode: types.TIMEOUT}, time.Minute, time.Minute, 1, nil), 1)
}
