package aerospike_test

import (
	"crypto/tls"
	"fmt"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// encrypted is a cluster with TLS, and what clients need for it: a gate on its connections
// keeps them from being open, as the driver sees it.
func encrypted(t *testing.T) (*aerospiketest.Server, func(*as.ClientPolicy)) {
	t.Helper()
	const name = "cluster"
	certificate, trusted := selfSigned(t, name)
	srv := aerospiketest.NewServer(t, aerospiketest.Config{
		Nodes: 2, ClusterName: name, TLS: &tls.Config{Certificates: []tls.Certificate{certificate}},
	})
	return srv, func(p *as.ClientPolicy) {
		p.ClusterName, p.TlsConfig = name, &tls.Config{RootCAs: trusted}
		p.TendInterval = time.Hour
	}
}

// Fact 6: a batch that finds pools without an open connection fails at once, however much
// time it has. Ours waits for the connections, and finds some if there was a warm-up.
func TestFactColdBatch(t *testing.T) {
	srv, secret := encrypted(t)
	driver := raw(t, srv, secret)
	var keys []*as.Key
	var records []as.BatchRecordIfc
	for i := range 40 {
		keys = append(keys, newKey(t, i))
		records = append(records, as.NewBatchWrite(nil, keys[i], as.PutOp(as.NewBin("i", i))))
	}
	opening := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindConnect})
	policy := as.NewBatchPolicy()
	policy.TotalTimeout = time.Hour
	_, aerr := driver.BatchGet(policy, keys)
	require.NotNil(t, aerr, "the fault that this test is about is gone from the driver")
	require.True(t, aerr.Matches(types.MAX_RETRIES_EXCEEDED))
	require.True(t, aerr.Matches(types.NO_AVAILABLE_CONNECTIONS_TO_NODE))
	opening.Release()

	for name, batch := range map[string]func(*aerospike.Client) error{
		"BatchGet":     func(c *aerospike.Client) error { return second(c.BatchGet(patient(t), policy, keys)) },
		"BatchOperate": func(c *aerospike.Client) error { return c.BatchOperate(patient(t), policy, records) },
	} {
		for _, warm := range []int{0, 2} {
			t.Run(fmt.Sprintf("%s/warm=%d", name, warm), func(t *testing.T) {
				client := connect(t, srv, swift, func(c *aerospike.Config) {
					secret(c.ClientPolicy)
					c.WarmUp = warm
				})
				once, err := client.With(aerospike.NoRetry())
				require.NoError(t, err)
				opening := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindConnect})
				done := make(chan error, 1)
				go func() { done <- batch(once) }()
				if warm > 0 {
					require.NoError(t, <-done)
					require.Zero(t, opening.Held(), "no connection was missing")
				} else {
					require.NoError(t, opening.Wait(patient(t), 2), "one at each node")
				}
				opening.Release()
				if warm == 0 {
					require.NoError(t, <-done)
				}
				idle(t, client)
			})
		}
	}
}
