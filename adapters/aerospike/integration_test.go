//go:build integration

package aerospike_test

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
)

// The same against a real server: go test -tags integration -run Integration, with
// SPILLWAY_AEROSPIKE_HOSTS=host:port,… and a namespace "test".
func TestIntegrationRealServer(t *testing.T) {
	hosts := os.Getenv("SPILLWAY_AEROSPIKE_HOSTS")
	require.NotEmpty(t, hosts, "SPILLWAY_AEROSPIKE_HOSTS says where the server is")
	cfg := aerospike.DefaultConfig(strings.Split(hosts, ",")...)
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	require.NoError(t, client.Connect(patient(t)))
	defer func() { require.NoError(t, client.Close(patient(t))) }()

	const set, records = "spillway-integration", 500
	keys := make([]*as.Key, records)
	for i := range keys {
		key, aerr := as.NewKey("test", set, i)
		require.NoError(t, asError(aerr))
		keys[i] = key
		require.NoError(t, client.Put(patient(t), nil, key, as.BinMap{"i": i}))
	}
	got, err := client.BatchGet(patient(t), nil, keys)
	require.NoError(t, err)
	for i, rec := range got {
		require.Equal(t, i, rec.Bins["i"])
	}
	stream, err := client.ScanAll(patient(t), nil, "test", set)
	require.NoError(t, err)
	seen := 0
	for _, err := range stream.All() {
		require.NoError(t, err)
		seen++
	}
	require.Equal(t, records, seen)

	var served, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, err := client.Get(patient(t), nil, keys[i%records])
			if err != nil {
				require.ErrorIs(t, err, spillway.ErrBackpressure)
				refused.Add(1)
				return
			}
			served.Add(1)
		}()
	}
	wg.Wait()
	require.EqualValues(t, 1000, served.Load()+refused.Load())
	for _, key := range keys {
		_, err := client.Delete(patient(t), nil, key)
		require.NoError(t, err)
	}
}
