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

// withLane adds a lane.
func withLane(name string) func(*aerospike.Config) {
	return func(c *aerospike.Config) {
		c.Lanes = append(aerospike.DefaultLanes(8), aerospike.LaneConfig{Name: name, Limit: 1})
	}
}

func admitted(client *aerospike.Client, lane string) int {
	return int(client.Snapshot().Lane("A1", lane).Admitted)
}

// The lane of With comes before that of the class, that before the route's, and that
// before the operation's.
func TestRouting(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, withLane("vip"), func(c *aerospike.Config) {
		c.Classes = map[spillway.Class]string{spillway.Critical: "vip"}
		c.Route = func(call spillway.Call) string {
			if call.Collection == "s" && call.Operation == "Exists" {
				return aerospike.LaneStream
			}
			return "no such lane"
		}
	})
	ctx, key := patient(t), newKey(t, 1)
	put(t, client, key, as.BinMap{"a": 1})
	require.Equal(t, 1, admitted(client, aerospike.LaneWrite), "a route that leads nowhere")

	_, err := client.Exists(ctx, nil, key)
	require.NoError(t, err)
	require.Equal(t, 1, admitted(client, aerospike.LaneStream), "the route")
	_, err = client.Exists(spillway.WithClass(ctx, spillway.Critical), nil, key)
	require.NoError(t, err)
	require.Equal(t, 1, admitted(client, "vip"), "the context's class")
	critical, err := client.With(aerospike.Class(spillway.Critical))
	require.NoError(t, err)
	_, err = critical.BatchGet(ctx, nil, []*as.Key{key})
	require.NoError(t, err)
	require.Equal(t, 2, admitted(client, "vip"), "the client's class")
	_, err = critical.Exists(spillway.WithClass(ctx, spillway.Bulk), nil, key)
	require.NoError(t, err)
	require.Equal(t, 2, admitted(client, "vip"), "the context's class comes first, and is mapped to none")
	require.Equal(t, 2, admitted(client, aerospike.LaneStream))
	batch, err := critical.With(aerospike.Lane(aerospike.LaneBatch))
	require.NoError(t, err)
	_, err = batch.Exists(spillway.WithClass(ctx, spillway.Critical), nil, key)
	require.NoError(t, err)
	require.Equal(t, 1, admitted(client, aerospike.LaneBatch), "the client's lane")
	require.NoError(t, drained(batch.ScanAll(ctx, nil, "test", "s")))
	require.Equal(t, 2, admitted(client, aerospike.LaneBatch))
	_, err = batch.ListUDF(ctx, nil)
	require.NoError(t, err, "what administers has its own lane, whatever was chosen")
	require.Equal(t, 2, admitted(client, aerospike.LaneBatch))
	idle(t, client)
}

// Choices that can't be made are errors; what is chosen holds for all calls.
func TestWith(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 1 })
	for _, choice := range []aerospike.Choice{aerospike.Lane("none"), aerospike.Lane(aerospike.LaneAdmin), aerospike.Budget(0), nil} {
		_, err := client.With(choice)
		var faults *spillway.ConfigError
		require.ErrorAs(t, err, &faults)
	}
	_, err := client.With(aerospike.Lane("none"))
	require.ErrorContains(t, err, `Lane is "none": must be one of the lanes per node: read, write, batch, stream`)
	_, err = new(aerospike.Client).With()
	require.ErrorIs(t, err, spillway.ErrClosed)

	hurried, err := client.With(aerospike.Budget(short))
	require.NoError(t, err)
	fault := srv.Inject(aerospiketest.Fault{Action: aerospiketest.ActionSwallow})
	began := time.Now()
	_, err = hurried.Exists(context.Background(), nil, newKey(t, 1))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(began), time.Second, "retries included")
	fault.Remove()

	bypass, err := client.With(aerospike.Bypass())
	require.NoError(t, err)
	letGo := hold(t, srv, 1, func(i int) error { return client.Put(patient(t), nil, newKey(t, i), as.BinMap{"a": 1}) })
	err = client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"a": 1})
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	done := make(chan error, 1)
	go func() { done <- bypass.Put(patient(t), nil, newKey(t, 2), as.BinMap{"a": 1}) }()
	letGo()
	require.NoError(t, <-done)
	require.EqualValues(t, 1, admitted(client, aerospike.LaneWrite), "what goes past the lanes is counted nowhere")
}

// A class can't be sent to the lane of administration, which isn't at any node.
func TestClassesCannotAdminister(t *testing.T) {
	cfg := aerospike.DefaultConfig("h:1")
	cfg.Classes = map[spillway.Class]string{spillway.Bulk: aerospike.LaneAdmin, spillway.Normal: "none"}
	_, err := aerospike.New(cfg)
	require.Equal(t, map[string]any{"Classes[bulk]": aerospike.LaneAdmin, "Classes[normal]": "none"}, faultsOf(t, err))
}
