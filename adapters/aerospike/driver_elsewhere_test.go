package aerospike_test

import (
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// By SEQUENCE the driver asks the next replica as soon as the master's pool has no open
// connection, reads and writes alike: the permit would be another node's. Ours waits for the
// master's connection.
func TestFactColdCallGoesElsewhere(t *testing.T) {
	srv, secret := encrypted(t)
	key := newKey(t, 1)
	policy := as.NewPolicy()
	policy.TotalTimeout = time.Hour
	driver := raw(t, srv, secret)
	p, aerr := as.PartitionForRead(driver.Cluster(), policy, key)
	require.NoError(t, asError(aerr))
	node, aerr := p.GetNodeRead(driver.Cluster())
	require.NoError(t, asError(aerr))
	master := 0
	if node.GetName() != srv.Node(0).Name() {
		master = 1
	}
	served := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindsData})
	opening := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindConnect, Nodes: []int{master}})
	_, aerr = driver.Exists(policy, key)
	require.NoError(t, asError(aerr))
	require.Equal(t, 1-master, served.Served()[0].Node, "the fault that this test is about is gone from the driver")
	opening.Release()

	client := connect(t, srv, swift, func(c *aerospike.Config) {
		secret(c.ClientPolicy)
		c.WarmUp = 0
	})
	opening = srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindConnect, Nodes: []int{master}})
	done := make(chan error, 1)
	go func() { done <- second(client.Exists(patient(t), policy, key)) }()
	require.NoError(t, opening.Wait(patient(t), 1))
	opening.Release()
	require.NoError(t, <-done)
	require.Equal(t, master, served.Served()[1].Node)
	balanced(t, client)
}
