package aerospike_test

import (
	"context"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// G-AER-2; R98, T-19: what time a call gets, from its context, its policy and the
// default.
func TestBudget(t *testing.T) {
	const otherwise, least = 5 * time.Second, 2 * time.Millisecond
	for _, c := range []struct {
		name         string
		left, policy time.Duration // 0: none
		want         time.Duration
		ok           bool
	}{
		{"the default if nobody says anything", 0, 0, otherwise, true},
		{"a negative timeout is none", 0, -time.Second, otherwise, true},
		{"the policy's", 0, time.Second, time.Second, true},
		{"the context's, if it is tighter", 500 * time.Millisecond, time.Second, 499 * time.Millisecond, true},
		{"the policy's, if that is tighter", time.Minute, time.Second, time.Second, true},
		{"the context's, if the policy has none", time.Minute, 0, 59999 * time.Millisecond, true},
		{"too little", time.Millisecond, 0, 0, false},
		{"none left", -time.Second, time.Second, -time.Second, false},
		{"the policy's too little", 0, time.Microsecond, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			if c.left != 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithDeadline(ctx, time.Now().Add(c.left))
				defer cancel()
			}
			total, socket, ok := aerospike.BudgetOf(ctx, c.policy, otherwise, least)
			require.Equal(t, c.ok, ok)
			require.Zero(t, total%time.Millisecond, "the server is told whole milliseconds")
			if ok {
				require.InDelta(t, c.want, total, float64(time.Second/5)) // the context's clock runs
				require.LessOrEqual(t, total, max(c.left, c.want))
				require.Positive(t, total)
				require.Equal(t, total, socket)
			}
		})
	}
}

// G-AER-2; R91: a call whose time is up isn't sent.
func TestClientDoesNotSendWhatIsOutOfTime(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.MinBudget = time.Hour })
	ctx := patient(t) // has seconds left: far less than an hour
	_, err := client.Get(ctx, nil, newKey(t, 1))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	var r *spillway.Rejection
	require.ErrorAs(t, err, &r)
	require.Equal(t, spillway.ReasonExpired, r.Reason)
	require.Equal(t, 504, aerospike.StatusOf(err).HTTP)
	require.ErrorIs(t, client.Put(ctx, nil, newKey(t, 1), as.BinMap{"a": 1}), spillway.ErrBackpressure)
	_, err = client.BatchGet(ctx, nil, []*as.Key{newKey(t, 1)})
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	_, err = client.ScanAll(ctx, nil, "test", "s")
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.Zero(t, srv.Stats().Count(aerospiketest.KindsData))
	require.EqualValues(t, 4, client.Snapshot().Expired)
}

// G-AER-2; T-03, R99, fact 3: a server that never answers can't hold a call longer than its
// context, single or batch, however many nodes the batch has.
func TestClientReturnsByItsDeadline(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 4})
	var keys []*as.Key
	for i := range 40 {
		keys = append(keys, newKey(t, i))
	}
	const budget = 200 * time.Millisecond
	for name, call := range map[string]func(context.Context, *aerospike.Client) error{
		"Get": func(ctx context.Context, c *aerospike.Client) error { _, err := c.Get(ctx, nil, keys[0]); return err },
		"Put": func(ctx context.Context, c *aerospike.Client) error {
			return c.Put(ctx, nil, keys[0], as.BinMap{"a": 1})
		},
		"BatchGet": func(ctx context.Context, c *aerospike.Client) error { _, err := c.BatchGet(ctx, nil, keys); return err },
	} {
		t.Run(name, func(t *testing.T) {
			client := connect(t, srv) // each with a pool of its own, none of it used up
			fault := srv.Inject(aerospiketest.Fault{Action: aerospiketest.ActionSwallow})
			defer fault.Remove()
			ctx, cancel := context.WithTimeout(context.Background(), budget)
			defer cancel()
			start := time.Now()
			err := call(ctx, client)
			require.Error(t, err)
			// Node by node it would take four times as long, with the driver's
			// retries more. The bound is generous: machines are shared.
			require.Less(t, time.Since(start), 3*budget)
			require.Equal(t, spillway.OutcomeTimeout, spillway.OutcomeOf(err), "%v", err)
			require.True(t, aerospike.IsOverload(err))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, 504, aerospike.StatusOf(err).HTTP)
			var ours *aerospike.Error
			require.ErrorAs(t, err, &ours)
			require.Equal(t, name == "Put", ours.InDoubt)
		})
	}
}
