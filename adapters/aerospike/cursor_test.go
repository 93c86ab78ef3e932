package aerospike_test

import (
	"context"
	"math/rand/v2"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// partitionStreams are those that a caller's own filter is the cursor of.
func partitionStreams(client *aerospike.Client, maxRecords int64) map[string]func(context.Context, *as.PartitionFilter) (*aerospike.Stream, error) {
	scan, query := as.NewScanPolicy(), as.NewQueryPolicy()
	scan.MaxRecords, query.MaxRecords = maxRecords, maxRecords
	scan.RecordQueueSize, query.RecordQueueSize = 10, 10
	return map[string]func(context.Context, *as.PartitionFilter) (*aerospike.Stream, error){
		"scan": func(ctx context.Context, f *as.PartitionFilter) (*aerospike.Stream, error) {
			return client.ScanPartitions(ctx, scan, f, "test", "s")
		},
		"query": func(ctx context.Context, f *as.PartitionFilter) (*aerospike.Stream, error) {
			return client.QueryPartitions(ctx, query, statement(), f)
		},
	}
}

// readSome reads a stream to its end, or until so many records were read: then it is left in
// one of the ways that there are.
func readSome(t *testing.T, open func(context.Context, *as.PartitionFilter) (*aerospike.Stream, error), f *as.PartitionFilter, most int, seen map[int]int) (n int, last error) {
	t.Helper()
	ctx, cancel := context.WithCancel(patient(t))
	defer cancel()
	stream, err := open(ctx, f)
	require.NoError(t, err)
	leave := []func(){func() {}, cancel, func() { _ = stream.Close() }}[rand.IntN(3)]
	for rec, err := range stream.All() {
		if last = err; err != nil {
			break
		}
		seen[rec.Bins["i"].(int)]++
		if n++; n == most {
			leave()
			break
		}
	}
	ended(t, stream)
	return n, last
}

// G-AER-20; R132: a partition filter says where to go on, however a stream over it has ended: no record
// is left out and none comes twice, and it is done when all were read and not before.
func TestPartitionFilterSaysWhereToGoOn(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv)
	const records = 300
	fill(t, client, records)
	for round := range 8 {
		maxRecords := []int64{0, 0, 70, 1000}[round%4]
		for name, open := range partitionStreams(client, maxRecords) {
			f, seen, streams := as.NewPartitionFilterAll(), map[int]int{}, 0
			for !f.IsDone() {
				require.Less(t, streams, 300, name)
				if streams++; rand.IntN(3) == 0 {
					srv.Inject(aerospiketest.Fault{
						Match: aerospiketest.Match{Kinds: aerospiketest.KindScan | aerospiketest.KindQuery}, Times: 1, Action: aerospiketest.ActionReset,
					})
				}
				n, err := readSome(t, open, f, 1+rand.IntN(150), seen)
				require.NoError(t, err, name)
				require.LessOrEqual(t, n, records, name)
			}
			require.Len(t, seen, records, name)
			for i, n := range seen {
				require.Equal(t, 1, n, "%s: record %d", name, i)
			}
		}
	}
	idle(t, client)
}

// G-AER-20; T-16, R142: a filter that was done once says nothing of the next stream over it: one that
// fails is no empty result.
func TestFilterThatWasDoneBefore(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	fill(t, client, 10)
	for name, open := range partitionStreams(client, 0) {
		f := as.NewPartitionFilterAll()
		n, err := readSome(t, open, f, 100, map[int]int{})
		require.NoError(t, err, name)
		require.Equal(t, 10, n, name)
		require.True(t, f.IsDone(), name)

		fault := srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindScan | aerospiketest.KindQuery}, Action: aerospiketest.ActionReset})
		n, err = readSome(t, open, f, 100, map[int]int{})
		require.Zero(t, n, name)
		var failed *aerospike.Error
		require.ErrorAs(t, err, &failed, name)
		require.False(t, f.IsDone(), name)
		ch := make(chan *item, 20)
		f.Done = true
		objects, err := client.ScanPartitionObjects(patient(t), nil, ch, f, "test", "s")
		require.NoError(t, err)
		require.ErrorIs(t, objects.Err(), aerospike.ErrIncomplete)
		require.False(t, f.IsDone(), name)
		fault.Remove()
		_, err = readSome(t, open, f, 100, map[int]int{})
		require.NoError(t, err, name)
		require.True(t, f.IsDone(), name)
	}
	idle(t, client)
}

// G-AER-20: a filter is not done when its stream was ended by an error, which the driver says it is.
func TestFilterOfAStreamThatFailed(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	fill(t, client, 10)
	srv.Inject(aerospiketest.Fault{
		Match: aerospiketest.Match{Kinds: aerospiketest.KindScan | aerospiketest.KindQuery}, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden,
	})
	for name, open := range partitionStreams(client, 0) {
		f := as.NewPartitionFilterAll()
		_, err := readSome(t, open, f, 100, map[int]int{})
		require.Error(t, err, name)
		require.False(t, f.IsDone(), name)
	}
	f, ch := as.NewPartitionFilterAll(), make(chan *item, 20)
	objects, err := client.ScanPartitionObjects(patient(t), nil, ch, f, "test", "s")
	require.NoError(t, err)
	require.Error(t, objects.Err())
	require.False(t, f.IsDone())
	idle(t, client)
}

// A page of objects is complete, and says whether there are more.
func TestPageOfObjects(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	fill(t, client, 40)
	policy := as.NewScanPolicy()
	policy.MaxRecords = 15
	f, n, pages := as.NewPartitionFilterAll(), 0, 0
	for !f.IsDone() {
		require.Less(t, pages, 10)
		ch := make(chan *item, 20)
		objects, err := client.ScanPartitionObjects(patient(t), policy, ch, f, "test", "s")
		require.NoError(t, err)
		for range ch {
			n++
		}
		require.NoError(t, objects.Err())
		pages++
	}
	require.Equal(t, 40, n)
	require.Equal(t, 3, pages)
	idle(t, client)
}
