package aerospike_test

import (
	"context"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// patience bounds every wait of these tests: none of them takes that long.
const patience = 20 * time.Second

func patient(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// connect returns a client that is connected to the server, and closed after the
// test.
func connect(t testing.TB, srv *aerospiketest.Server, change ...func(*aerospike.Config)) *aerospike.Client {
	t.Helper()
	cfg := aerospike.DefaultConfig(srv.Hosts()...)
	cfg.WarmUp = 2
	cfg.ClientPolicy = as.NewClientPolicy() // which is patient: machines are shared
	for _, f := range change {
		f(&cfg)
	}
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	require.NoError(t, client.Connect(patient(t)))
	t.Cleanup(func() { require.NoError(t, client.Close(patient(t))) })
	return client
}

// raw returns a client of the driver alone.
func raw(t testing.TB, srv *aerospiketest.Server, change ...func(*as.ClientPolicy)) *as.Client {
	t.Helper()
	policy := as.NewClientPolicy()
	policy.Timeout = 5 * time.Second
	for _, f := range change {
		f(policy)
	}
	hosts, err := as.NewHosts(srv.Hosts()...)
	require.NoError(t, asError(err))
	client, err := as.NewClientWithPolicyAndHost(policy, hosts...)
	require.NoError(t, asError(err))
	t.Cleanup(client.Close)
	return client
}

// asError keeps a nil as.Error from becoming an error that isn't nil.
func asError(err as.Error) error {
	if err == nil {
		return nil
	}
	return err
}

func newKey(t testing.TB, value any) *as.Key {
	t.Helper()
	key, err := as.NewKey("test", "s", value)
	require.NoError(t, asError(err))
	return key
}

// keyOn returns a key whose first copy a node has.
func keyOn(t testing.TB, client *as.Client, node string) *as.Key {
	t.Helper()
	return keysOn(t, client, node, 1)[0]
}

// keysOn returns n of them.
func keysOn(t testing.TB, client *as.Client, node string, n int) (keys []*as.Key) {
	t.Helper()
	for i := range 10_000 {
		key := newKey(t, i)
		at, err := as.GetNodeBatchWrite(client.Cluster(), key, as.SEQUENCE, nil, 0)
		require.NoError(t, asError(err))
		if at.GetName() == node {
			if keys = append(keys, key); len(keys) == n {
				return keys
			}
		}
	}
	t.Fatalf("no %d keys on node %s", n, node)
	return nil
}

func put(t testing.TB, client *aerospike.Client, key *as.Key, bins as.BinMap) {
	t.Helper()
	require.NoError(t, client.Put(patient(t), nil, key, bins))
}
