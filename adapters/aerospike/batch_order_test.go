package aerospike_test

import (
	"sync"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// Batches that wait for permits of several nodes take them in the same order: two that
// name the nodes in another order would wait for each other, both in vain.
func TestBatchesDoNotWaitForEachOtherConcurrentSafe(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Lanes = aerospike.DefaultLanes(1)
		for i := range c.Lanes {
			c.Lanes[i].MaxWaiting, c.Lanes[i].MaxWait = 10, patience
		}
	})
	driver := raw(t, srv)
	one, two := keyOn(t, driver, "A1"), keyOn(t, driver, "A2")
	var wg sync.WaitGroup
	for i := range 6 {
		keys := []*as.Key{one, two}
		if i%2 == 0 {
			keys = []*as.Key{two, one}
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 10 {
				_, err := client.BatchExists(patient(t), nil, keys)
				require.NoError(t, err)
			}
		}()
	}
	wg.Wait()
	balanced(t, client)
}

// A batch of which nothing was sent returns no records, rather than empty ones.
func TestRefusedBatchReturnsNothing(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Mode = spillway.RefuseAll })
	records, err := client.BatchDelete(patient(t), nil, nil, []*as.Key{newKey(t, 1)})
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.Nil(t, records)
	records, err = client.BatchExecute(patient(t), nil, nil, []*as.Key{newKey(t, 1)}, "m", "f")
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.Nil(t, records)
}

// A key that has no node, as in a namespace that there isn't, fails alone.
func TestBatchWithAnUnknownNamespace(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	lost, aerr := as.NewKey("nowhere", "s", 1)
	require.Nil(t, aerr)
	records := []as.BatchRecordIfc{
		as.NewBatchWrite(nil, lost, as.PutOp(as.NewBin("a", 1))),
		as.NewBatchWrite(nil, newKey(t, 1), as.PutOp(as.NewBin("a", 1))),
		as.NewBatchWrite(nil, newKey(t, 2), as.PutOp(as.NewBin("a", 1))),
	}
	_ = client.BatchOperate(patient(t), nil, records) // as the driver has it, which may change
	require.Equal(t, types.INVALID_NAMESPACE, records[0].BatchRec().ResultCode)
	require.Equal(t, types.OK, records[1].BatchRec().ResultCode)
	require.Equal(t, types.OK, records[2].BatchRec().ResultCode)
	deleted, err := client.BatchDelete(patient(t), nil, nil, []*as.Key{lost})
	var ours *aerospike.Error
	require.ErrorAs(t, err, &ours)
	require.Equal(t, types.INVALID_NAMESPACE, ours.Code)
	require.Len(t, deleted, 1)
	idle(t, client)
}
