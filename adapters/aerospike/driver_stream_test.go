package aerospike_test

import (
	"context"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// taken reads a Recordset to its end, and counts its records and its errors.
func taken(rs *as.Recordset) (records, errs int) {
	for result := range rs.Results() {
		if result.Err != nil {
			errs++
		} else {
			records++
		}
	}
	return records, errs
}

// Fact 11; T-16, R142: the driver delivers an error of a scan twice, and one that it has
// made good since as well. Ours delivers the first once, never as an empty result, and the
// other not at all.
func TestFactStreamErrors(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	fill(t, client, 40)
	driver := raw(t, srv)
	ours := func() (records int, errs []error) {
		stream, err := client.ScanAll(patient(t), nil, "test", "s")
		require.NoError(t, err)
		for rec, err := range stream.All() {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			require.NotNil(t, rec)
			records++
		}
		ended(t, stream)
		return records, errs
	}
	scans := aerospiketest.Match{Kinds: aerospiketest.KindScan}

	fault := srv.Inject(aerospiketest.Fault{Match: scans, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden})
	rs, aerr := driver.ScanAll(nil, "test", "s")
	require.Nil(t, aerr)
	_, twice := taken(rs)
	require.Equal(t, 2, twice, "the fault that this test is about is gone from the driver")
	records, errs := ours()
	require.Zero(t, records)
	require.Len(t, errs, 1)
	var failed *aerospike.Error
	require.ErrorAs(t, errs[0], &failed)
	require.EqualValues(t, aerospiketest.CodeForbidden, failed.Code)
	fault.Remove()

	reset := aerospiketest.Fault{Match: scans, Times: 1, Action: aerospiketest.ActionReset}
	srv.Inject(reset)
	rs, aerr = driver.ScanAll(nil, "test", "s")
	require.Nil(t, aerr)
	all, spurious := taken(rs)
	require.Equal(t, 40, all)
	require.Equal(t, 1, spurious, "the fault that this test is about is gone from the driver")
	srv.Inject(reset)
	records, errs = ours()
	require.Equal(t, 40, records)
	require.Empty(t, errs)
	idle(t, client)
}

// T-12, T-13: a scan delivers what a node has while another has not begun to answer, and
// then, of that one, its error.
func TestStreamDeliversBeforeItFails(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv)
	fill(t, client, 100)
	driver := raw(t, srv)
	onFirst := 0
	for i := range 100 {
		p, aerr := as.PartitionForWrite(driver.Cluster(), as.NewPolicy(), newKey(t, i))
		require.Nil(t, aerr)
		n, aerr := p.GetNodeWrite(driver.Cluster())
		require.Nil(t, aerr)
		if n.GetName() == srv.Node(0).Name() {
			onFirst++
		}
	}
	second := aerospiketest.Match{Kinds: aerospiketest.KindScan, Nodes: []int{1}}
	srv.Inject(aerospiketest.Fault{Match: second, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden, After: true})
	gate := srv.Hold(second)
	stream, err := client.ScanAll(patient(t), nil, "test", "s")
	require.NoError(t, err)
	records, failed := 0, 0
	for _, err := range stream.All() {
		if err != nil {
			failed++
			continue
		}
		require.Zero(t, failed, "the error is the last")
		if records++; records == onFirst {
			require.NoError(t, gate.Wait(patient(t), 1))
			gate.Release()
		}
	}
	require.Equal(t, onFirst, records)
	require.Equal(t, 1, failed)
	ended(t, stream)
	idle(t, client)
}

// Fact 10: the driver's Close of a scan waits for a producer that has an error to report
// and nobody to report it to. Whether it has come that far nobody can see, so the driver
// has more than one chance to show it. Ours receives for it.
func TestFactCloseOfAStreamHangs(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	driver := raw(t, srv)
	fault := srv.Inject(aerospiketest.Fault{
		Match: aerospiketest.Match{Kinds: aerospiketest.KindScan}, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden,
	})
	policy := as.NewScanPolicy()
	policy.RecordQueueSize = 1 // the second of two errors finds it full
	hung := false
	for try := 1; !hung && try <= 50; try++ {
		rs, aerr := driver.ScanAll(policy, "test", "s")
		require.Nil(t, aerr)
		require.NoError(t, fault.Wait(patient(t), try))
		_, aerr = driver.Exists(nil, newKey(t, 1)) // meanwhile the answer arrives
		require.Nil(t, aerr)
		closed := make(chan struct{})
		go func() { defer close(closed); _ = rs.Close() }()
		late, cancel := context.WithTimeout(context.Background(), short)
		select {
		case <-closed:
		case <-late.Done():
			hung = true
			for range rs.Results() { // lets it go
			}
			<-closed
		}
		cancel()
	}
	require.True(t, hung, "the fault that this test is about is gone from the driver")

	for range 20 {
		stream, err := client.ScanAll(patient(t), policy, "test", "s")
		require.NoError(t, err)
		require.NoError(t, stream.Close())
		ended(t, stream)
	}
	idle(t, client)
}
