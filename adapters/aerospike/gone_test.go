package aerospike_test

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/observe"
)

// laneOfA2 returns a lane of the node that comes and goes, the zero value if there is none.
func laneOfA2(client *aerospike.Client, name string) aerospike.LaneSnapshot {
	for _, l := range client.Snapshot().Lanes {
		if l.Node == "A2" && l.Lane == name {
			return l
		}
	}
	return aerospike.LaneSnapshot{}
}

// exportsA2 reports whether anything of that node is exported.
func exportsA2(client *aerospike.Client) bool {
	for s := range observe.All(client) {
		if s.Node == "A2" {
			return true
		}
	}
	return false
}

// G-OBS-3: a node that has left says so, isn't exported any more, and is forgotten when
// its lanes are at rest; what they counted stays, and goes on when it comes back.
func TestNodeThatIsGoneIsForgotten(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, func(c *aerospike.Config) {
		c.ClientPolicy.TendInterval, c.ClientPolicy.Timeout = 20*time.Millisecond, time.Second
		c.Lanes = movingReads(12, 24)
	})
	key := keyOn(t, raw(t, srv), "A2")
	for range 3 {
		put(t, client, key, as.BinMap{"a": 1})
	}
	put(t, client, keyOn(t, raw(t, srv), "A1"), as.BinMap{"a": 1})
	require.True(t, laneOfA2(client, aerospike.LaneRead).Present)
	require.NotNil(t, laneOfA2(client, aerospike.LaneRead).Adaptive)
	require.True(t, exportsA2(client))
	last := take(t, client)
	next := func() {
		t.Helper()
		now := take(t, client)
		now.notBefore(t, last)
		require.EqualValues(t, last.sum(acquired, "ane.name=write"), now.sum(acquired, "ane.name=write"))
		last = now
	}

	looks, lost := watchTends(srv, 0), srv.Node(1)
	lost.Kill()
	looks.pass(t, 2)
	next()
	require.False(t, laneOfA2(client, aerospike.LaneWrite).Present)
	require.Nil(t, laneOfA2(client, aerospike.LaneRead).Adaptive)
	require.False(t, exportsA2(client))
	require.EqualValues(t, 6, last.sum(limitMetric, "ane.name=write"), "of the nodes that there are")
	require.Equal(t, []string{"A1", "A2"}, aerospike.Remembered(client), "it may be back soon")
	aerospike.AgeGone(client)
	next()
	require.Equal(t, []string{"A1"}, aerospike.Remembered(client))
	require.EqualValues(t, 3, laneOfA2(client, aerospike.LaneWrite).Stats.Admitted)

	require.NoError(t, lost.Restart())
	looks.pass(t, 2)
	put(t, client, key, as.BinMap{"a": 1})
	back := laneOfA2(client, aerospike.LaneWrite)
	require.True(t, back.Present)
	require.EqualValues(t, 4, back.Stats.Admitted)
	require.Equal(t, 6, back.Stats.Limit)
	require.True(t, exportsA2(client))
	balanced(t, client)
	require.EqualValues(t, 4, client.Snapshot().Lane("A2", aerospike.LaneWrite).Admitted)
}

// A node that is gone isn't forgotten while something is still under way there: here a
// stream that nobody reads.
func TestNodeThatIsGoneIsRememberedWhileCallsAreThere(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, func(c *aerospike.Config) {
		c.ClientPolicy.TendInterval, c.ClientPolicy.Timeout = 20*time.Millisecond, time.Second
	})
	fill(t, client, 100)
	scan := as.NewScanPolicy()
	scan.RecordQueueSize = 1
	stream, err := client.ScanAll(patient(t), scan, "test", "s")
	require.NoError(t, err)
	looks := watchTends(srv, 0)
	srv.Node(1).Remove()
	looks.pass(t, 2)
	for range 2 {
		require.False(t, laneOfA2(client, aerospike.LaneStream).Present)
		require.Equal(t, 1, laneOfA2(client, aerospike.LaneStream).Stats.InUse)
		require.Equal(t, []string{"A1", "A2"}, aerospike.Remembered(client))
		aerospike.AgeGone(client)
	}
	_ = stream.Close()
	ended(t, stream)
	require.EqualValues(t, 1, laneOfA2(client, aerospike.LaneStream).Stats.Ended.Total())
	require.Equal(t, []string{"A1"}, aerospike.Remembered(client))
	require.EqualValues(t, 1, laneOfA2(client, aerospike.LaneStream).Stats.Ended.Total())
	balanced(t, client)
}

// Nodes are forgotten, and come back, while calls go on and somebody looks: nothing that
// was counted is lost.
func TestNodesAreForgottenUnderLoadConcurrentSafe(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, swift, func(c *aerospike.Config) {
		c.ClientPolicy.TendInterval, c.ClientPolicy.Timeout = 20*time.Millisecond, time.Second
	})
	var stop atomic.Bool
	var wg sync.WaitGroup
	var acked atomic.Uint64
	t.Cleanup(func() { stop.Store(true); wg.Wait() })
	for i := range 4 {
		wg.Add(2)
		go func() {
			defer wg.Done()
			for n := 0; !stop.Load(); n++ {
				if client.Put(t.Context(), nil, newKey(t, 1000*i+n%100), as.BinMap{"n": n}) == nil {
					acked.Add(1)
				}
			}
		}()
		go func() {
			defer wg.Done()
			for last := uint64(0); !stop.Load(); {
				sum := uint64(0)
				for _, l := range client.Snapshot().Lanes {
					sum += l.Stats.Admitted
				}
				require.GreaterOrEqual(t, sum, last)
				last = sum
			}
		}()
	}
	looks, lost := watchTends(srv, 0), srv.Node(1)
	for range 3 {
		lost.Kill()
		looks.pass(t, 3)
		require.False(t, laneOfA2(client, aerospike.LaneWrite).Present)
		aerospike.AgeGone(client)
		client.Snapshot()
		require.NoError(t, lost.Restart())
		looks.pass(t, 2)
	}
	stop.Store(true)
	wg.Wait()
	balanced(t, client)
	ended := uint64(0)
	for _, l := range client.Snapshot().Lanes {
		ended += l.Stats.Ended[spillway.OutcomeOK]
	}
	require.GreaterOrEqual(t, ended, acked.Load())
}

// G-OBS-3: however many names nodes have had, only the last have their counts by name; no
// sum goes back for that.
func TestNamesOfNodesThatAreGoneAreBounded(t *testing.T) {
	client, err := aerospike.New(aerospike.DefaultConfig("127.0.0.1:3000"))
	require.NoError(t, err)
	const n = 1000
	for i := range n {
		for _, name := range []string{aerospike.LaneRead, aerospike.LaneWrite} {
			aerospike.Outlive(client, fmt.Sprintf("N%d", i), name, lane.Stats{Admitted: 1})
		}
	}
	require.Len(t, client.Snapshot().Lanes, 2*(64+1))
	require.EqualValues(t, 1, client.Snapshot().Lane("N999", aerospike.LaneRead).Admitted)
	require.EqualValues(t, n-64, client.Snapshot().Lane("", aerospike.LaneRead).Admitted)
	require.EqualValues(t, n, take(t, client).sum(acquired, "ane.name=write"))
}

// G-OBS-3: whatever a lane counts is carried on when it ends.
func TestEveryCountOfALaneIsCarriedOn(t *testing.T) {
	var s lane.Stats
	v := reflect.ValueOf(&s).Elem()
	counts := func(f func(name string, n reflect.Value)) {
		for i := range v.NumField() {
			field, name := v.Field(i), v.Type().Field(i).Name
			if field.Kind() == reflect.Uint64 {
				f(name, field)
			}
			if field.Kind() != reflect.Array {
				continue
			}
			for j := range field.Len() {
				f(name, field.Index(j))
			}
		}
	}
	counts(func(_ string, n reflect.Value) { n.SetUint(2) })
	s = aerospike.AddCounts(s, s)
	counts(func(name string, n reflect.Value) { require.EqualValues(t, 4, n.Uint(), name) })
}
