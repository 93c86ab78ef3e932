package aerospike_test

import (
	"context"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// count reads a Recordset to its end.
func count(t *testing.T, rs *as.Recordset) (n int) {
	t.Helper()
	for result := range rs.Results() {
		require.NoError(t, asError(result.Err))
		n++
	}
	return n
}

// G-AER-12: a Recordset holds its permits until it was drained or closed, and they come
// back although it tells nobody: the close of the client, which waits for them, is what
// this test waits for.
func TestCompatRecordsetGivesItsPermitBack(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 1 })
	c := compatOf(t, client)
	fill(t, client, 100)
	policy := as.NewScanPolicy()
	policy.RecordQueueSize = 1
	rs, aerr := c.ScanAll(policy, "test", "s")
	require.Nil(t, aerr)
	<-rs.Results()
	_, aerr = c.ScanAll(nil, "test", "s")
	require.ErrorIs(t, aerr, spillway.ErrBackpressure, "the permit is taken")
	require.Equal(t, 99, count(t, rs))
	balanced(t, client)
	require.NoError(t, client.Connect(patient(t)))

	c = compatOf(t, client)
	rs, aerr = c.Query(nil, statement())
	require.Nil(t, aerr)
	<-rs.Results()
	require.Nil(t, rs.Close())
	balanced(t, client)
}

// G-AER-12, G-AER-3: a Recordset that was closed keeps its permit and its lease as long as the
// driver's Close waits for a producer, who has a connection.
func TestCompatRecordsetIsHeldUntilItsProducersEnd(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 1 })
	c := compatOf(t, client)
	for name, open := range map[string]func() (*as.Recordset, as.Error){
		"scan":    func() (*as.Recordset, as.Error) { return c.ScanAll(nil, "test", "s") },
		"objects": func() (*as.Recordset, as.Error) { return c.QueryObjects(nil, statement(), make(chan *item)) },
	} {
		gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindScan | aerospiketest.KindQuery})
		rs, aerr := open()
		require.Nil(t, aerr)
		require.NoError(t, gate.Wait(patient(t), 1), name)
		closed := make(chan as.Error, 2)
		for range 2 {
			go func() { closed <- rs.Close() }()
		}
		require.ErrorIs(t, <-closed, as.ErrRecordsetClosed, name) // the other is at it
		_, aerr = open()
		require.ErrorIs(t, aerr, spillway.ErrBackpressure, name)
		require.EqualValues(t, 1, client.Snapshot().Connection.Leases, name)
		gate.Release()
		require.Nil(t, <-closed, name)
	}
	balanced(t, client)
}

// What the driver doesn't export is there, or the Recordset is looked at.
func TestCompatWaitsForProducers(t *testing.T) {
	require.True(t, aerospike.WaitsForProducers(new(as.Recordset)), "another version of the driver: see producersEnd")
	require.False(t, aerospike.WaitsForProducers(new(struct{ wgGoroutines int })))
	require.False(t, aerospike.WaitsForProducers(new(struct{})))
	looks := 0
	aerospike.LookUntilInactive(func() bool { looks++; return looks < 4 })
	require.Equal(t, 4, looks)
}

// G-AER-12: a Recordset that nobody drains or closes is closed when its time is over, or
// when the context ends. The driver's alone would leave a goroutine for ever.
func TestCompatAbandonedRecordset(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.StreamTimeout = short })
	fill(t, client, 200)
	scan := as.NewScanPolicy()
	scan.RecordQueueSize = 1
	c, err := client.Compat(context.Background())
	require.NoError(t, err)
	abandoned, aerr := c.ScanAll(scan, "test", "s")
	require.Nil(t, aerr)
	balanced(t, client)
	require.False(t, abandoned.IsActive())
	require.NoError(t, client.Connect(patient(t)))

	ctx, cancel := context.WithCancel(patient(t))
	if c, err = client.Compat(ctx); err != nil {
		t.Fatal(err)
	}
	scan.TotalTimeout = time.Hour
	abandoned, aerr = c.ScanAll(scan, "test", "s")
	require.Nil(t, aerr)
	ch := make(chan *item)
	objects, aerr := c.ScanAllObjects(scan, ch, "test", "s")
	require.Nil(t, aerr)
	<-abandoned.Results()
	cancel()
	balanced(t, client)
	require.False(t, abandoned.IsActive())
	require.False(t, objects.IsActive())
}

// G-AER-12: who reads a Recordset when its time is over finds what had come, and then the
// driver's timeout, instead of an end that looks like any other.
func TestCompatRecordsetSaysThatItsTimeIsOver(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv)
	c := compatOf(t, client)
	fill(t, client, 100)
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindScan | aerospiketest.KindQuery, Nodes: []int{1}})
	scan, query := as.NewScanPolicy(), as.NewQueryPolicy()
	scan.TotalTimeout, query.TotalTimeout = 5*short, 5*short
	for name, open := range map[string]func() (*as.Recordset, as.Error){
		"scan":  func() (*as.Recordset, as.Error) { return c.ScanAll(scan, "test", "s") },
		"query": func() (*as.Recordset, as.Error) { return c.Query(query, statement()) },
	} {
		rs, aerr := open()
		require.Nil(t, aerr)
		records, errs := 0, []as.Error{}
		for result := range rs.Results() {
			if result.Err != nil {
				errs = append(errs, result.Err)
				continue
			}
			require.Empty(t, errs, name)
			records++
		}
		require.NotZero(t, records, name)
		require.Less(t, records, 100, name)
		require.Len(t, errs, 1, name)
		require.True(t, errs[0].Matches(types.TIMEOUT), name)
	}
	gate.Release()
	balanced(t, client)
	ended := client.Snapshot().Lane("A2", aerospike.LaneStream).Ended
	require.EqualValues(t, 2, ended.Of(spillway.OutcomeTimeout))
}

// Objects go into the caller's channel, which the driver closes.
func TestCompatObjects(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	c := compatOf(t, client)
	fill(t, client, 30)
	for name, open := range map[string]func(chan *item) (*as.Recordset, as.Error){
		"scan": func(ch chan *item) (*as.Recordset, as.Error) { return c.ScanAllObjects(nil, ch, "test", "s") },
		"scan partitions": func(ch chan *item) (*as.Recordset, as.Error) {
			return c.ScanPartitionObjects(nil, ch, nil, "test", "s")
		},
		"scan node": func(ch chan *item) (*as.Recordset, as.Error) {
			return c.ScanNodeObjects(nil, c.GetNodes()[0], ch, "test", "s")
		},
		"query": func(ch chan *item) (*as.Recordset, as.Error) { return c.QueryObjects(nil, statement(), ch) },
		"query partitions": func(ch chan *item) (*as.Recordset, as.Error) {
			return c.QueryPartitionObjects(nil, statement(), ch, nil)
		},
		"query node": func(ch chan *item) (*as.Recordset, as.Error) {
			return c.QueryNodeObjects(nil, c.GetNodes()[0], statement(), ch)
		},
	} {
		ch := make(chan *item, 1)
		rs, aerr := open(ch)
		require.Nil(t, aerr, name)
		seen := 0
		for range ch {
			seen++
		}
		for aerr := range rs.Errors() {
			require.NoError(t, asError(aerr))
		}
		require.Equal(t, 30, seen, name)
	}
	_, aerr := c.ScanAllObjects(nil, "no channel", "test", "s")
	require.ErrorContains(t, aerr, "must be a chan *T")
	balanced(t, client)
}

// In shadow mode Compat refuses nothing, and streams live as long as the driver lets them.
func TestCompatShadow(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit, c.Mode, c.StreamTimeout = 1, spillway.Shadow, time.Millisecond })
	c := compatOf(t, client)
	fill(t, client, 20)
	one, aerr := c.ScanAll(nil, "test", "s")
	require.Nil(t, aerr)
	two, aerr := c.ScanAll(nil, "test", "s")
	require.Nil(t, aerr)
	require.Equal(t, 40, count(t, one)+count(t, two))
	balanced(t, client)
	require.NotZero(t, client.Snapshot().Lane("A1", aerospike.LaneStream).WouldRefuse)
}

// Recordsets one after the other aren't refused for the one before, whose end nobody has
// looked at yet; nor is a job after one.
func TestCompatRecordsetsOneAfterTheOther(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Limit = 1 })
	c := compatOf(t, client)
	fill(t, client, 3)
	for range 30 {
		rs, aerr := c.ScanAll(nil, "test", "s")
		require.Nil(t, aerr)
		require.Equal(t, 3, count(t, rs))
		_, aerr = c.QueryExecute(nil, nil, statement(), as.TouchOp())
		require.Nil(t, aerr)
	}
	balanced(t, client)
}
