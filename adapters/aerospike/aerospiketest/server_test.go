package aerospiketest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

func TestConfigReportsEveryFault(t *testing.T) {
	_, err := aerospiketest.Start(aerospiketest.Config{
		Nodes: -2, Namespaces: []string{"", "a:b", strings.Repeat("n", 32), "x", "x"}, ReplicationFactor: 9, ClusterName: "a;b",
		DefaultTTL: time.Millisecond, MaxRecordSize: -1, Capacity: aerospiketest.Capacity{Parallel: -1},
	})
	for _, want := range []string{
		"Nodes is -2", "ReplicationFactor is 9", "ClusterName is", "DefaultTTL is 1ms", "MaxRecordSize is -1",
		"Namespaces[0]", "Namespaces[1]", "Namespaces[2]", "Namespaces[4]", "Config.Capacity.Parallel is -1",
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "Namespaces[3]")
}

// fakeTB records how NewServer fails a test.
type fakeTB struct{ failed string }

func (*fakeTB) Helper()                     {}
func (*fakeTB) Cleanup(func())              {}
func (f *fakeTB) Fatalf(s string, a ...any) { f.failed = fmt.Sprintf(s, a...) }

func TestNewServerFailsTheTest(t *testing.T) {
	var f fakeTB
	require.Nil(t, aerospiketest.NewServer(&f, aerospiketest.Config{Nodes: 1000}))
	require.Contains(t, f.failed, "Nodes is 1000")
}

func TestServerNamespacesAreApart(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Namespaces: []string{"test", "bar"}})
	put(t, c, key(t, 1), as.NewBin("a", 1))
	k, err := as.NewKey("bar", "s", 1)
	require.NoError(t, err)
	put(t, c, k, as.NewBin("a", 2))
	put(t, c, keyIn(t, "other", 1), as.NewBin("a", 2))
	require.Equal(t, 1, s.Records("test", "s"))
	require.Equal(t, 2, s.Records("test", ""))
	require.Equal(t, 1, s.Records("bar", ""))
	require.Zero(t, s.Records("nowhere", ""))
	s.Truncate()
	require.Zero(t, s.Records("test", "")+s.Records("bar", ""))
}

func TestServerTruncatesByInfo(t *testing.T) {
	s, c := start(t)
	put(t, c, key(t, 1), as.NewBin("a", 1))
	put(t, c, keyIn(t, "other", 1), as.NewBin("a", 1))
	now := time.Now()
	put(t, c, key(t, 2), as.NewBin("a", 1))
	require.NoError(t, asError(c.Truncate(nil, "test", "s", &now)))
	require.Equal(t, 1, s.Records("test", "s"))
	later := time.Now().Add(time.Hour)
	require.Error(t, asError(c.Truncate(nil, "test", "s", &later)))
	require.NoError(t, asError(c.Truncate(nil, "test", "s", nil)))
	require.Zero(t, s.Records("test", "s"))
	require.NoError(t, asError(c.Truncate(nil, "test", "", nil)))
	require.Zero(t, s.Records("test", ""))
}

func TestServerStats(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 2})
	warm(t, c, 2)
	for i := range 10 {
		put(t, c, key(t, i), as.NewBin("a", i))
	}
	_, err := c.Get(readPolicy(), key(t, 77))
	require.Error(t, asError(err))
	_, err = c.BatchGet(batchPolicy(), []*as.Key{key(t, 1), key(t, 2), key(t, 3), key(t, 4), key(t, 78), key(t, 79)})
	require.NoError(t, asError(err))
	st := s.Stats()
	require.EqualValues(t, 10, st.Count(aerospiketest.KindPut))
	require.EqualValues(t, 3, st.Results[aerospiketest.CodeNotFound])
	require.Positive(t, st.Count(aerospiketest.KindInfo))
	require.Zero(t, st.InFlight)
	require.Positive(t, st.PeakInFlight)
	require.GreaterOrEqual(t, st.PeakConns, st.OpenConns)
	require.GreaterOrEqual(t, int(st.AcceptedConns), st.PeakConns)
	require.Greater(t, st.BytesIn, uint64(500))
	require.Greater(t, st.BytesOut, uint64(500))
	sum := uint64(0)
	for _, n := range s.Nodes() {
		sum += n.Stats().Count(aerospiketest.KindPut)
	}
	require.EqualValues(t, 10, sum)
	require.Equal(t, "get|put", (aerospiketest.KindGet | aerospiketest.KindPut).String())
}

func TestServerCloseUnderLoad(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 2})
	p := writePolicy()
	p.TotalTimeout = time.Second
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for i := range 16 {
		k := key(t, i)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
					_ = c.PutBins(p, k, as.NewBin("a", 1)) // fails once the server is closed
				}
			}
		}()
	}
	load := s.Inject(aerospiketest.Fault{})
	require.NoError(t, load.Wait(soon(t), 200))
	var closers sync.WaitGroup
	for range 2 {
		closers.Add(1)
		go func() { defer closers.Done(); s.Close() }()
	}
	closers.Wait()
	require.Zero(t, s.Stats().OpenConns)
	require.Error(t, s.Node(0).Restart())
	close(stop)
	wg.Wait()
}
